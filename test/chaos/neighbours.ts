// How long healthy threads waited for their answers, in each phase of a run: from the first byte of a message to the
// commit that holds the answer of its turn, outages of the gateways included. Measured are the threads whose messages
// wait for the turn that runs. When an answer came is read from its commit, by the clock of the process that wrote it,
// or given by a client that saw it.
import { type History, type Reading, readHistory } from '@dormouse/testing';
import type { onInterrupts } from '../recovery/workload.ts';

export interface Phase {
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/** Around each fault, and the time between them. A message that is sent just before a fault waits for it, too. */
export function phasesOfFaults(all: Phase, faults: readonly Phase[]): readonly Phase[] {
  const around = faults
    .map(({ name, from, until }) => ({ name: `faults: ${name}`, from: from - beforeMs, until: until + afterMs }))
    .toSorted((one, other) => one.from - other.from);
  const between = [...around, { from: all.until, until: all.until }].map(({ from }, place) => ({
    name: 'faults: at other times',
    from: around[place - 1]?.until ?? all.from,
    until: from,
  }));
  return [...around, ...between];
}

const beforeMs = 1_000;
const afterMs = 5_000;

export interface Waits {
  /** Messages that were sent in this phase. */
  readonly messages: number;
  /** Of them: answered before the phase was over. */
  readonly inTime: number;
  /** Of them: not answered at all. */
  readonly never: number;
  /** Milliseconds, of those that were answered at any time; null when none was. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

type ReadingThread = Reading['threads'][number];
/** When the answer at this position of a thread came, in milliseconds since 1970. */
export type AnsweredAt = (
  thread: string,
  place: Pick<ReadingThread['events'][number], 'commit' | 'position'>,
) => number;

export const byCommit: AnsweredAt = (_, { commit }) => commit.at;

const measured: (typeof onInterrupts)[number] = 'queue';

export function waitsOf(
  history: History,
  toolServer: string,
  phases: readonly Phase[],
  answeredAt: AnsweredAt = byCommit,
): Readonly<Record<string, Waits>> {
  const { threads } = readHistory(history);
  const answers = new Map(
    threads
      .filter((thread) => isMeasured(thread, toolServer))
      .map((thread) => [thread.key.thread, answersOf(thread, answeredAt)]),
  );
  // An acknowledged message that is in no log was never answered.
  const said = history.requests.flatMap(({ kind, key, messageId, sentAt }) => {
    const answered = answers.get(key.thread);
    return kind !== 'message' || messageId === null || answered === undefined
      ? []
      : [{ sentAt, answeredAt: answered.get(messageId) ?? null }];
  });
  return Object.fromEntries(
    [...Map.groupBy(phases, ({ name }) => name)].map(([name, times]) => {
      const here = said.flatMap(({ sentAt, answeredAt }) => {
        const time = times.find(({ from, until }) => sentAt >= from && sentAt < until);
        return time === undefined ? [] : [{ sentAt, answeredAt, until: time.until }];
      });
      const waited = here
        .flatMap(({ sentAt, answeredAt }) => (answeredAt === null ? [] : [answeredAt - sentAt]))
        .toSorted((one, other) => one - other);
      const waits: Waits = {
        messages: here.length,
        inTime: here.filter(({ answeredAt, until }) => answeredAt !== null && answeredAt < until).length,
        never: here.length - waited.length,
        ...{ p50: quantile(waited, 0.5), p99: quantile(waited, 0.99), max: waited.at(-1) ?? null },
      };
      return [name, waits];
    }),
  );
}

function isMeasured(thread: ReadingThread, toolServer: string): boolean {
  const opened = thread.events[0]?.event;
  return (
    opened?.type === 'ThreadOpened' &&
    opened.policies.onInterrupt === measured &&
    opened.toolServers.includes(toolServer)
  );
}

/** Message to the moment of the first final answer behind it. */
function answersOf({ key, events }: ReadingThread, answeredAt: AnsweredAt): ReadonlyMap<string, number> {
  const answers = new Map<string, number>();
  let waiting: string[] = [];
  for (const { event, ...place } of events) {
    if (event.type === 'MessageAccepted') waiting.push(event.messageId);
    if (event.type !== 'CompletionRecorded' || !event.final) continue;
    for (const message of waiting) answers.set(message, answeredAt(key.thread, place));
    waiting = [];
  }
  return answers;
}

const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
