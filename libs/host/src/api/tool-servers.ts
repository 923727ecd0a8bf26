// Tool servers: requests, answers and operations.
import { z } from 'zod';
import { httpUrl, listOf, listQuery, name, time } from './field.ts';
import { admin, byState, operationsOf, reader } from './operation.ts';

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bearer'), secret: name }),
  z.strictObject({ type: z.literal('hmac'), secret: name }),
  z.strictObject({ type: z.literal('mtls'), certificate_secret: name, key_secret: name }),
  z.strictObject({ type: z.literal('sigv4'), region: name, service: name, access_key_secret: name }),
]);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex');

const settings = {
  endpoint_override: httpUrl.nullable(),
  auth: auth.nullable(),
  forward_user_id: z.boolean(),
  trust_annotations: z.boolean(),
  pinned_sha256: sha256.nullable(),
  propagate_trace: z.enum(['same', 'fresh', 'none']),
};

export const newToolServer = z
  .strictObject({
    name,
    base_url: httpUrl,
    endpoint_override: settings.endpoint_override.default(null),
    auth: settings.auth.default(null),
    forward_user_id: settings.forward_user_id.default(false),
    trust_annotations: settings.trust_annotations.default(false),
    pinned_sha256: settings.pinned_sha256.default(null),
    propagate_trace: settings.propagate_trace.default('same'),
  })
  .meta({ id: 'NewToolServer' });

const state = z.enum(['active', 'paused']);

export const toolServerPatch = z
  .strictObject({ base_url: httpUrl, ...settings, state })
  .partial()
  .meta({ id: 'ToolServerPatch' });

export const toolServer = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: time,
    updated_at: time,
    base_url: z.string(),
    endpoint_override: z.string().nullable(),
    auth: z.looseObject({ type: z.string() }).nullable(),
    forward_user_id: z.boolean(),
    trust_annotations: z.boolean(),
    pinned_sha256: z.string().nullable(),
    propagate_trace: settings.propagate_trace,
    paused: z.boolean(),
    state,
  })
  .meta({ id: 'ToolServer' });

export const registeredToolServer = toolServer.extend({ warnings: z.array(z.string()) }).meta({
  id: 'RegisteredToolServer',
  description: 'What could never be called is refused; a server that cannot be used now is registered with `warnings`.',
});

const milliseconds = z.number().nonnegative().nullable();
const percentiles = z.object({ p50: milliseconds, p99: milliseconds });
const count = z.int().nonnegative();
const errorsByClass = z.object({ '5xx': count, resets: count, timeouts: count, '4xx': count });
const inWindows = <Value extends z.ZodType>(value: Value) => z.object({ '5m': value, '1h': value, '24h': value });

export const toolHealth = z
  .object({
    state: z.enum(['healthy', 'failing', 'paused', 'unknown']),
    discovery_age_s: count.nullable(),
    ack_ms: percentiles,
    callback_ms: percentiles,
    errors: inWindows(count),
    errors_by_class: inWindows(errorsByClass),
    breaker: z.enum(['closed', 'half_open', 'open']),
    oldest_open_call: z.string().nullable(),
  })
  .meta({ id: 'ToolHealth' });

export const toolServerDetails = toolServer.extend({ health: toolHealth }).meta({ id: 'ToolServerDetails' });

export const probeQuery = z.strictObject({ credential: z.enum(['check', 'skip']).default('check') });

export const probeReport = z
  .object({
    ok: z.boolean(),
    credential: z.object({
      state: z.enum(['none', 'accepted', 'refused', 'unchecked']).meta({
        description:
          'Of the registration: `none` has none and none is asked for; `unchecked` when the answers of the server do not show it.',
      }),
      detail: z.string().nullable(),
    }),
    toolset: z.unknown(),
    sha256: z.string().nullable(),
    problems: z.array(z.string()),
    latency_ms: z.int(),
  })
  .meta({ id: 'ProbeReport' });

export const trialRequest = z
  .strictObject({ operation: z.string().min(1).max(128), arguments: z.record(z.string(), z.unknown()).default({}) })
  .meta({ id: 'TrialRequest' });

export const trialReport = z
  .object({
    outcome: z.enum(['result', 'error', 'subscription', 'choice', 'oauth', 'timed_out']),
    content: z.array(z.looseObject({ type: z.string() })),
    display_as: z.array(z.looseObject({ type: z.string() })).optional(),
    prompt: z.string().optional(),
    choices: z.array(z.string()).optional(),
    latency_ms: z.int(),
  })
  .meta({
    id: 'TrialReport',
    description: '`choice` and `oauth`: the tool asks a person, which a trial does not do; its call has ended here.',
  });

export const toolServerOperations = operationsOf('tool servers', {
  createToolServer: {
    route: 'POST /v1/tool-servers',
    summary: 'Register a tool server',
    access: admin,
    audit: { action: 'tool_server.created', target: '{{name}}' },
    body: newToolServer,
    answers: { 201: registeredToolServer, 200: registeredToolServer },
    location: '/v1/tool-servers/{{name}}',
    problems: ['ALREADY_EXISTS', 'QUOTA_EXCEEDED'],
  },
  listToolServers: {
    route: 'GET /v1/tool-servers',
    summary: 'Registered tool servers',
    access: reader,
    query: listQuery,
    answers: { 200: listOf(toolServer) },
  },
  getToolServer: {
    route: 'GET /v1/tool-servers/{name}',
    summary: 'One tool server, by name or id, and its health',
    access: reader,
    answers: { 200: toolServerDetails },
  },
  patchToolServer: {
    route: 'PATCH /v1/tool-servers/{name}',
    summary: 'Change a registration; calls follow it within a second',
    access: admin,
    audit: {
      action: byState({ paused: 'tool_server.paused', active: 'tool_server.resumed' }, 'tool_server.changed'),
      target: '{name}',
    },
    body: toolServerPatch,
    answers: { 200: toolServer },
    problems: ['PRECONDITION_FAILED'],
  },
  deleteToolServer: {
    route: 'DELETE /v1/tool-servers/{name}',
    summary: 'Forget a tool server',
    access: admin,
    audit: { action: 'tool_server.deleted', target: '{name}' },
    answers: { 204: null },
    problems: ['PRECONDITION_FAILED'],
  },
  probeToolServer: {
    route: 'POST /v1/tool-servers/{name}/probe',
    summary: 'Fetch and judge its manifest now, and try the credential; changes nothing',
    access: admin,
    query: probeQuery,
    answers: { 200: probeReport },
  },
  tryTool: {
    route: 'POST /v1/tool-servers/{name}/try',
    summary: 'Call one of its tools once, outside of every thread; answers within 30 seconds, whatever comes of it',
    access: admin,
    body: trialRequest,
    answers: { 200: trialReport },
  },
  pauseToolServer: {
    route: 'POST /v1/tool-servers/{name}/pause',
    summary: 'Send it nothing until it is resumed, within a second; calls meanwhile wait',
    access: admin,
    audit: { action: 'tool_server.paused', target: '{name}' },
    answers: { 200: toolServer },
    problems: ['PRECONDITION_FAILED'],
  },
  resumeToolServer: {
    route: 'POST /v1/tool-servers/{name}/resume',
    summary: 'Send to it again; calls that waited go on',
    access: admin,
    audit: { action: 'tool_server.resumed', target: '{name}' },
    answers: { 200: toolServer },
    problems: ['PRECONDITION_FAILED'],
  },
});
