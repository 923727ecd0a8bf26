// Schemas of what several inputs and effects hold: content, agents, toolsets.
import { z } from 'zod';

/** Milliseconds since the epoch. */
export const instant = z.number().meta({ description: 'Milliseconds since the epoch.' });
export const json = z.record(z.string(), z.unknown());

const text = z.object({ type: z.literal('text'), text: z.string() });
const textReference = z.object({
  type: z.literal('text'),
  blob: z.string().meta({ description: 'Lower-case hex SHA-256 of the whole text.' }),
  bytes: z.int(),
  preview: z.string(),
});
const image = z.object({
  type: z.literal('image'),
  mediaType: z.string(),
  data: z.string().optional().meta({ description: 'Base64; absent where `blob` is present.' }),
  blob: z.string().optional(),
  bytes: z.int().optional(),
});
export const content = z.array(z.union([text, textReference, image]));

export const displaySegments = z.array(
  z.union([
    z.object({ type: z.literal('text'), content: z.string() }),
    z.object({ type: z.literal('diff'), content: z.object({ path: z.string(), patch: z.string() }) }),
    z.object({
      type: z.literal('image'),
      content: z.object({ data: z.string().optional(), blob: z.string().optional(), mediaType: z.string() }),
    }),
  ]),
);

const teamApproval = z.object({
  mode: z.literal('always'),
  approvals_needed: z.int().optional(),
  assignees: z.array(z.string()).optional(),
});

const policies = z.object({
  onInterrupt: z.enum(['cancel', 'keep', 'queue', 'reject']),
  onInterruptHuman: z.enum(['cancel', 'keep', 'queue', 'reject']),
  eventStyle: z.enum(['kind', 'reserved']),
  eventChildren: z.enum(['close_when_idle', 'keep']),
  approve: z.object({
    mode: z.enum(['none', 'destructive', 'all']),
    tools: z.record(z.string(), z.union([z.enum(['always', 'never']), teamApproval])),
  }),
  cancelSubscriptionsOnClose: z.boolean(),
});

const limits = z.object({
  completionsPerWakeMax: z.int(),
  toolTimeoutMs: z.record(z.string(), z.number().nullable()),
  tokensPerDayMax: z.number().nullable(),
  eventWaitMsMax: z.number(),
  callbackTtlS: z.number().nullable(),
});

export const openingAgent = z.object({
  name: z.string(),
  version: z.int(),
  model: z.string(),
  toolServers: z.array(z.string()),
  policies,
  limits,
});

export const loadedToolset = z.object({
  toolServer: z.string(),
  name: z.string(),
  sha256: z.string().meta({ description: 'Hash of the manifest’s canonical JSON.' }),
  tools: z.array(z.string()),
  definitions: z.array(z.string()).optional(),
  destructive: z.array(z.string()),
  atMostOnce: z.array(z.string()),
  stale: z.boolean(),
});

export const withheldTool = z.object({ tool: z.string(), reason: z.string() });

export const rejectedToolset = z.object({
  toolServer: z.string(),
  code: z.enum(['TOOLSET_INVALID', 'TOOLSET_UNREACHABLE', 'OUTBOUND_FORBIDDEN']),
  problems: z.array(z.string()),
});

export const arrivedEvent = z.object({
  toolCallId: z.string(),
  eventId: z.string().nullable(),
  content,
  final: z.boolean(),
});

export const baseUrls = z.record(z.string(), z.string()).optional();
