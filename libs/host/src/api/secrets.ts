// Secrets: write-only.
import { z } from 'zod';
import { listOf, listQuery, origin, time } from './field.ts';
import { admin, operation } from './operation.ts';

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

const tag = 'secrets';

export const secretOperations = {
  put: operation({
    id: 'putSecret',
    method: 'PUT',
    path: '/v1/secrets/{name}',
    tag,
    summary: 'Set a secret',
    access: admin,
    audit: { action: 'secret.set', target: '{name}' },
    body: secretContent,
    answers: { 204: null },
  }),
  list: operation({
    id: 'listSecrets',
    method: 'GET',
    path: '/v1/secrets',
    tag,
    summary: 'Names and origins, never values',
    access: admin,
    query: listQuery,
    answers: { 200: listOf(secretName) },
  }),
  remove: operation({
    id: 'deleteSecret',
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    tag,
    summary: 'Delete a secret that nothing uses',
    access: admin,
    audit: { action: 'secret.deleted', target: '{name}' },
    answers: { 204: null },
    problems: ['SECRET_IN_USE'],
  }),
};
