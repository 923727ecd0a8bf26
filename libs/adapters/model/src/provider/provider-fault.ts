// A provider's failure as a `ModelFault`: whether and when a retry may help, and words that a person can act on.
//
// Invariants:
//   F1. No key and no prompt is in a fault: details are redacted and shortened, causes are not kept.
//   F2. A failure whose cause cannot be decided from outside is retryable; one that a person must repair is not.
import { APICallError } from '@ai-sdk/provider';
import { Fault, ModelFault } from '@dormouse/ports';

const detailCharactersMax = 500;
const causesMax = 8;
const temporaryFaults = new Set(['UNAVAILABLE', 'STATE_UNAVAILABLE']);
/** How providers and inference servers name a prompt that is longer than the model's window. */
const overflowWords =
  /context[_ -]?(length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? .{0,40}tokens|request_too_large/i;
const refusalCodes = /content[_ -]?(filter|policy|management)|safety|responsible[_ -]?ai|moderation/i;

/** Timeouts, conflicts, early data, rate limits and every failure of the server itself. */
export const isRetryableStatus = (status: number): boolean =>
  status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;

export function toModelFault(error: unknown, secrets: readonly string[]): ModelFault {
  const known = causesOf(error).find(
    (cause) => cause instanceof ModelFault || cause instanceof Fault || APICallError.isInstance(cause),
  );
  if (known instanceof ModelFault) return redactedFault(known, secrets);
  if (known instanceof Fault) {
    const retryable = temporaryFaults.has(known.code);
    return new ModelFault({
      code: 'MODEL_FAILED',
      detail: redact(`${known.code}: ${known.message}`, secrets),
      retryable,
      retryAfterMs: known.retryAfterMs,
    });
  }
  if (APICallError.isInstance(known)) return fromApiCall(known, secrets);
  return new ModelFault({
    code: 'MODEL_FAILED',
    detail: redact(`the provider failed: ${messageOf(error)}`, secrets),
    retryable: true,
  }); // (F2)
}

function fromApiCall(error: APICallError, secrets: readonly string[]): ModelFault {
  const status = error.statusCode ?? null;
  // A success that cannot be read is a broken stream, whatever the SDK calls it.
  const unreadable = status !== null && status < 300;
  const words = `${error.message} ${error.responseBody ?? ''}`;
  const overflown = status === 413 || (isRequestProblem(status) && overflowWords.test(words));
  const refused = !overflown && (status === 401 || status === 403 || (status === 400 && refusalCodes.test(words)));
  return new ModelFault({
    code: codeOf(refused, overflown),
    detail: redact(status === null ? error.message : `the provider answered ${status}: ${error.message}`, secrets),
    retryable:
      !refused && !overflown && (unreadable || (status === null ? error.isRetryable : isRetryableStatus(status))),
    status,
    retryAfterMs: retryAfterMs(error.responseHeaders ?? {}),
  });
}

/** An error that arrived inside the stream: an object with the provider's own words. */
export function streamFault(error: unknown): ModelFault {
  const said = typeof error === 'object' && error !== null ? error : { message: error };
  const message = 'message' in said ? String(said.message) : 'no reason given';
  const words = `${'type' in said ? String(said.type) : ''} ${'code' in said ? String(said.code) : ''} ${message}`;
  const status =
    'code' in said && Number.isInteger(Number(said.code)) && Number(said.code) >= 400 ? Number(said.code) : null;
  const overflown = (status === null || isRequestProblem(status)) && overflowWords.test(words);
  const refused = !overflown && (refusalCodes.test(words) || status === 401 || status === 403);
  return new ModelFault({
    code: codeOf(refused, overflown),
    detail: `the provider broke off its answer: ${message}`.slice(0, detailCharactersMax),
    retryable:
      !refused && !overflown && !/invalid_request/.test(words) && (status === null || isRetryableStatus(status)),
    status,
  });
}

/** Where an overflow is said; a rate limit names tokens too, and passes. */
const isRequestProblem = (status: number | null): boolean => status === 400 || status === 413 || status === 422;

const codeOf = (refused: boolean, overflown: boolean): ModelFault['code'] => {
  if (overflown) return 'CONTEXT_OVERFLOW';
  return refused ? 'MODEL_REFUSED' : 'MODEL_FAILED';
};

/** `Retry-After` in seconds or as a date, or the millisecond form some providers add. */
function retryAfterMs(headers: Readonly<Record<string, string>>): number | null {
  const precise = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(precise) && precise >= 0) return precise;
  const value = headers['retry-after'];
  if (value === undefined) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1_000 : null;
  const sent = Date.parse(headers['date'] ?? '');
  const until = Date.parse(value) - sent;
  return Number.isFinite(until) && until >= 0 ? until : null;
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (
    let cause = error;
    cause !== undefined && cause !== null && causes.length < causesMax;
    cause = cause instanceof Error ? cause.cause : undefined
  )
    causes.push(cause);
  return causes;
}

function redactedFault(fault: ModelFault, secrets: readonly string[]): ModelFault {
  const { code, retryable, status, retryAfterMs: after } = fault;
  return new ModelFault({ code, detail: redact(fault.message, secrets), retryable, status, retryAfterMs: after });
}

/** (F1) */
function redact(detail: string, secrets: readonly string[]): string {
  const withoutSecrets = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '[secret]'), detail);
  return withoutSecrets.replaceAll(/\bsk-[A-Za-z0-9*_-]{6,}/g, '[secret]').slice(0, detailCharactersMax);
}

function messageOf(error: unknown): string {
  const causes = causesOf(error).filter((cause) => cause instanceof Error);
  return causes.length === 0 ? String(error) : [...new Set(causes.map((cause) => cause.message))].join(': ');
}
