// Reads a request's body as text: at most 2 MB, valid UTF-8.
import type { IncomingMessage } from 'node:http';

const bodyBytesMax = 2_000_000;

/** Null when it is too large or no text; the rest of it is not read then. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop must not close the connection: the answer still has to go out.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return null;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof TypeError) return null; // its way of saying "not UTF-8"
    throw error;
  }
}
