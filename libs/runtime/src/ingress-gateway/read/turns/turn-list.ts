// Pages of a thread's turns. Owns which commits are read for a page; what they mean is in turn-steps.ts.
//
// Invariants:
//   U1. A page reads the log in blocks, from its cursor on: to the turn after its last one, and then as long as a step
//       of the page is open and yet not open at the end of the log. What is kept is bounded. (turn-steps P6)
//   U2. A cursor is the position before the event that begins the next turn. (lineage N2)
//   U3. A turn is the same, whether it is listed or asked for by its id.
//   U4. The list is of the thread's own log; what a fork or a child inherits is listed by the thread that it is from.
import type { ThreadKey, ThreadLog, Page } from '@dormouse/ports';
import { inputIds, type Thread } from '@dormouse/thread';
import type { IngressParts } from '../../ingress-ports.ts';
import { loadThread } from '../../../log/thread-reader.ts';
import { inputIdOf } from '../../access/client-id.ts';
import { answered, type Answered, notFound } from '../../refusal.ts';
import { commitsAfter, lastEventBefore, placedEvents } from '../log-scan.ts';
import { callsOf, withAttempts } from './attempt-steps.ts';
import { createOrigins } from './turn-origins.ts';
import { bringsSomething, type PlacedTurn, TurnFold } from './turn-steps.ts';
import type { Turn } from './turn.ts';

export interface TurnPage {
  /** Only turns that begin after this position. */
  readonly after: number;
  readonly limit: number;
  /** Only this one. */
  readonly turn: string | null;
}

export interface TurnApi {
  /** In the order in which they began. */
  list(key: ThreadKey, page: TurnPage): Promise<Answered<Page<Turn>>>;
}

export type TurnPorts = Pick<IngressParts, 'log' | 'snapshots' | 'ledger' | 'callbackCounts' | 'threads'>;

/** A page with so many steps ends before its limit of turns. */
const stepsPerPageMax = 5_000;

export function createTurnApi(ports: TurnPorts): TurnApi {
  const { threads } = ports;
  return {
    async list(key, { after, limit, turn }) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      if (turn === null) return answered(await listed(ports, key, after, limit));
      const position = await beginningOf(ports.log, key, turn);
      return position === null
        ? notFound('turn')
        : answered({ ...(await listed(ports, key, position - 1, 1)), nextCursor: null });
    },
  };
}

async function listed(ports: TurnPorts, key: ThreadKey, after: number, limit: number): Promise<Page<Turn>> {
  const { shown, next } = await folded(ports, key, after, limit);
  const calls = shown.flatMap(({ turn }) => callsOf(turn));
  const [made, counts] =
    calls.length === 0
      ? [[], []]
      : await Promise.all([ports.ledger.attempts(key, calls), ports.callbackCounts.read(key, calls)]);
  const attempts = Map.groupBy(made, ({ toolCallId }) => toolCallId);
  const data = shown.map(({ turn }) => withAttempts(key, turn, attempts, counts));
  return { data, nextCursor: next === null ? null : String(next - 1) }; // (U2)
}

interface Folded {
  readonly shown: readonly PlacedTurn[];
  /** Position of the event that begins the next turn. */
  readonly next: number | null;
}

/** (U1) */
async function folded(ports: TurnPorts, key: ThreadKey, after: number, limit: number): Promise<Folded> {
  const { log, threads } = ports;
  const before = after === 0 ? null : await lastEventBefore(log, key, after + 1, bringsSomething);
  const from = before === null ? 0 : after; // what comes before the first turn belongs to it
  const fold = new TurnFold(key, before?.event.turnId ?? null);
  const originsOf = createOrigins(log, key);
  let next: number | null = null;
  for await (const commit of commitsAfter(log, key, from)) {
    await threads.announce(commit);
    fold.take(commit, await originsOf(commit, fold), from);
    if (!fold.isFull) {
      const kept = fold.size > limit ? limit : fold.size - 1;
      if (fold.size <= limit && (kept === 0 || fold.steps < stepsPerPageMax)) continue;
      next = fold.turns()[kept]?.position ?? null;
      fold.fill(kept);
      if (fold.openIds.length > 0) fold.leaveOpen(openIn((await loadThread(ports, key)).thread));
    }
    if (fold.openIds.length === 0) break;
  }
  return { shown: fold.turns(), next };
}

const openIn = ({ completion, calls, choices, timers, children }: Thread): readonly string[] => [
  ...(completion === null ? [] : [completion.completionId]),
  ...calls.map(({ toolCallId }) => toolCallId),
  ...[choices, timers, children].flatMap((open) => Object.keys(open)),
];

/** Position of the event that begins this turn. */
async function beginningOf(log: ThreadLog, key: ThreadKey, turnId: string): Promise<number | null> {
  const named = [inputIdOf(turnId.slice(turnId.indexOf('_') + 1)), inputIds.timer(turnId), turnId];
  const found = (await log.findByInputs(key, named)).find((commit) => commit !== null);
  // A message that was queued begins its turn later; what is no input of its own is found from the beginning.
  for await (const commit of commitsAfter(log, key, found?.version ?? 0)) {
    const begun = placedEvents(commit).find(
      ({ event }) => event.turnId === turnId && (bringsSomething(event) || event.type === 'TimerFired'),
    );
    if (begun !== undefined) return begun.position;
  }
  return null;
}
