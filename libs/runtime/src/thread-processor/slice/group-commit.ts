// Group commit: commits of different threads that are ready together go to the store in one durable write.
//
// Invariants:
//   G1. At most `groupsInFlightMax` groups are at the store, which may carry them out one after the other or at once.
//       Commits that arrive meanwhile are collected; when a group is answered the next one is sent first and the
//       callers are resolved after that, because what they do next takes longer than sending. No timers.
//   G2. A group is bounded in commits and bytes; what does not fit goes first in the next one, in the order of arrival.
//   G3. Each commit gets its own outcome, and the caller of a failed one its own failure; a flush that throws fails
//       every commit of it. (thread-log L8)
import type { Append, AppendAnswer, AppendOutcome, ThreadLog } from '@dormouse/ports';

export interface GroupCommit {
  /** @throws why it failed: the outcome has to be read back then. */
  append(append: Append): Promise<AppendOutcome>;
}

interface Waiting {
  readonly append: Append;
  resolve(outcome: AppendOutcome): void;
  reject(reason: unknown): void;
}

export function createGroupCommit(
  log: Pick<ThreadLog, 'append'>,
  limits: { readonly groupCommitsMax: number; readonly groupBytesMax: number; readonly groupsInFlightMax: number },
): GroupCommit {
  let waiting: Waiting[] = [];
  let inFlight = 0;

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
      for (const [place, one] of group.entries()) {
        const answer = answers[place] ?? 'unknown';
        if (answer instanceof Error)
          one.reject(answer); // (G3)
        else one.resolve(answer);
      }
    };
    const failed = (error: unknown): void => {
      landed();
      for (const one of group) one.reject(error); // (G3)
    };
    inFlight += 1;
    try {
      log.append(group.map((one) => one.append)).then(appended, failed);
    } catch (error) {
      queueMicrotask(() => failed(error)); // deferred, so that many waiting groups do not recurse
    }
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        waiting.push({ append, resolve, reject });
        // One microtask later: commits that become ready in the same tick share the group.
        if (waiting.length === 1) queueMicrotask(flushWaiting);
      }),
  };
}

/** How many from the head fit: always at least one. */
function groupSize(waiting: readonly Waiting[], commitsMax: number, bytesMax: number): number {
  let bytes = 0;
  let size = 0;
  for (const { append } of waiting) {
    bytes += append.commit.body.length;
    if (size > 0 && (size === commitsMax || bytes > bytesMax)) break;
    size += 1;
  }
  return size;
}
