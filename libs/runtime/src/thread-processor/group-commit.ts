// Group commit: commits of different threads that are ready together go to the store in one durable write.
//
// Invariants:
//   G1. At most `groupsInFlightMax` groups are at the store, which may carry them out one after the other or at once. What
//       arrives meanwhile is collected, and leaves when one is answered: before those who waited for it are told, because
//       what they do next takes longer than sending. No timers.
//   G2. A group is bounded in commits and bytes; what does not fit goes first in the next one, in the order of arrival. What was
//       given together stays together.
//   G3. Each commit gets its own outcome, and whoever gave one that failed its own failure; a flush that throws fails every commit
//       of it. Of commits that were given together, one behind another is worth nothing when it fails. (L8)
//   G4. The store is told of a commit that is about to come while little is going on: then its way is as long as it takes to wake
//       the store and to carry it out. Else the store is awake, or has others to wait for. It is told once that one comes, and once
//       which, before the next append: a slice may end without a commit, and another may be ready earlier, and go before it.
import type { Append, AppendAnswer, AppendOutcome, ThreadLog } from '@dormouse/ports';

export interface GroupCommit {
  /** An append follows at once; this very one, when it is known already. */
  expect(append?: Append): void;
  /** Of one thread, in the order of its log. @throws why the first of them failed: the outcome has to be read back then. */
  append(appends: readonly Append[]): Promise<readonly AppendOutcome[]>;
}

interface Waiting {
  readonly appends: readonly Append[];
  resolve(outcomes: readonly AppendOutcome[]): void;
  reject(reason: unknown): void;
}

export function createGroupCommit(
  log: Pick<ThreadLog, 'append' | 'expectAppend'>,
  limits: { readonly groupCommitsMax: number; readonly groupBytesMax: number; readonly groupsInFlightMax: number },
): GroupCommit {
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let wasLone = true;
  let isExpected = false;
  let isNamed = false;

  /** (G1) */
  function flushWaiting(): void {
    while (waiting.length > 0 && inFlight < limits.groupsInFlightMax) flush(takeGroup());
  }

  function takeGroup(): readonly Waiting[] {
    const size = groupSize(waiting, limits.groupCommitsMax, limits.groupBytesMax); // (G2)
    const group = size === waiting.length ? waiting : waiting.slice(0, size);
    waiting = size === waiting.length ? [] : waiting.slice(size);
    return group;
  }

  function flush(group: readonly Waiting[]): void {
    const landed = (): void => {
      inFlight -= 1;
      flushWaiting();
    };
    const appended = (answers: readonly AppendAnswer[]): void => {
      landed();
      let next = 0;
      for (const one of group) {
        const [first, ...others] = one.appends.map(() => answers[next++] ?? 'unknown');
        if (first === undefined || first instanceof Error)
          one.reject(first); // (G3)
        else one.resolve([first, ...others.map((answer) => (answer instanceof Error ? 'conflict' : answer))]);
      }
    };
    const failed = (error: unknown): void => {
      landed();
      for (const one of group) one.reject(error); // (G3)
    };
    inFlight += 1;
    wasLone = group.length === 1;
    try {
      log.append(group.flatMap((one) => one.appends)).then(appended, failed);
    } catch (error) {
      queueMicrotask(() => failed(error)); // a group at a time, however many wait
    }
  }

  return {
    expect: (append) => {
      if (!wasLone || inFlight > 0 || waiting.length > 0 || isNamed || (isExpected && append === undefined)) return; // (G4)
      isExpected = true;
      isNamed = append !== undefined;
      log.expectAppend?.(append);
    },
    append: (appends) =>
      new Promise((resolve, reject) => {
        isExpected = false;
        isNamed = false;
        waiting.push({ appends, resolve, reject });
        // One microtask later: whoever became ready in this same turn of the loop rides along.
        if (waiting.length === 1) queueMicrotask(flushWaiting);
      }),
  };
}

/** How many from the head fit: always at least one. */
function groupSize(waiting: readonly Waiting[], commitsMax: number, bytesMax: number): number {
  let bytes = 0;
  let commits = 0;
  let size = 0;
  for (const { appends } of waiting) {
    commits += appends.length;
    for (const { commit } of appends) bytes += commit.body.length;
    if (size > 0 && (commits > commitsMax || bytes > bytesMax)) break;
    size += 1;
  }
  return size;
}
