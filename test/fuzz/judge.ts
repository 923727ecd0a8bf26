// What an answer may be, whatever was asked.
//
// Invariants:
//   J1. No 5xx without an injected fault. A 503 is by design where it says one of `limitsSaid`, has the code
//       UNAVAILABLE and a `Retry-After`: these are the limits of arrivals (bodies that are not whole, unfinished
//       requests of a peer) and the rate of a tenant's callbacks. Every other 5xx is a violation, 501 and 505 among
//       them.
//   J2. Every answer of the client API that is neither 2xx nor 3xx is a problem document with a known code, its own
//       status and a request id. A callback is refused with a JSON object that has a code.
//   J3. What a credential does not open, and what belongs to another tenant, is never answered 2xx; a text of another
//       tenant is in no answer.
//   J4. A request whose end is known is answered, unless its sender has left, or sends what is no HTTP behind it: then
//       the connection is closed (unreadable-request U1). A connection whose sender has no more to say
//       is answered or ends: node:http takes a sender that has half closed for one that has left, and so ends the
//       streams of readers that are gone.
import { isProblemCode } from '@dormouse/host';
import type { Exchange } from './exchange.ts';
import type { RawAnswer } from './read-answers.ts';
import type { EncodedRequest } from './request-plan.ts';

/** What a 503 says that is one of a limit. (J1) */
export const limitsSaid = [
  /^Too much is on its way at once; send it again, and faster if you can\.$/,
  /^Too many requests of this peer are unfinished\.$/,
  /^too many messages; send it again later$/,
] as const;

/** Nothing, or what is wrong with an answer, in a sentence. `secret`: of another tenant. */
export function wrongOf(answer: RawAnswer, request: EncodedRequest | null, secret: string): string | null {
  const { status, body } = answer;
  if (body.includes(secret)) return `an answer with a text of another tenant (${status})`; // (J3)
  if (status >= 500) return isOfLimit(answer) ? null : `answered ${status}`; // (J1)
  if (status >= 200 && status < 400)
    return request?.isForeign === true && status < 300 ? `what is not the caller's was answered ${status}` : null; // (J3)
  if (request?.method === 'HEAD' || !answer.isWhole) return null;
  return notAProblem(answer, request);
}

function isOfLimit({ status, headers, body }: RawAnswer): boolean {
  const { code, detail } = objectOf(body) ?? {};
  const isKnown = limitsSaid.some((said) => said.test(String(detail)));
  return status === 503 && code === 'UNAVAILABLE' && isKnown && Number(headers.get('retry-after')) > 0;
}

/** (J2) */
function notAProblem({ status, headers, body }: RawAnswer, request: EncodedRequest | null): string | null {
  const problem = objectOf(body);
  if (problem === null || typeof problem['code'] !== 'string') return `answered ${status} without a code`;
  if (!isProblemCode(problem['code'])) return `answered ${status} with an unknown code`;
  const isDocument = headers.get('content-type') === 'application/problem+json';
  if (request !== null && request.plan.door === 'callback' && !isDocument) return null;
  if (!isDocument) return `answered ${status} without a problem document`;
  if (problem['status'] !== status) return `answered ${status} with the problem of ${String(problem['status'])}`;
  return headers.has('x-request-id') ? null : `answered ${status} without a request id`;
}

function objectOf(body: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // not JSON: that is the finding
  }
}

/** (J4) `isOver`: the sender has no more to say. */
export function wrongEnd(requests: readonly EncodedRequest[], exchange: Exchange, isOver: boolean): string | null {
  const { answers, ended, rest } = exchange;
  const isFramed = requests.every((request) => request.isFramed);
  const whole = isFramed && !isOver ? requests.length : 0;
  const last = answers.at(-1);
  if (last !== undefined && !last.isWhole && !last.isStream && ended === 'by_server') return 'an answer was cut off';
  if (rest.length > 0 && ended === 'by_server')
    return `not HTTP: ${JSON.stringify(rest.subarray(0, 60).toString('latin1'))}`;
  if (requests.length > 0 && answers.length > requests.length && isFramed) return 'more answers than requests';
  if (last?.isStream === true || last?.headers.get('connection') === 'close') return null;
  if (requests.some(({ mayWait }) => mayWait) && ended === 'late') return null;
  if (answers.length < whole && ended === 'by_server') return `closed after ${answers.length} of ${whole} answers`;
  if (answers.length < whole && ended === 'late') return `${answers.length} of ${whole} answers in time`;
  return ended === 'late' && isOver ? 'the connection never ended' : null;
}
