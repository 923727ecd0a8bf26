// Messages: requests, answers and operations.
import { contentItemsMax, utf8Bytes } from '@dormouse/protocol';
import { z } from 'zod';
import { accepted, historyListQuery, isBase64, listOf, listOrder, time } from './field.ts';
import { operationsOf, talker, threadReader } from './operation.ts';

const textBytesMax = 4 * 1024 * 1024;
export const textOf = z
  .string()
  .min(1)
  .refine((text) => utf8Bytes(text) <= textBytesMax, `allows at most ${textBytesMax} bytes`);

const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: textOf }),
  z.strictObject({
    type: z.literal('image'),
    data: z.string().min(1).refine(isBase64, 'must be base64'),
    media_type: z.string().regex(/^image\/[a-z0-9.+-]{1,100}$/, 'must be an image media type'),
  }),
]);

export const newMessage = z
  .strictObject({ text: textOf.optional(), content: z.array(item).min(1).max(contentItemsMax).optional() })
  .superRefine(({ text, content }, context) => {
    if (text === undefined && content === undefined)
      context.addIssue({ code: 'custom', path: ['text'], message: 'required, but absent; or content' });
    if (text !== undefined && content !== undefined)
      context.addIssue({ code: 'custom', path: ['content'], message: 'cannot go together with text' });
  })
  .meta({ id: 'NewMessage', description: 'Either `text` or `content`.' });

const waitingOn = z
  .object({
    kind: z.enum(['tool_call', 'approval', 'choice', 'oauth', 'timer', 'slot']),
    id: z.string(),
    thread_id: z.string().optional(),
    tool_server: z.string().optional(),
    operation: z.string().optional(),
    since: time,
    deadline: time.optional(),
  })
  .meta({ id: 'WaitingOn' });

export const waitingOnList = z.array(waitingOn);

export const turnAnswer = z
  .object({
    id: z.string(),
    position: z.int(),
    status: z.string(),
    message: z.object({ text: z.string() }).optional(),
    last_error: z.object({ code: z.string(), detail: z.string() }).optional(),
    waiting_on: waitingOnList.optional(),
  })
  .meta({
    id: 'TurnAnswer',
    description: 'How the turn ended, when it ended within the time that `Prefer: wait=` gave.',
  });

export const readableMessage = z
  .object({
    position: z.int(),
    at: time,
    role: z.enum(['user', 'assistant', 'tool', 'event']),
    text: z.string(),
    message_id: z.string().optional(),
    tool_call_id: z.string().optional(),
    operation: z.string().optional(),
    outcome: z.string().optional(),
    display: z.looseObject({ type: z.string() }).optional(),
    child_id: z.string().optional(),
    interrupted: z.boolean().optional(),
    thread_id: z.string().optional(),
  })
  .meta({ id: 'Message' });

export const messageOperations = operationsOf('messages', {
  postMessage: {
    route: 'POST /v1/threads/{id}/messages',
    summary:
      'Say something; with `Prefer: wait=30` the answer comes along when the turn ends in time, else `Location` says where it will be',
    access: talker,
    body: newMessage,
    problems: ['QUOTA_EXCEEDED'],
    answers: { 202: accepted, 200: turnAnswer },
  },
  listMessages: {
    route: 'GET /v1/threads/{id}/messages',
    summary: 'The conversation as people read it',
    access: threadReader,
    query: historyListQuery.extend({ order: listOrder.default('asc') }),
    answers: { 200: listOf(readableMessage) },
  },
});
