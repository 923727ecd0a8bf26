/** Owns: reading a request's body, up to a limit. Not here: what it means. */
import type { IncomingMessage } from 'node:http';

/** Longest body of any request. */
export const bodyBytesMax = 2_000_000;

/** Null when it is too large; the rest of it is not read then. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop must not close the connection: the answer still has to go out.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The text of a body; null when it is not UTF-8. */
export function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    if (error instanceof TypeError) return null; // its way of saying "not UTF-8"
    throw error;
  }
}
