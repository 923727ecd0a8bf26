// Installation-wide operations, and the list of all operations.
import { z } from 'zod';
import { agentOperations } from './agents.ts';
import { agUiOperations } from './ag-ui.ts';
import { aiSdkOperations } from './ai-sdk.ts';
import { auditOperations } from './audit.ts';
import { backupOperations } from './backups.ts';
import { choiceOperations } from './choices.ts';
import { listOf, listQuery, name, nullableTime, time } from './field.ts';
import { messageOperations } from './messages.ts';
import { modelOperations } from './models.ts';
import { admin, type Operation, operation } from './operation.ts';
import { parkedOperations } from './parked.ts';
import { reconcileOperations } from './reconcile.ts';
import { secretOperations } from './secrets.ts';
import { sessionOperations } from './sessions.ts';
import { tenantEventOperations } from './tenant-events.ts';
import { threadDetailOperations } from './thread-details.ts';
import { threadOperations } from './threads.ts';
import { threadTokenOperations } from './thread-tokens.ts';
import { toolServerOperations } from './tool-servers.ts';
import { usageOperations } from './usage.ts';

export const newApiKey = z
  .strictObject({
    name,
    scopes: z
      .array(z.enum(['read', 'threads:write', 'approvals:write', 'tenant:admin']))
      .min(1)
      .max(4),
    expires_at: nullableTime.default(null),
  })
  .meta({ id: 'NewApiKey' });

export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    created_at: time,
    expires_at: nullableTime,
    last_used_at: nullableTime,
  })
  .meta({ id: 'ApiKeySummary' });

export const clockAdvance = z
  .strictObject({
    advance_ms: z
      .int()
      .min(0)
      .max(3_650 * 86_400_000),
  })
  .meta({ id: 'ClockAdvance' });

export const systemOperations = {
  createApiKey: operation({
    id: 'createApiKey',
    method: 'POST',
    path: '/v1/api-keys',
    tag: 'keys',
    summary: 'Make a key; its text is shown once',
    access: admin,
    audit: { action: 'key.created', target: '{{id}}' },
    body: newApiKey,
    answers: { 201: z.object({ id: z.string(), key: z.string() }).meta({ id: 'ApiKey' }) },
    location: '/v1/api-keys/{{id}}',
    answersSecret: true,
  }),
  listApiKeys: operation({
    id: 'listApiKeys',
    method: 'GET',
    path: '/v1/api-keys',
    tag: 'keys',
    summary: 'Keys of the tenant; never their text',
    access: admin,
    query: listQuery,
    answers: { 200: listOf(apiKey) },
  }),
  revokeApiKey: operation({
    id: 'revokeApiKey',
    method: 'DELETE',
    path: '/v1/api-keys/{id}',
    tag: 'keys',
    summary: 'It works no more, within ten seconds everywhere',
    access: admin,
    audit: { action: 'key.revoked', target: '{id}' },
    answers: { 204: null },
  }),
  advanceClock: operation({
    id: 'advanceClock',
    method: 'POST',
    path: '/v1/dev/clock',
    tag: 'development',
    summary: 'Move the development clock; standalone on loopback only',
    access: admin,
    body: clockAdvance,
    answers: { 200: z.object({ now: z.iso.datetime() }).meta({ id: 'ClockReading' }) },
  }),
};

export const allOperations: readonly Operation[] = [
  ...Object.values(agentOperations),
  ...Object.values(modelOperations),
  ...Object.values(secretOperations),
  ...Object.values(toolServerOperations),
  ...Object.values(threadOperations),
  ...Object.values(tenantEventOperations),
  ...Object.values(messageOperations),
  ...Object.values(threadDetailOperations),
  ...Object.values(choiceOperations),
  ...Object.values(aiSdkOperations),
  ...Object.values(agUiOperations),
  ...Object.values(threadTokenOperations),
  ...Object.values(parkedOperations),
  ...Object.values(backupOperations),
  ...Object.values(reconcileOperations),
  ...Object.values(usageOperations),
  ...Object.values(auditOperations),
  ...Object.values(sessionOperations),
  ...Object.values(systemOperations),
];
