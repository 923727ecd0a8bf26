// Orphaned completions, whose lane is gone with its assignment: they linger for a while, because the partition may come
// back, and a model that was paid for once need not be asked again.
//
// Invariants:
//   B1. Only the lane that owes the very same completion may adopt it; with holds of its own, the old ones are gone.
//       (V6)
//   B2. An answer that comes meanwhile is kept. A run that is not adopted within `leftCompletionMsMax` is broken off.
//   B3. A run that has not begun is not kept: it would delay other runs in the slot queue, and nothing was paid for it.
import type { ThreadKey } from '@dormouse/ports';
import type { CompletionRun } from './completion-run.ts';

interface Left {
  readonly run: CompletionRun;
  readonly since: number;
}

export class LeftCompletions {
  readonly #left = new Map<string, Left>();

  get size(): number {
    return this.#left.size;
  }

  add(run: CompletionRun, now: number): void {
    if (run.state === 'aborted') return;
    const name = nameOf(run.key, run.completionId);
    const before = this.#left.get(name)?.run;
    if (before !== run) before?.abort();
    this.#left.set(name, { run, since: now });
  }

  /** (B1) */
  take(key: ThreadKey, completionId: string): CompletionRun | null {
    const name = nameOf(key, completionId);
    const found = this.#left.get(name);
    this.#left.delete(name);
    return found === undefined || found.run.state === 'aborted' ? null : found.run;
  }

  /** Breaks off the runs that were orphaned before `since`. (B2) */
  breakOff(since: number): void {
    for (const [name, left] of this.#left) {
      if (left.since > since) continue;
      this.#left.delete(name);
      left.run.abort();
    }
  }
}

const nameOf = ({ tenant, thread }: ThreadKey, completionId: string): string => `${tenant}:${thread}:${completionId}`;
