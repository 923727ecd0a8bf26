// Headers of requests and answers, as the OpenAPI document has them.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import type { Json } from './schema-json.ts';

const text = { type: 'string' };

const optional = (name: string): Json => ({ name, in: 'header', required: false });

const sharedParameters: Readonly<Record<string, Json>> = {
  IdempotencyKey: {
    ...optional('Idempotency-Key'),
    description:
      'The same key with the same body gets the first answer again, for at least 24 hours; the thread’s log takes the request ' +
      'once for ever. Another body with the same key is refused.',
    schema: { ...text, minLength: 1, maxLength: 255 },
    example: 'order-4711',
  },
  Prefer: {
    ...optional('Prefer'),
    description: '`wait=` and seconds: how long to wait for the end of the turn before answering 202.',
    schema: text,
    example: 'wait=30',
  },
  IfMatch: {
    ...optional('If-Match'),
    description: 'An `ETag` of an answer before: the request is carried out only if nothing has changed since.',
    schema: text,
  },
  LastEventId: {
    ...optional('Last-Event-ID'),
    description: 'Of a stream: the last position that was seen. It wins over `after`. Browsers send it by themselves.',
    schema: { ...text, pattern: '^\\d{1,15}$' },
    example: '42',
  },
  LastCursor: {
    ...optional('Last-Event-ID'),
    description: 'Of a stream: the last cursor that was seen. It wins over `after`. Browsers send it by themselves.',
    schema: text,
  },
};

/** Those that the operations refer to. */
export function parametersOf(operations: readonly Operation[]): Json {
  const named = new Set(operations.flatMap(headerParameters).map(({ $ref }) => $ref));
  const entries = Object.entries(sharedParameters).filter(([name]) => named.has(parameter(name)['$ref']));
  return Object.fromEntries(entries);
}

const parameter = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

export function headerParameters({ method, id, problems = [] }: Operation): readonly Json[] {
  return [
    ...(method === 'POST' ? [parameter('IdempotencyKey')] : []),
    ...(id === 'postMessage' ? [parameter('Prefer')] : []),
    ...(id === 'listEvents' ? [parameter('LastEventId')] : []),
    ...(id === 'listTenantEvents' ? [parameter('LastCursor')] : []),
    ...(problems.includes('PRECONDITION_FAILED') ? [parameter('IfMatch')] : []),
  ];
}

export const sharedHeaders: Readonly<Record<string, Json>> = {
  RequestId: { description: 'Names the request in our logs.', schema: text },
  RateLimit: { description: 'What is left of the tenant’s share; absent where there is no limit.', schema: text },
  RateLimitPolicy: { description: 'The tenant’s share.', schema: text },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 1 } },
  IdempotencyReplayed: {
    description: '`true` when this is the answer of an earlier request with the same key.',
    schema: { ...text, enum: ['true'] },
  },
  ETag: {
    description: 'The version of what is answered; `If-Match` with it refuses a change of something newer.',
    schema: text,
  },
  Location: { description: 'Address of what was made.', schema: { ...text, format: 'uri-reference' } },
  WwwAuthenticate: { description: '`Bearer`.', schema: text },
};

const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

const rates = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') };

/** Of what an answer with an `ETag` shows. */
const taggedSchemas = new Set(['Agent', 'ToolServer', 'ToolServerDetails']);

const isTagged = (answer: Operation['answers'][number] | undefined): boolean =>
  answer instanceof z.ZodType && taggedSchemas.has(z.globalRegistry.get(answer)?.id ?? '');

export const answerHeaders = ({ method, access, answers, location }: Operation, status: number): Json => ({
  'X-Request-Id': header('RequestId'),
  ...(access === 'open' ? {} : rates),
  ...(method === 'POST' && access !== 'open' ? { 'Idempotency-Replayed': header('IdempotencyReplayed') } : {}),
  ...(status === 201 && location !== undefined ? { Location: header('Location') } : {}),
  ...(isTagged(answers[status]) ? { ETag: header('ETag') } : {}),
});

export const problemHeaders = (status: number): Json => ({
  'X-Request-Id': header('RequestId'),
  ...(status === 401 ? { 'WWW-Authenticate': header('WwwAuthenticate') } : {}),
  ...(status === 429 ? rates : {}),
  ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
});
