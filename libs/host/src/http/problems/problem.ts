// Problem documents (RFC 9457): the API's answer to a request that it does not carry out.
//
// Invariants:
//   P1. `type` is a page that this server serves; `code` is in the registry.
//   P2. No detail quotes the client's input, and none reveals internals: an unknown failure is INTERNAL and nothing
//       more.
import type { Problem as FieldProblem } from '@dormouse/json';
import type { IncomingHttpHeaders } from 'node:http';
import { Fault, type Logger, parseTraceparent } from '@dormouse/ports';
import { type Answered, apiJson, type Refusal } from '@dormouse/runtime';
import { currentContext } from '../server/request-spans.ts';
import { codeEntry, isProblemCode, type ProblemCode } from './problem-codes.ts';

export interface ProblemAbout {
  readonly errors?: readonly FieldProblem[];
  readonly settled?: object;
  readonly retryAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Thrown inside the HTTP server only, and always caught there. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: ProblemCode;
  readonly about: ProblemAbout;

  constructor(code: ProblemCode, detail: string, about: ProblemAbout = {}) {
    super(detail, { cause: about.cause });
    this.code = code;
    this.about = about;
  }

  get status(): number {
    return codeEntry(this.code).status ?? 500;
  }
}

/** With a limit that is smaller than that of other bodies. */
export const bodyTooLarge = (bytesMax = Infinity): HttpProblem =>
  new HttpProblem(
    'BODY_TOO_LARGE',
    `The body exceeds ${bytesMax < 8 * 1_024 * 1_024 ? `${bytesMax} bytes` : '8 MiB'}.`,
  );

/** The value of an answer; a refusal is thrown as its problem document. */
export function unwrap<T>(answer: Answered<T>): T {
  if (answer.ok) return answer.value;
  throw problemOfRefusal(answer.refusal);
}

export const nothingHere = (): HttpProblem => new HttpProblem('NOT_FOUND', 'There is nothing at this path.');

/** What is wrong at one place of the body, in one sentence. */
export const invalidAt = (pointer: string, detail: string, summary = detail, cause?: unknown): HttpProblem =>
  new HttpProblem('INVALID_BODY', summary, { errors: [{ pointer, detail }], cause });

export function problemOfRefusal({ code, detail, errors, settled, retryAfterMs }: Refusal): HttpProblem {
  return new HttpProblem(code, detail, { errors, settled, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

/** Any thrown value, as a problem. (P2) */
export function toProblem(thrown: unknown): HttpProblem {
  if (thrown instanceof HttpProblem) return thrown;
  // Damage does not pass by itself: no client is asked to repeat the request, and its words are for the operator.
  if (thrown instanceof Fault && thrown.code !== 'DATABASE_CORRUPT') {
    const known = isProblemCode(thrown.code) && codeEntry(thrown.code).status !== null ? thrown.code : 'UNAVAILABLE';
    return new HttpProblem(known, thrown.message, { cause: thrown, retryAfterMs: thrown.retryAfterMs ?? 1_000 });
  }
  return fromFramework(thrown) ?? new HttpProblem('INTERNAL', 'Something failed on our side.', { cause: thrown });
}

/** What Fastify and Nest throw by themselves, before our own code runs. */
function fromFramework(thrown: unknown): HttpProblem | null {
  const { code, status, statusCode } = thrown as {
    readonly code?: unknown;
    readonly status?: unknown;
    readonly statusCode?: unknown;
  };
  const answered = status ?? statusCode; // Nest keeps the status of what Fastify throws, and drops its code
  if (answered === 413) return bodyTooLarge();
  if (answered === 415) return new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
  if (answered === 405) return new HttpProblem('METHOD_NOT_ALLOWED', 'This path takes another method.');
  if (answered === 404 || answered === 414 || code === 'FST_ERR_BAD_URL') return nothingHere();
  if (typeof answered === 'number' && answered >= 400 && answered < 500)
    return new HttpProblem('INVALID_BODY', 'The request cannot be read.');
  return null;
}

export function problemJson(problem: HttpProblem, requestId: string, traceId: string | null = null): string {
  const { errors, settled } = problem.about;
  return JSON.stringify({
    type: `/errors/${problem.code}`,
    title: codeEntry(problem.code).title,
    status: problem.status,
    detail: problem.message,
    instance: requestId,
    code: problem.code,
    ...(errors === undefined ? {} : { errors }),
    ...(settled === undefined ? {} : { settled: apiJson(settled) }),
    trace_id: traceId,
  });
}

/** The trace of the request's SERVER span; without one, that which a valid `traceparent` of the client names. */
const traceIdOf = (traceparent: string | string[] | undefined): string | null =>
  currentContext()?.traceId ?? parseTraceparent(typeof traceparent === 'string' ? traceparent : null)?.traceId ?? null;

export function retryAfterS(problem: HttpProblem): number | null {
  if (problem.status !== 503 && problem.status !== 429) return null;
  return Math.max(1, Math.ceil((problem.about.retryAfterMs ?? 1_000) / 1_000));
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a problem document needs to know of the request. */
export interface ProblemRequest {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
}

/** Its body is bytes: Fastify adds a charset to texts. What is our own mistake is logged, with the request's id. */
export function problemAnswer({ id, headers }: ProblemRequest, thrown: unknown, logger: Logger): ProblemAnswer {
  const problem = toProblem(thrown);
  if (problem.status >= 500) logFailure(problem, id, logger);
  const retry = retryAfterS(problem);
  return {
    status: problem.status,
    headers: {
      ...(retry === null ? {} : { 'retry-after': String(retry) }),
      ...(problem.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...problem.about.headers,
      'content-type': 'application/problem+json',
    },
    body: Buffer.from(problemJson(problem, id, traceIdOf(headers['traceparent']))),
  };
}

function logFailure(problem: HttpProblem, requestId: string, logger: Logger): void {
  const { cause } = problem;
  logger.error('request_failed', {
    request_id: requestId,
    code: problem.code,
    reason: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  });
}
