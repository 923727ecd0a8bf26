// API keys of a tenant: requests, answers and operations.
import { z } from 'zod';
import { listOf, listQuery, name, nullableTime, time } from './field.ts';
import { admin, operationsOf } from './operation.ts';

const scopes = z
  .array(z.enum(['read', 'threads:write', 'approvals:write', 'tenant:admin']))
  .min(1)
  .max(4);

export const newApiKey = z
  .strictObject({
    name,
    scopes,
    agents: z.array(name).min(1).max(100).nullable().default(null).meta({
      description: 'Names of the agents whose threads the key reaches; null for all.',
    }),
    expires_at: nullableTime.default(null),
  })
  .meta({ id: 'NewApiKey', description: '`tenant:admin` includes the other scopes.' });

export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().nullable().meta({ description: 'The first characters of the key. Null: it has none of ours.' }),
    scopes: z.array(z.string()),
    agents: z.array(z.string()).nullable(),
    created_at: time,
    expires_at: nullableTime,
    last_used_at: nullableTime,
    revoked_at: nullableTime,
  })
  .meta({ id: 'ApiKeySummary' });

const overlapSMax = 30 * 86_400;

export const keyReroll = z
  .strictObject({ overlap_s: z.int().min(0).max(overlapSMax).default(0) })
  .meta({ id: 'KeyReroll', description: 'How long the old key goes on beside the new one, in seconds.' });

const madeKey = z.object({ id: z.string(), key: z.string() }).meta({ id: 'ApiKey' });
export const apiKeyOperations = operationsOf('keys', {
  createApiKey: {
    route: 'POST /v1/api-keys',
    summary: 'Make a key; its text is shown once',
    access: admin,
    audit: { action: 'key.created', target: '{{id}}' },
    body: newApiKey,
    answers: { 201: madeKey },
    location: '/v1/api-keys/{{id}}',
    answersSecret: true,
  },
  listApiKeys: {
    route: 'GET /v1/api-keys',
    summary: 'Keys of the tenant, revoked ones too; never their text',
    access: admin,
    query: listQuery,
    answers: { 200: listOf(apiKey) },
  },
  rerollApiKey: {
    route: 'POST /v1/api-keys/{id}/reroll',
    summary: 'A new key that can do the same; the old one ends after the overlap',
    access: admin,
    audit: { action: 'key.rerolled', target: '{id}' },
    body: keyReroll,
    bodyOptional: true,
    answers: { 201: madeKey },
    location: '/v1/api-keys/{{id}}',
    answersSecret: true,
  },
  revokeApiKey: {
    route: 'DELETE /v1/api-keys/{id}',
    summary: 'It works no more, and its streams end, within a second everywhere',
    access: admin,
    audit: { action: 'key.revoked', target: '{id}' },
    answers: { 204: null },
  },
});
