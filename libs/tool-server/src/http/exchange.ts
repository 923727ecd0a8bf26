/**
 * Owns: the part of Node's request and response that the door uses, so that it answers others' requests as well.
 * `IncomingMessage` and `ServerResponse` fit as they are; `fetch-exchange.ts` makes both of a `Request`.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface DoorRequest {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  /** Of a mounted server: the URL of the place where it is mounted, as this request spelled it. */
  readonly base?: string;
  readonly headers: IncomingHttpHeaders;
  /** Whether the body has arrived as a whole. */
  readonly complete: boolean;
  /** The body, once. */
  readonly iterator: (options: {
    readonly destroyOnReturn: boolean;
  }) => AsyncIterator<unknown> & AsyncIterable<unknown>;
}

export interface DoorResponse {
  readonly headersSent: boolean;
  readonly writeHead: (
    status: number,
    headers: Record<string, string | number>,
  ) => { readonly end: (body: string) => unknown };
  /** `close`: the answer has been handed over, or can no longer be. */
  readonly once: (event: 'close', listener: () => unknown) => unknown;
}
