// The parts that several events and frames have, in the wire's names.
import { z } from 'zod';
import { time } from '../field.ts';

/** A text that takes one of these values today; another release may add one. */
export const open = (...values: readonly string[]) => z.string().meta({ 'x-extensible-enum': values });

const count = z.int().nonnegative();

const textItem = z
  .object({
    type: z.literal('text'),
    text: z.string(),
    blob: z.string().optional(),
    bytes: count.optional(),
    preview: z.string().optional(),
  })
  .meta({
    id: 'TextItem',
    description: 'Text. With `blob`, `text` is the beginning of one that is too large for the log.',
  });

const imageFields = {
  media_type: z.string(),
  data: z.string().optional(),
  blob: z.string().optional(),
  bytes: count.optional(),
};

const imageItem = z
  .object({ type: z.literal('image'), ...imageFields })
  .meta({ id: 'ImageItem', description: 'An image: inline in `data`, or as a blob of the thread.' });

export const contentItem = z
  .discriminatedUnion('type', [textItem, imageItem])
  .meta({ id: 'ContentItem', description: 'A piece of what a person, a tool or the model said.' });

export const content = z.array(contentItem);

export const displaySegment = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), content: z.string() }).meta({ id: 'TextSegment', description: 'Text.' }),
    z
      .object({ type: z.literal('diff'), content: z.object({ path: z.string(), patch: z.string() }) })
      .meta({ id: 'DiffSegment', description: 'A change of a file, as a unified diff.' }),
    z
      .object({
        type: z.literal('image'),
        content: z.object(imageFields),
      })
      .meta({ id: 'ImageSegment', description: 'An image: inline in `data`, or as a blob of the thread.' }),
  ])
  .meta({ id: 'DisplaySegment', description: 'A piece of what a tool shows to people; the model never sees it.' });

export const cause = z
  .object({
    kind: open(
      ...['message', 'request', 'result', 'completion', 'dispatch', 'event', 'child', 'parent', 'timer', 'choice'],
      ...['oauth', 'toolset', 'operator'],
    ),
    id: z.string(),
  })
  .meta({ id: 'Cause', description: 'The input that led to an event: the answer of a POST has the same id.' });

/** What every event has. */
export const stamp = {
  position: z.int().positive(),
  at: time,
  turn_id: z.string(),
  cause,
};

export const threadPosition = z
  .object({ thread_id: z.string(), position: z.int() })
  .meta({ id: 'ThreadPosition', description: 'A place in the log of a thread.' });

const interrupt = open('cancel', 'keep', 'queue', 'reject');

export const agentPolicies = z
  .object({
    on_interrupt: interrupt,
    on_interrupt_human: interrupt,
    event_style: open('kind', 'reserved'),
    event_children: open('close_when_idle', 'keep'),
    approve: z.object({
      mode: open('none', 'destructive', 'all'),
      tools: z.record(
        z.string(),
        z.union([
          open('always', 'never'),
          z.object({
            mode: open('always'),
            approvals_needed: z.int().optional(),
            assignees: z.array(z.string()).optional(),
          }),
        ]),
      ),
    }),
    cancel_subscriptions_on_close: z.boolean(),
  })
  .meta({ id: 'Policies', description: 'The policies of an agent version, all of them.' });

export const agentLimits = z
  .object({
    completions_per_wake_max: z.int(),
    tool_timeout_ms: z.record(z.string(), z.int().nullable()),
    tokens_per_day_max: z.int().nullable(),
    event_wait_ms_max: z.int(),
    callback_ttl_s: z.int().nullable(),
  })
  .meta({ id: 'Limits', description: 'The limits of an agent version, all of them.' });

export const loadedToolset = z
  .object({
    tool_server: z.string(),
    name: z.string(),
    sha256: z.string(),
    tools: z.array(z.string()),
    definitions: z.array(z.string()).optional(),
    destructive: z.array(z.string()),
    at_most_once: z.array(z.string()),
    stale: z.boolean(),
  })
  .meta({ id: 'LoadedToolset', description: 'A toolset as the thread uses it.' });
