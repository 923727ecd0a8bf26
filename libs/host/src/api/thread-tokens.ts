// Thread tokens: what a browser or an end user holds instead of a key.
import { threadTokenTtlSMax } from '@dormouse/runtime';
import { z } from 'zod';
import { id, time } from './field.ts';
import { operationsOf, threadWriter } from './operation.ts';

export const tokenRequest = z
  .strictObject({
    can: z
      .array(z.enum(['read', 'message', 'answer']))
      .min(1)
      .max(3),
    scope: z.enum(['thread', 'family']).default('thread'),
    user_id: id.nullable().default(null),
    ttl_s: z.int().min(1).max(threadTokenTtlSMax).default(3_600),
  })
  .meta({
    id: 'TokenRequest',
    description: '`family` opens the thread, the root above it, and all threads below that root.',
  });

export const threadTokenOperations = operationsOf('thread', {
  issueThreadToken: {
    route: 'POST /v1/threads/{id}/tokens',
    summary: 'A short-lived token for this thread or its family, for browsers and end users',
    access: threadWriter,
    audit: { action: 'token.created', target: '{{id}}' },
    body: tokenRequest,
    answers: { 201: z.object({ token: z.string(), id: z.string(), expires_at: time }).meta({ id: 'ThreadToken' }) },
    location: '/v1/threads/{id}/tokens/{{id}}',
    answersSecret: true,
  },
  revokeThreadToken: {
    route: 'DELETE /v1/threads/{id}/tokens/{token}',
    summary: 'It works no more, and its streams end, within a second everywhere',
    access: threadWriter,
    audit: { action: 'token.revoked', target: '{token}' },
    answers: { 204: null },
  },
});
