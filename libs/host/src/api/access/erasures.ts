// Erasures of contents: requests, answers and operations.
import { z } from 'zod';
import { id, listOf, listQuery, time } from '../field.ts';
import { adminOfAll, operationsOf, readerOfAll, threadWriter } from '../operation.ts';

export const erasureRequest = z.union([z.strictObject({ thread_id: id }), z.strictObject({ user_id: id })]).meta({
  id: 'ErasureRequest',
  description:
    'What is erased: a thread with all below it (its family, where it is the root), or everything of an end user. A user may be given as a certificate names one.',
});

const erased = {
  id: z.string(),
  scope: z.enum(['thread', 'family', 'user']),
  subject: z.string().describe('A thread’s id, or `hmac:` and a keyed hash of the user’s id.'),
};

export const certificate = z
  .object({
    ...erased,
    families: z.array(z.string()).describe('The threads that were erased with all below them.'),
    at: time,
    stores: z.record(z.string(), z.string()).describe('By kind of store: what was done, and what is left until when.'),
    kid: z.string().describe('The key of `GET /v1/audit/keys` that has signed.'),
    signature: z.string().describe('Ed25519 over the RFC 8785 JSON of the other members; base64url.'),
  })
  .meta({ id: 'ErasureCertificate', description: 'Signed, to be handed over.' });

export const erasure = z
  .object({
    ...erased,
    state: z.enum(['running', 'done']),
    requested_at: time.describe('When it was asked for first.'),
    threads: z.int().describe('How many threads it erases, once that is known.'),
    certificate: certificate.nullable().describe('Null until it is done.'),
  })
  .meta({ id: 'Erasure', description: 'Contents that are being erased, or were.' });

export const erasureOperations = {
  ...operationsOf('operations', {
    createErasure: {
      route: 'POST /v1/erasures',
      summary: 'Erase the contents of a thread, a family or an end user; asked again, it is the same erasure',
      access: adminOfAll,
      audit: { action: 'erasure.requested', target: '{{subject}}' },
      body: erasureRequest,
      answers: { 202: erasure },
      problems: ['NOT_FOUND'],
    },
    listErasures: {
      route: 'GET /v1/erasures',
      summary: 'All erasures, the newest first',
      access: readerOfAll,
      query: listQuery,
      answers: { 200: listOf(erasure) },
    },
    getErasure: {
      route: 'GET /v1/erasures/{id}',
      summary: 'An erasure, with its certificate when it is done',
      access: readerOfAll,
      answers: { 200: erasure },
      problems: ['NOT_FOUND'],
    },
  }),
  ...operationsOf('threads', {
    deleteThread: {
      route: 'DELETE /v1/threads/{id}',
      summary: 'Erase the contents of a closed thread with all below it; its log stays, and says so',
      access: threadWriter,
      audit: { action: 'erasure.requested', target: '{id}' },
      answers: { 202: erasure },
      problems: ['NOT_FOUND', 'THREAD_OPEN'],
    },
  }),
};
