// What a thread waits for, as its view says it: the facts beside the loaded thread, and the reads that they cost.
//
// Invariants:
//   F1. At most three reads are added to those of the thread and of the questions below it: for the call that the
//       sentence names, its attempts, its tool server and which agents are paused; for a completion, which agents are
//       paused; for a parked thread, its mark. A thread that waits for anything else costs none.
//   F2. The time zone of a sleep is the offset that `sleep_until` was called with: the round of the sleep is in the
//       transcript's tail until the next completion, and with that the sleep is over. `sleep` names no zone; then it is
//       UTC.
import type { Question, ThreadRow } from '@dormouse/ports';
import type { TranscriptTail } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import type { LoadedThread } from '../../log/thread-reader.ts';
import type { CallTimes } from './call-times.ts';
import { type LiveCompletion, shownStatus } from './thread-view.ts';
import { firstWait, waitingSentence } from './waiting-sentence.ts';

export type WaitingPorts = Pick<IngressParts, 'ledger' | 'parked' | 'agents' | 'toolServers' | 'clock'>;

/** The thread, and what was learned when it was loaded. */
export interface KnownThread extends Pick<LoadedThread, 'thread' | 'tail'> {
  readonly live: LiveCompletion;
  readonly times: CallTimes;
  /** Of the threads below. */
  readonly questions: readonly Question[];
}

export async function readWaiting(
  { ledger, parked, agents, toolServers, clock }: WaitingPorts,
  row: ThreadRow,
  { thread, tail, live, times, questions }: KnownThread,
): Promise<string | null> {
  const key = { tenant: row.tenant, thread: row.thread };
  const status = shownStatus(row, thread);
  const isParked = status === 'parked';
  const wait = isParked ? undefined : firstWait(thread)?.wait;
  const call = wait?.kind === 'call' && wait.call.waiting.for === 'result' ? wait.call : null;
  const isDone = call !== null || wait?.kind === 'completion';
  const [mark, attempts, server, pausedAgents] = await Promise.all([
    isParked ? parked.get(key) : null,
    call === null ? null : ledger.attempts(key, [call.toolCallId]),
    call === null || call.toolServer === null ? null : toolServers.get(row.tenant, call.toolServer),
    isDone ? agents.paused(row.tenant) : null,
  ]); // (F1)
  return waitingSentence(thread, {
    status,
    ...live,
    createdAt: row.createdAt,
    parked: mark,
    attempts,
    isAgentPaused: pausedAgents?.includes(thread.agent.name) === true,
    isServerPaused: server?.paused === true,
    usual: call === null ? null : times.usual(call.operation, call.toolServer),
    questions,
    zone: wait?.kind === 'sleep' ? zoneOf(tail, wait.timer.due) : null,
    now: clock.now(),
  });
}

/** (F2) */
function zoneOf({ round }: TranscriptTail, due: number): string | null {
  for (const { operation, arguments: given } of round?.calls ?? []) {
    const at = given['at'];
    if (operation !== 'sleep_until' || typeof at !== 'string' || Date.parse(at) !== due) continue;
    const zone = /([+-](?:[01]\d|2[0-3])):?([0-5]\d)$/.exec(at)?.slice(1).join(':') ?? '';
    return /[1-9]/.test(zone) ? zone : null; // `Z` and `+00:00` are UTC
  }
  return null;
}
