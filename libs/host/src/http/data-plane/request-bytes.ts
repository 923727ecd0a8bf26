// The bytes of a request, as they come, within a limit.
//
// Invariants:
//   B1. At most `bytesMax` and one chunk are held, or what had arrived before the first read. The answer waits for no
//       more than that, nor for a body that declares itself longer: of such a body the first chunk is taken. The rest
//       is discarded unread, within a limit, so that the sender reads the answer instead of a broken connection.
//   B2. Requests that are complete in the same tick continue together.
//   B3. Nearly every body arrives with its head: then it is taken as it is, without listeners for its parts.
//   B4. The bytes of an incomplete body are counted in the room that all of them share; a body that the room drops
//       fails, and the rest of it is discarded.
//   B5. Megabytes are joined step by step, alternating with all other long work: twenty bodies that end at once block
//       the event loop for no longer than one.
import type { Steps } from '@dormouse/json';
import { atEndOfTick } from '@dormouse/collections';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { inTurnsIf } from '@dormouse/runtime';
import type { BodyRoom } from '../server/arrivals.ts';
import { HttpProblem } from '../problems/problem.ts';

export interface RequestBytes {
  readonly bytes: Buffer;
  /** True when there was more than `bytesMax`: `bytes` is only the beginning. */
  readonly truncated: boolean;
}

const discardedBytesMax = 64 * 1024 * 1024;
/** Bytes of a step. (B5) */
const joinedAtOnceBytesMax = 262_144;
const none = Buffer.alloc(0);

/** Bodies are left to the routes, whatever their media type: a credential is judged before they are read. */
export function leaveBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** Whether the head says that the body is longer. */
export const saysMoreThan = (bytesMax: number, { headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  Number(headers['content-length'] ?? 0) > bytesMax;

/** @throws HttpProblem when the sender closed before its body was complete, and when the room dropped the body (B4). */
export function receiveBytes(payload: IncomingMessage, bytesMax: number, room: BodyRoom): Promise<RequestBytes> {
  return new Promise((resolve, reject) => {
    atEndOfTick(() => {
      if (!payload.complete) return listen(payload, bytesMax, room, resolve, reject);
      const bytes = (payload.read() as Buffer | null) ?? none; // (B2, B3)
      resolve({ bytes, truncated: bytes.length > bytesMax });
    });
  });
}

function listen(
  payload: IncomingMessage,
  bytesMax: number,
  room: BodyRoom,
  resolve: (received: Promise<RequestBytes>) => void,
  reject: (reason: Error) => void,
): void {
  const isTooLong = saysMoreThan(bytesMax, payload);
  let chunks: Buffer[] = [];
  let received = 0;
  let isOver = false;
  const end = (answer: () => void): void => {
    isOver = true;
    chunks = [];
    hold.leave();
    answer();
  };
  const hold = room.enter({
    pause: () => void payload.pause(),
    resume: () => void payload.resume(),
    giveWay: () => end(() => reject(noRoom())),
  }); // (B4)
  const senderGone = (cause?: unknown): void =>
    end(() => reject(new HttpProblem('MALFORMED_REQUEST', 'The body did not come to its end.', { cause })));
  if (payload.destroyed) return senderGone();
  payload.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > discardedBytesMax) payload.destroy();
    if (isOver) return;
    chunks.push(chunk);
    hold.add(chunk.length);
    if (isOver || (received <= bytesMax && !isTooLong)) return;
    const taken = joined(chunks);
    end(() => resolve(taken.then((bytes) => ({ bytes, truncated: true })))); // (B1)
  });
  payload.on('end', () => {
    if (isOver) return;
    const taken = joined(chunks);
    end(() => atEndOfTick(() => resolve(taken.then((bytes) => ({ bytes, truncated: false }))))); // (B2)
  });
  payload.on('error', senderGone);
  payload.on('close', () => {
    if (!payload.readableEnded) senderGone();
  });
}

async function joined(chunks: readonly Buffer[]): Promise<Buffer> {
  const [first = none] = chunks;
  if (chunks.length <= 1) return first;
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return inTurnsIf(size > joinedAtOnceBytesMax, joining(chunks, size));
}

/** (B5) */
function* joining(chunks: readonly Buffer[], size: number): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(size);
  let copied = 0;
  let stepFrom = 0;
  for (const chunk of chunks) {
    copied += chunk.copy(whole, copied);
    if (copied - stepFrom < joinedAtOnceBytesMax) continue;
    stepFrom = copied;
    yield;
  }
  return whole;
}

const noRoom = (): HttpProblem =>
  new HttpProblem('UNAVAILABLE', 'Too much is on its way at once; send it again, and faster if you can.');
