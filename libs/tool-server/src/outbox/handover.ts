/**
 * Owns: the transfer of a family's subscriptions and memory from this server to another one of its kind, and their
 * adoption there. RAP migration, for servers that are given a key of both.
 *
 * X1. A piece is sealed with that key: it can be neither read nor made without it. It is good for five minutes, so that
 *     nothing that has ended since can be restored. T45
 * X2. The destination answers 200 when everything of a piece is stored; the same piece again changes nothing.
 * X3. This server releases a subscription when all pieces were taken, and not before; queued messages are still sent
 *     from here. The tool's `ended` is not called: nothing has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Migrate } from '@dormouse/protocol';
import type { MovedSubscription, Subscription, Subscriptions } from '../call/subscription.ts';
import type { ThreadStore } from '../call/thread-store.ts';
import { createVault } from '../ask/vault.ts';

export const handoverPath = '/handover';

const validMs = 300_000;
const subscriptionsPerPieceMax = 20;
const attemptsMax = 3;
const pauseMs = 200;

interface Piece {
  readonly sentAt: number;
  readonly family: string;
  readonly memory: Readonly<Record<string, unknown>>;
  readonly subscriptions: readonly MovedSubscription[];
}

export interface Handover {
  /** Sends everything of a family. @throws Error when the destination refuses it; then nothing is released here. */
  readonly send: (notice: Migrate, signal: AbortSignal) => Promise<void>;
  /** Takes one piece. The status for its sender. */
  readonly take: (body: Uint8Array) => number;
}

export function createHandover(options: {
  readonly key: Uint8Array;
  readonly subscriptions: Subscriptions;
  readonly threads: ThreadStore;
  /** Calls a tool with a subscription that was adopted here. */
  readonly arrived: (subscription: Subscription) => void;
  readonly log: (line: string) => void;
}): Handover {
  const { subscriptions, threads, arrived, log } = options;
  const vault = createVault(options.key);

  async function post(url: string, piece: Piece, signal: AbortSignal): Promise<void> {
    const body = Buffer.from(vault.seal('handover', piece));
    for (let attempt = 1; ; attempt++) {
      const status = await statusOf(url, body, signal);
      if (status === 200) return;
      if (attempt === attemptsMax || (status !== null && status < 500))
        throw new Error(`the destination answered ${status ?? 'nothing'}`);
      await sleep(attempt * pauseMs, undefined, { signal });
    }
  }

  return {
    async send({ sessionId, destinationUrl }, signal) {
      const url = `${destinationUrl.replace(/\/+$/, '')}${handoverPath}`;
      const moved = subscriptions.family(sessionId);
      const memory = threads.remembered(sessionId);
      for (let from = 0; from === 0 || from < moved.length; from += subscriptionsPerPieceMax) {
        const some = moved.slice(from, from + subscriptionsPerPieceMax);
        await post(url, { sentAt: Date.now(), family: sessionId, memory, subscriptions: some }, signal);
      }
      for (const { id } of moved) if (id !== undefined) subscriptions.letGo(id); // (X3)
      log(`${moved.length} subscription(s) of ${sessionId} were handed over`);
    },
    take(body) {
      const piece = openPiece(body);
      if (piece === null) return 403; // (X1)
      if (Math.abs(Date.now() - piece.sentAt) > validMs) return 410;
      threads.remember(piece.family, piece.memory);
      const adopted = piece.subscriptions.flatMap((moved) => subscriptions.adopt(moved) ?? []); // (X2)
      for (const subscription of adopted) arrived(subscription);
      return 200;
    },
  };

  function openPiece(body: Uint8Array): Piece | null {
    try {
      return vault.open('handover', body) as Piece;
    } catch {
      return null; // sealed with another key, or not at all: untrusted
    }
  }
}

/** Null when there was no answer. */
async function statusOf(url: string, body: Buffer, signal: AbortSignal): Promise<number | null> {
  const headers = { 'content-type': 'application/octet-stream' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}
