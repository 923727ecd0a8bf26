/**
 * Owns: a `Request` and the `Response` to it, in the form in which the door takes requests and gives answers.
 *
 * E1. The body stays a stream: the door reads it when head and credential are judged, and no further than its limit.
 * E2. What follows an answer begins after the caller has it: a platform takes an answer when its handler returns.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { DoorRequest, DoorResponse } from './exchange.ts';

export interface FetchExchange {
  readonly request: DoorRequest;
  readonly response: DoorResponse;
  /** The answer; 400 where the door gave none, because the body broke off. */
  readonly answer: () => Response;
  /** Begins what follows the answer, and resolves when that is done. (E2) */
  readonly handedOver: () => Promise<void>;
}

/** `path` is the request's path below the place where the server is mounted, `base` the URL of that place. */
export function fetchExchange(given: Request, path: string, base: string): FetchExchange {
  let complete = given.body === null;
  let answer: Response | null = null;
  const following: (() => unknown)[] = [];
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = given.body?.getReader();
    try {
      for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read())
        yield Buffer.from(next.value);
      complete = true;
    } finally {
      if (!complete) void reader?.cancel().catch(() => {}); // its sender may have disconnected already
    }
  }
  return {
    request: {
      method: given.method,
      url: path,
      base,
      headers: Object.fromEntries(given.headers) satisfies IncomingHttpHeaders,
      get complete() {
        return complete;
      },
      iterator: () => chunks(), // (E1)
    },
    response: {
      get headersSent() {
        return answer !== null;
      },
      writeHead: (status, headers) => ({
        end(body) {
          const fields = Object.entries(headers).filter(([name]) => name !== 'connection');
          answer = new Response(body === '' ? null : body, {
            status,
            headers: fields.map(([name, value]): [string, string] => [name, String(value)]),
          });
        },
      }),
      once: (_event, listener) => following.push(listener),
    },
    answer: () => answer ?? new Response(null, { status: 400 }),
    async handedOver() {
      await Promise.all(following.splice(0).map((follow) => follow()));
    },
  };
}
