// Secrets: write-only.
import { z } from 'zod';
import { listOf, listQuery, origin, time } from './field.ts';
import { admin, operationsOf } from './operation.ts';

export const secretContent = z
  .strictObject({ value: z.string().min(1).max(65_536), origins: z.array(origin).min(1).max(50).optional() })
  .meta({
    id: 'SecretContent',
    description:
      'The value is encrypted, never given back, and sent to the named origins only. Without origins, a secret named like a hosted provider (`openai`, `anthropic`) goes to the address of that provider, and any other one is sent nowhere: the signatures of a source are checked with it.',
  });

export const secretName = z
  .object({ name: z.string(), origins: z.array(z.string()), created_at: time })
  .meta({ id: 'SecretName' });

export const secretOperations = operationsOf('secrets', {
  putSecret: {
    route: 'PUT /v1/secrets/{name}',
    summary: 'Set a secret',
    access: admin,
    audit: { action: 'secret.set', target: '{name}' },
    body: secretContent,
    answers: { 204: null },
  },
  listSecrets: {
    route: 'GET /v1/secrets',
    summary: 'Names and origins, never values',
    access: admin,
    query: listQuery,
    answers: { 200: listOf(secretName) },
  },
  deleteSecret: {
    route: 'DELETE /v1/secrets/{name}',
    summary: 'Delete a secret that nothing uses',
    access: admin,
    audit: { action: 'secret.deleted', target: '{name}' },
    answers: { 204: null },
    problems: ['SECRET_IN_USE'],
  },
});
