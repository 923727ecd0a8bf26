// Agents: requests, answers and operations.
import { providerNames } from '@dormouse/adapter-model';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { z } from 'zod';
import { assignees, httpUrl, listOf, listQuery, name, time } from './field.ts';
import { admin, byState, operationsOf, reader } from './operation.ts';
import { agentLimits, agentPolicies } from './reference/event-parts.ts';

/** What it does, for the reference; fields that other schemas share are described in reference/words.ts. */
const says = <Schema extends z.ZodType>(schema: Schema, description: string): Schema => schema.meta({ description });

const model = z.strictObject({
  provider: says(
    z.enum(providerNames),
    'Which provider’s protocol is spoken. `demo` needs no key and answers by the words of the question; `scripted` plays the script in `parameters`, for tests.',
  ),
  name: says(z.string().max(200).default(''), 'The model, as its provider names it; `demo` and `scripted` need none.'),
  base_url: says(
    httpUrl.nullable().default(null),
    'What stands before `/chat/completions` of an `openai-compatible` endpoint, or an address to use instead of the provider’s own; null for that.',
  ),
  api_key_secret: says(
    name.nullable().default(null),
    'Name of the secret with the key. Null: `openai` and `anthropic` take the secret of their own name, or the environment’s key in one process; other providers get none.',
  ),
  context_window_tokens: says(
    z.int().min(1_000).max(100_000_000).default(128_000),
    'Size of the model’s context window, for those who read the agent. Nothing is cut to it: a longer conversation ends with `CONTEXT_OVERFLOW` when the provider refuses it.',
  ),
  output_tokens_max: says(
    z.int().min(1).max(10_000_000).nullable().default(null),
    'Tokens that an answer may have; null for the model’s own limit.',
  ),
  images: says(
    z.boolean().default(false),
    'Whether the model takes images. If not, it reads a short text in place of each.',
  ),
  parameters: says(
    z.record(z.string(), z.unknown()).default({}),
    'Options of the provider, such as `temperature`, handed on as they are.',
  ),
});

const teamApproval = z.strictObject({
  mode: z.literal('always'),
  approvals_needed: z.int().min(1).max(20).optional(),
  assignees: assignees.optional(),
});

const interruptPolicy = z.enum(['cancel', 'keep', 'queue', 'reject']);

const policies = z.strictObject({
  on_interrupt: says(
    interruptPolicy.default(defaultPolicies.onInterrupt),
    'What a message does while a completion runs, or calls that no person settles are open. `cancel` ends them and answers at once; `keep` stops the completion, detaches the calls and answers at once; `queue` lets them end first; `reject` refuses the message with `CALLS_PENDING`.',
  ),
  on_interrupt_human: says(
    interruptPolicy.default(defaultPolicies.onInterruptHuman),
    'The same for calls that wait for a person: approvals, choices, logins. Where both policies count, `reject` goes before `queue`, and `queue` before the others.',
  ),
  event_style: says(
    z.enum(['kind', 'reserved']).default(defaultPolicies.eventStyle),
    'How an event, or the result of a detached call, is put to the model: `kind` as a call of the same tool with the argument `kind: "interrupt:…"`; `reserved` as a call of the reserved tool `receive_event__injected`.',
  ),
  event_children: says(
    z.enum(['close_when_idle', 'keep']).default(defaultPolicies.eventChildren),
    '`close_when_idle` closes a child that an event opened once it waits for nothing, with its last answer as its report; `keep` leaves it open.',
  ),
  approve: says(
    z
      .strictObject({
        mode: says(
          z.enum(['none', 'destructive', 'all']).default(defaultPolicies.approve.mode),
          'Which calls wait for a person’s approval where `tools` says nothing: `none`, those whose manifest calls the tool `destructive`, or `all`.',
        ),
        tools: says(
          z.record(z.string().max(128), z.union([z.enum(['always', 'never']), teamApproval])).default({}),
          'By name of the tool: `always` or `never` needs approval, whatever `mode` says. As an object with `mode: "always"`: `approvals_needed`, how many must allow the call, each with another key, link or user’s token (1 to 20; the first denial ends it), and `assignees`, labels of the people whose task it is (at most 50).',
        ),
      })
      .prefault({}),
    'Which calls wait for a person’s approval. One that is not given within 24 hours is denied.',
  ),
  cancel_subscriptions_on_close: says(
    z.boolean().default(defaultPolicies.cancelSubscriptionsOnClose),
    'Whether tool servers get a `cancel_tool_call` for each open subscription when the thread closes, beside the `close_thread` that they get anyway.',
  ),
});

const positive = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

const limits = z.strictObject({
  completions_per_wake_max: says(
    z.int().min(1).max(10_000).default(defaultLimits.completionsPerWakeMax),
    'Completions of one turn. The next one is not asked for: `budget_exceeded`; `retry` grants one more.',
  ),
  tool_timeout_ms: says(
    z
      .record(z.string().max(128), positive.nullable())
      .default({})
      .transform((given) => ({ ...defaultLimits.toolTimeoutMs, ...given })),
    'Milliseconds that a call may stay open from the commit that sends it, by name of the tool; `default` for the others, null for ever. A call that takes longer ends as `timed_out`, its tool servers get one cancel notice, and a late result changes nothing.',
  ),
  tokens_per_day_max: says(
    positive.nullable().default(defaultLimits.tokensPerDayMax),
    'Tokens that a thread’s completions may read and write in a day of UTC; null for no limit. Above it the model is not asked: `budget_exceeded`, also for a `retry`.',
  ),
  event_wait_ms_max: says(
    z.int().min(0).max(86_400_000).default(defaultLimits.eventWaitMsMax),
    'Milliseconds that events, reports and other arrivals wait for the open calls of a round. After that the calls are detached, and the model gets the arrivals.',
  ),
  callback_ttl_s: says(
    positive.nullable().default(defaultLimits.callbackTtlS),
    'Seconds for which the callback URL of a call is valid, from its call; null for ever. Later the URL answers 410.',
  ),
});

const toolServers = z
  .array(name)
  .max(20)
  .refine((names) => new Set(names).size === names.length, 'names a tool server twice');

export const newAgent = z
  .strictObject({
    name,
    instructions: z.string().max(1_000_000).default(''),
    model: says(model, 'The model that is asked.'),
    tool_servers: says(
      toolServers.default([]),
      'Names of registered tool servers, at most 20; the model is offered their tools. A name that two of them offer is offered by neither.',
    ),
    policies: says(policies.prefault({}), 'How the agent behaves. What is left out has its default.'),
    limits: says(limits.prefault({}), 'Numbers that bound what the agent may do. What is left out has its default.'),
  })
  .meta({ id: 'NewAgent', description: 'Only `name` and `model` are required.' });

const state = z.enum(['active', 'paused']);

export const agent = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.int(),
    created_at: time,
    instructions: z.string(),
    model: z.object({
      provider: z.string(),
      name: z.string(),
      base_url: z.string().nullable(),
      api_key_secret: z.string().nullable(),
      context_window_tokens: z.int(),
      output_tokens_max: z.int().nullable(),
      images: z.boolean(),
      parameters: z.record(z.string(), z.unknown()),
    }),
    tool_servers: z.array(z.string()),
    policies: agentPolicies,
    limits: agentLimits,
    state: says(state, 'Of the agent, whichever version this is.'),
  })
  .meta({ id: 'Agent', description: 'One immutable version of an agent.' });

export const agentPatch = z
  .strictObject({
    state: says(
      state,
      '`paused` asks no model and sends no call for its threads, of every version; messages, results and events are taken and wait. `active` goes on with all of them.',
    ),
  })
  .meta({ id: 'AgentPatch', description: 'The state; everything else is a new version.' });

export const agentOperations = operationsOf('agents', {
  createAgent: {
    route: 'POST /v1/agents',
    summary: 'Make an agent, or its next version; identical content answers the existing version',
    access: admin,
    audit: { action: 'agent.created', target: '{{name}}' },
    body: newAgent,
    answers: { 201: agent, 200: agent },
    location: '/v1/agents/{{name}}',
    problems: ['PRECONDITION_FAILED'],
  },
  listAgents: {
    route: 'GET /v1/agents',
    summary: 'The latest version of every agent',
    access: reader,
    query: listQuery,
    answers: { 200: listOf(agent) },
  },
  getAgent: {
    route: 'GET /v1/agents/{name}',
    summary: 'The latest version of one agent, by name or id',
    access: reader,
    answers: { 200: agent },
  },
  getAgentVersion: {
    route: 'GET /v1/agents/{name}/versions/{n}',
    summary: 'One version of an agent',
    access: reader,
    answers: { 200: agent },
  },
  patchAgent: {
    route: 'PATCH /v1/agents/{name}',
    summary: 'Pause an agent, or let it go on; everywhere within two seconds',
    access: admin,
    audit: { action: byState({ paused: 'agent.paused' }, 'agent.resumed'), target: '{name}' },
    body: agentPatch,
    answers: { 200: agent },
    problems: ['PRECONDITION_FAILED'],
  },
  deleteAgent: {
    route: 'DELETE /v1/agents/{name}',
    summary: 'Delete an agent that no open thread uses',
    access: admin,
    audit: { action: 'agent.deleted', target: '{name}' },
    answers: { 204: null },
    problems: ['AGENT_IN_USE', 'PRECONDITION_FAILED'],
  },
});
