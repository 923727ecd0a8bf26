// Agents: requests, answers and operations.
import { providerNames } from '@dormouse/adapter-model';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { z } from 'zod';
import { httpUrl, listOf, listQuery, name, time } from './field.ts';
import { admin, operation, reader } from './operation.ts';
import { agentLimits, agentPolicies } from './reference/event-parts.ts';

const model = z.strictObject({
  provider: z.enum(providerNames),
  name: z.string().max(200).default(''),
  base_url: httpUrl.nullable().default(null),
  api_key_secret: name.nullable().default(null),
  context_window_tokens: z.int().min(1_000).max(100_000_000).default(128_000),
  output_tokens_max: z.int().min(1).max(10_000_000).nullable().default(null),
  images: z.boolean().default(false),
  parameters: z.record(z.string(), z.unknown()).default({}),
});

const interruptPolicy = z.enum(['cancel', 'keep', 'queue', 'reject']);

const policies = z.strictObject({
  on_interrupt: interruptPolicy.default(defaultPolicies.onInterrupt),
  on_interrupt_human: interruptPolicy.default(defaultPolicies.onInterruptHuman),
  event_style: z.enum(['kind', 'reserved']).default(defaultPolicies.eventStyle),
  event_children: z.enum(['close_when_idle', 'keep']).default(defaultPolicies.eventChildren),
  approve: z
    .strictObject({
      mode: z.enum(['none', 'destructive', 'all']).default(defaultPolicies.approve.mode),
      tools: z.record(z.string().max(128), z.enum(['always', 'never'])).default({}),
    })
    .prefault({}),
  cancel_subscriptions_on_close: z.boolean().default(defaultPolicies.cancelSubscriptionsOnClose),
});

const positive = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

const limits = z.strictObject({
  completions_per_wake_max: z.int().min(1).max(10_000).default(defaultLimits.completionsPerWakeMax),
  tool_timeout_ms: z
    .record(z.string().max(128), positive.nullable())
    .default({})
    .transform((given) => ({ ...defaultLimits.toolTimeoutMs, ...given })),
  tokens_per_day_max: positive.nullable().default(defaultLimits.tokensPerDayMax),
  event_wait_ms_max: z.int().min(0).max(86_400_000).default(defaultLimits.eventWaitMsMax),
  callback_ttl_s: positive.nullable().default(defaultLimits.callbackTtlS),
});

const toolServers = z
  .array(name)
  .max(20)
  .refine((names) => new Set(names).size === names.length, 'names a tool server twice');

export const newAgent = z
  .strictObject({
    name,
    instructions: z.string().max(1_000_000).default(''),
    model,
    tool_servers: toolServers.default([]),
    policies: policies.prefault({}),
    limits: limits.prefault({}),
  })
  .meta({ id: 'NewAgent', description: 'Only `name` and `model` are required.' });

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
  })
  .meta({ id: 'Agent', description: 'One immutable version of an agent.' });

const tag = 'agents';

export const agentOperations = {
  create: operation({
    id: 'createAgent',
    method: 'POST',
    path: '/v1/agents',
    tag,
    summary: 'Make an agent, or its next version; identical content answers the existing version',
    access: admin,
    body: newAgent,
    answers: { 201: agent, 200: agent },
    problems: ['PRECONDITION_FAILED'],
  }),
  list: operation({
    id: 'listAgents',
    method: 'GET',
    path: '/v1/agents',
    tag,
    summary: 'The latest version of every agent',
    access: reader,
    query: listQuery,
    answers: { 200: listOf(agent) },
  }),
  get: operation({
    id: 'getAgent',
    method: 'GET',
    path: '/v1/agents/{name}',
    tag,
    summary: 'The latest version of one agent, by name or id',
    access: reader,
    answers: { 200: agent },
  }),
  version: operation({
    id: 'getAgentVersion',
    method: 'GET',
    path: '/v1/agents/{name}/versions/{n}',
    tag,
    summary: 'One version of an agent',
    access: reader,
    answers: { 200: agent },
  }),
  remove: operation({
    id: 'deleteAgent',
    method: 'DELETE',
    path: '/v1/agents/{name}',
    tag,
    summary: 'Delete an agent that no open thread uses',
    access: admin,
    answers: { 204: null },
    problems: ['AGENT_IN_USE', 'PRECONDITION_FAILED'],
  }),
};
