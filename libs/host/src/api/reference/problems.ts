// The problems that an operation may answer, by status: those of every operation, those that follow from its shape, and
// its own.
import { codeEntry, isProblemCode, type ProblemCode } from '../../http/problems/problem-codes.ts';
import type { Operation } from '../operation.ts';
import { problemHeaders } from './headers.ts';
import type { Json } from './schema-json.ts';

export const problemSchema = {
  type: 'object',
  description: 'Why a request was not carried out (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', description: 'A page of this server: `/errors/{CODE}`.' },
    title: { type: 'string', description: 'What the code means, in a few words.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What is wrong with this request, in a sentence.' },
    instance: { type: 'string', description: 'The request id, also in `X-Request-Id`.' },
    code: { type: 'string', description: 'For programs: one of the codes that have a page.' },
    errors: {
      type: 'array',
      description: 'What is wrong in the body or the query, all of it.',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'Where: a JSON Pointer, such as `/model/name`.' },
          detail: { type: 'string', description: 'What is wrong there.' },
        },
      },
    },
    settled: { type: 'object', description: 'With CHOICE_SETTLED: the first answer.' },
    trace_id: { type: ['string', 'null'], description: 'Id of the request’s trace; null without one.' },
  },
};

/** The codes of an operation's problems by status, each once. */
export function problemsOf(operation: Operation): ReadonlyMap<number, readonly ProblemCode[]> {
  const found = new Map<number, ProblemCode[]>();
  for (const code of [...shapeCodes(operation), ...(operation.problems ?? [])]) {
    if (!isProblemCode(code)) throw new Error(`${operation.id}: ${code} is no code`);
    const status = codeEntry(code).status ?? 500;
    const codes = found.get(status) ?? [];
    if (!codes.includes(code)) found.set(status, [...codes, code]);
  }
  return new Map([...found].toSorted(([a], [b]) => a - b));
}

function shapeCodes({ access, method, path, body, query }: Operation): readonly string[] {
  return [
    ...(access === 'open' ? [] : ['UNAUTHENTICATED', 'RATE_LIMITED']),
    ...['FORBIDDEN', 'UNAVAILABLE'],
    ...(path.includes('{') ? ['NOT_FOUND'] : []),
    ...(body === undefined
      ? []
      : ['INVALID_JSON', 'INVALID_BODY', 'UNKNOWN_FIELD', 'BODY_TOO_LARGE', 'BODY_TOO_DEEP', 'UNSUPPORTED_MEDIA_TYPE']),
    ...(query === undefined ? [] : ['INVALID_BODY', 'UNKNOWN_FIELD']),
    ...(method === 'POST' && access !== 'open' ? ['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_IN_PROGRESS'] : []),
  ];
}

/** Named by its codes: most operations share theirs. */
const componentOf = (codes: readonly ProblemCode[]): string => codes.join('-');

export const problemReference = (codes: readonly ProblemCode[]): Json => ({
  $ref: `#/components/responses/${componentOf(codes)}`,
});

/** Every answer that the operations refer to. */
export function problemComponents(operations: readonly Operation[]): Json {
  const components: Record<string, Json> = {};
  for (const operation of operations)
    for (const [status, codes] of problemsOf(operation))
      components[componentOf(codes)] ??= problemResponse(status, codes);
  return components;
}

function problemResponse(status: number, codes: readonly ProblemCode[]): Json {
  const lines = codes.map((code) => `- [\`${code}\`](/errors/${code}): ${codeEntry(code).meaning}`);
  return {
    description: lines.join('\n'),
    headers: problemHeaders(status),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, status) }])),
      },
    },
  };
}

const exampleOf = (code: ProblemCode, status: number): Json => ({
  type: `/errors/${code}`,
  title: codeEntry(code).title,
  status,
  detail: codeEntry(code).meaning,
  instance: 'req-m8xk2p9a-1',
  code,
  trace_id: null,
});
