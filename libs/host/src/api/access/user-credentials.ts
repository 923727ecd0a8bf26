// Credentials of end users for tool servers: write-only.
import { z } from 'zod';
import { httpUrl, listOf, nullableTime, time } from '../field.ts';
import { admin, operationsOf, reader } from '../operation.ts';

const secretText = z.string().min(1).max(65_536);

export const userCredential = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('bearer'), value: secretText }),
    z.strictObject({
      type: z.literal('oauth2'),
      token_url: httpUrl,
      client_id: z.string().min(1).max(1_000),
      client_secret: secretText.nullable().default(null),
      refresh_token: secretText,
      access_token: secretText.nullable().default(null),
      expires_at: nullableTime.default(null).describe('End of the access token; null when it is not known.'),
    }),
  ])
  .meta({
    id: 'UserCredential',
    description:
      'What an end user has for a tool server: encrypted, never given back, and sent to the origin that the server has now, with the calls of that user’s threads.',
  });

export const userCredentialName = z
  .object({
    tool_server: z.string(),
    type: z.enum(['bearer', 'oauth2']),
    origin: z.string(),
    created_at: time,
    updated_at: time,
    expires_at: nullableTime.describe('End of the access token, where it is known.'),
    failed_at: nullableTime.describe('Since when its provider refuses to refresh it; set it again then.'),
  })
  .meta({ id: 'UserCredentialName', description: 'A credential of an end user, without what is secret.' });

const target = '{user_id}/{tool_server}';

export const userCredentialOperations = operationsOf('secrets', {
  putUserCredential: {
    route: 'PUT /v1/users/{user_id}/credentials/{tool_server}',
    summary: 'Set what an end user has for a tool server',
    access: admin,
    audit: { action: 'credential.set', target },
    body: userCredential,
    answers: { 204: null },
    problems: ['NOT_FOUND'],
  },
  getUserCredential: {
    route: 'GET /v1/users/{user_id}/credentials/{tool_server}',
    summary: 'Whether an end user has one for a tool server, never its value',
    access: reader,
    answers: { 200: userCredentialName },
    problems: ['NOT_FOUND'],
  },
  listUserCredentials: {
    route: 'GET /v1/users/{user_id}/credentials',
    summary: 'Tool servers for which an end user has one, never values',
    access: reader,
    answers: {
      200: listOf(userCredentialName),
    },
  },
  deleteUserCredential: {
    route: 'DELETE /v1/users/{user_id}/credentials/{tool_server}',
    summary: 'Delete what an end user has for a tool server',
    access: admin,
    audit: { action: 'credential.deleted', target },
    answers: { 204: null },
    problems: ['NOT_FOUND'],
  },
});
