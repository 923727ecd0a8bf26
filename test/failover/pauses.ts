// How long an installation as a whole stood still: the longest times in which no turn of any thread ended.
import { type History, readHistory } from '@dormouse/testing';
import { type AnsweredAt, byCommit, type Phase } from '../chaos/neighbours.ts';

/** Milliseconds, by name of a phase: a time without the end of a turn counts in the phase that has most of it. */
export function longestPauses(ends: readonly number[], phases: readonly Phase[]): Readonly<Record<string, number>> {
  const sorted = ends.toSorted((one, other) => one - other);
  const longest = new Map(phases.map(({ name }) => [name, 0]));
  for (const [place, end] of sorted.entries()) {
    const begin = sorted[place - 1];
    if (begin === undefined) continue;
    const shares = phases.map(({ name, from, until }) => ({
      name,
      share: Math.min(end, until) - Math.max(begin, from),
    }));
    const most = shares.reduce((one, other) => (other.share > one.share ? other : one), { name: '', share: 0 });
    if (most.share > 0) longest.set(most.name, Math.max(longest.get(most.name) ?? 0, end - begin));
  }
  return Object.fromEntries(longest);
}

/** When each turn ended: its final answer came. */
export function turnEnds(history: History, answeredAt: AnsweredAt = byCommit): readonly number[] {
  return readHistory(history).threads.flatMap(({ key, events }) =>
    events.flatMap(({ event, ...place }) =>
      event.type === 'CompletionRecorded' && event.final ? [answeredAt(key.thread, place)] : [],
    ),
  );
}
