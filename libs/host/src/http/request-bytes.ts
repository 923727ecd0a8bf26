// The bytes of a request, as they come, within a limit.
//
// Invariants:
//   R1. At most `bytesMax` and one chunk are held, or what was here before anybody looked. What follows is thrown away unread, so
//       that the sender gets to read the answer instead of a broken connection; but not for ever.
//   R2. Requests that are complete in the same turn of the event loop go on together.
//   R3. Nearly every body comes along with its head: then it is taken as it is, and nobody listens for its parts.
import type { IncomingMessage } from 'node:http';
import { together } from '@dormouse/ports';
import { HttpProblem } from './problem.ts';

export interface RequestBytes {
  readonly bytes: Buffer;
  /** True when there was more than `bytesMax`: `bytes` is only the beginning. */
  readonly truncated: boolean;
}

const discardedBytesMax = 64 * 1024 * 1024;
const none = Buffer.alloc(0);

/** @throws HttpProblem when the sender went away before its body was here: nobody's fault here, and nobody reads the answer. */
export function receiveBytes(payload: IncomingMessage, bytesMax: number): Promise<RequestBytes> {
  return new Promise((resolve, reject) => {
    together(() => {
      if (!payload.complete) return listen(payload, bytesMax, resolve, reject);
      const bytes = (payload.read() as Buffer | null) ?? none; // (R2, R3)
      resolve({ bytes, truncated: bytes.length > bytesMax });
    });
  });
}

function listen(
  payload: IncomingMessage,
  bytesMax: number,
  resolve: (received: RequestBytes) => void,
  reject: (reason: Error) => void,
): void {
  const senderGone = (cause?: unknown): void =>
    reject(new HttpProblem('MALFORMED_REQUEST', 'The body did not come to its end.', { cause }));
  if (payload.destroyed) return senderGone();
  const chunks: Buffer[] = [];
  let received = 0;
  payload.on('data', (chunk: Buffer) => {
    if (received <= bytesMax) chunks.push(chunk); // (R1)
    received += chunk.length;
    if (received > discardedBytesMax) payload.destroy();
  });
  payload.on('end', () => {
    const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    together(() => resolve({ bytes, truncated: received > bytesMax })); // (R2)
  });
  payload.on('error', senderGone);
  payload.on('close', () => {
    if (!payload.readableEnded) senderGone();
  });
}
