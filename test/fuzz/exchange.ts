// One case on one socket: bytes out in a manner, and what came back, read without any help of an HTTP client.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { between, mulberry32 } from '../chaos/random.ts';
import type { Manner } from './fuzz-case.ts';
import { readAnswers, type RawAnswer } from './read-answers.ts';

export interface Parcel {
  readonly host: string;
  readonly port: number;
  readonly bytes: Buffer;
  readonly manner: Manner;
  /** Methods of the requests in it, in order: an answer to HEAD has no body. */
  readonly methods: readonly string[];
  /** After so many answers it is over. */
  readonly answersMax: number;
  readonly seed: number;
  readonly withinMs: number;
}

export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** What ended it: the server, the last answer that was wanted, or the clock. */
  readonly ended: 'by_server' | 'answered' | 'late';
  /** Bytes behind the last whole answer. */
  readonly rest: Buffer;
}

const piecesMax = 12;
const pauseMsMax = 15;

export function exchange(parcel: Parcel): Promise<Exchange> {
  const { host, port, methods, answersMax, withinMs } = parcel;
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  let received = Buffer.alloc(0);
  const end = (ended: Exchange['ended']): void => {
    clearTimeout(timer);
    const { answers, rest } = readAnswers(received, methods, ended === 'by_server');
    socket.destroy();
    resolve({ answers, ended, rest });
  };
  const timer = setTimeout(() => end('late'), withinMs);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const { answers } = readAnswers(received, methods, false);
    if (answers.length >= answersMax && answers.every(({ isWhole, isStream }) => isWhole || isStream)) end('answered');
  });
  for (const event of ['end', 'close', 'error'] as const) socket.once(event, () => end('by_server'));
  socket.once('connect', () => void send(socket, parcel).then(() => parcel.manner === 'aborted' && end('answered')));
  return promise;
}

async function send(socket: Socket, { bytes, manner, seed }: Parcel): Promise<void> {
  const random = mulberry32(seed);
  switch (manner) {
    case 'whole':
    case 'pipelined':
      return write(socket, bytes);
    case 'half_closed':
      await write(socket, bytes);
      return void socket.end();
    case 'aborted':
      await write(socket, bytes.subarray(0, Math.floor(between(random, 0, bytes.length))));
      return sleep(between(random, 0, pauseMsMax));
    case 'pieces':
    case 'slow':
      for (const piece of cut(bytes, random)) {
        await write(socket, piece);
        await sleep(manner === 'slow' ? between(random, 1, pauseMsMax) : 0);
      }
  }
}

/** Resolves also when the other side has gone: what came back tells. */
const write = (socket: Socket, bytes: Buffer): Promise<void> =>
  socket.destroyed || bytes.length === 0
    ? Promise.resolve()
    : new Promise((resolve) => socket.write(bytes, () => resolve()));

function cut(bytes: Buffer, random: () => number): readonly Buffer[] {
  const count = 1 + Math.floor(random() * piecesMax);
  const cuts = Array.from({ length: count }, () => Math.floor(random() * bytes.length)).toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
}
