// One request and its answer on a pool, with one deadline for all of it: queue, connection, headers and body.
// Uses undici's dispatch interface directly, because only that interface reports whether a byte was sent.
//
// Invariants:
//   X1. `reached` is true as soon as the request was given to a connected socket; before that nothing was sent.
//   X2. With `keepBytesMax` 0 the answer is its status: the body is discarded unread and may not keep a socket busy.
//   X3. Never throws for a network failure; settles exactly once, at the latest at the deadline.
//   X4. Answers that arrive in the same tick of the event loop resolve together.
import { onAbort, atEndOfTick } from '@dormouse/collections';
import type { Dispatcher, Pool } from 'undici';
import { errorCode } from './outbound-guard.ts';

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body: string | null;
  readonly timeoutMs: number;
  /** How many bytes of the answer's body to keep; 0 for none. */
  readonly keepBytesMax: number;
  readonly signal?: AbortSignal;
}

export type ExchangeOutcome =
  | {
      readonly answered: true;
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Buffer | null;
    }
  | { readonly answered: false; readonly reached: boolean; readonly code: string; readonly detail: string };

/** An acknowledgement whose body is larger than this ends the connection. */
const discardedBytesMax = 65_536;

class Ended extends Error {
  readonly code: string;
  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

export function exchange(pool: Pool, request: ExchangeRequest): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    const { method, path, headers, body, timeoutMs, keepBytesMax, signal } = request;
    let controller: Dispatcher.DispatchController | null = null;
    let ended: Ended | null = null;
    let status = 0;
    let answerHeaders: Readonly<Record<string, string | string[] | undefined>> = {};
    let received = 0;
    const chunks: Buffer[] = [];

    const timer = setTimeout(() => end(new Ended('TIMEOUT', `no answer within ${timeoutMs} ms`)), timeoutMs);
    const giveUp = (): void => end(new Ended('ABORTED', 'the request was given up'));
    const stay = signal === undefined ? null : onAbort(signal, giveUp);
    /** Only the first outcome counts. (X3, X4) */
    const settle = (outcome: ExchangeOutcome): void => atEndOfTick(() => resolve(outcome));

    function finish(): void {
      clearTimeout(timer);
      stay?.();
    }
    function end(why: Ended): void {
      ended = why;
      if (controller !== null) return controller.abort(why);
      settle(failed(false, why)); // still queued or connecting: nothing was sent (X1), and nothing will be
      finish();
    }

    if (signal?.aborted === true) return giveUp();
    pool.dispatch(
      { method, path, headers, body },
      {
        onRequestStart(given) {
          controller = given;
          if (ended !== null) given.abort(ended);
        },
        onResponseStart(_given, statusCode, fields) {
          if (statusCode < 200) return;
          status = statusCode;
          answerHeaders = fields;
          if (keepBytesMax === 0) settle({ answered: true, status, headers: fields, body: null }); // (X2)
        },
        onResponseData(given, chunk) {
          received += chunk.length;
          if (received > (keepBytesMax === 0 ? discardedBytesMax : keepBytesMax))
            given.abort(new Ended('TOO_LARGE', `more than ${keepBytesMax} bytes`));
          else if (keepBytesMax > 0) chunks.push(chunk);
        },
        onResponseEnd() {
          finish();
          if (keepBytesMax > 0) settle({ answered: true, status, headers: answerHeaders, body: Buffer.concat(chunks) });
        },
        onResponseError(_given, error) {
          finish();
          settle(failed(controller !== null, error));
        },
      },
    );
  });
}

function failed(reached: boolean, error: Error): ExchangeOutcome {
  const code = errorCode(error);
  return { answered: false, reached, code, detail: error instanceof Ended ? error.message : describe(code) };
}

/** A description for the model and the operator; the message of a system error may contain addresses. */
function describe(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection broke';
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'no connection in time';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'the host cannot be reached';
    default:
      return `the request failed (${code})`;
  }
}
