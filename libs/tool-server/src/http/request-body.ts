/**
 * Owns: reading a request's body, up to a limit of its own and one for all that are being read.
 * Not here: its meaning; how long it may take (`serve.ts`).
 *
 * I1. Bodies that are being read hold at most `bytesMax` together; one that finds no room is answered 503.
 */
import type { DoorRequest } from './exchange.ts';
import type { RouteAnswer } from './route.ts';

/** Longest body of any request. */
export const bodyBytesMax = 2_000_000;

/** A body, or the status for its sender; one that ended early gets no answer. */
export type BodyReading =
  { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly answer: RouteAnswer | null };

export type ReadBody = (request: DoorRequest) => Promise<BodyReading>;

const tooLarge: BodyReading = { ok: false, answer: { status: 413, headers: { connection: 'close' } } };
const noRoom: BodyReading = {
  ok: false,
  answer: { status: 503, headers: { connection: 'close', 'retry-after': '1' } },
};

/** The decision from its declared length alone. */
export const isTooLarge = ({ headers }: DoorRequest): boolean => Number(headers['content-length'] ?? 0) > bodyBytesMax;

export function createBodyReader(bytesMax: number): ReadBody {
  let held = 0;
  return async (request) => {
    if (isTooLarge(request)) return tooLarge;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      // Leaving the loop must not close the connection: the answer still has to be sent.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        held += chunk.length;
        if (bytes > bodyBytesMax) return tooLarge;
        if (held > bytesMax) return noRoom; // (I1)
        chunks.push(chunk);
      }
      return { ok: true, body: Buffer.concat(chunks) };
    } catch (error) {
      if (request.complete) throw error;
      return { ok: false, answer: null }; // its sender has disconnected, or its time is over
    } finally {
      held -= bytes;
    }
  };
}
