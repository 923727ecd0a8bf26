// Completions whose lane is gone with its assignment: they go on by themselves for a while, because the partition may come
// back, and a model that was paid for once need not be asked again. design §5
//
// Invariants:
//   B1. Only the lane that owes the very same completion may take it over; it brings the holds, those of before are gone. (V6)
//   B2. An answer that comes meanwhile is kept. Whatever nobody takes over within `leftCompletionMsMax` is broken off.
//   B3. What has not begun is not kept: it would hold back those who wait for a slot, and nothing was paid for it.
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

  /** Breaks off those that were left before `since`. (B2) */
  breakOff(since: number): void {
    for (const [name, left] of this.#left) {
      if (left.since > since) continue;
      this.#left.delete(name);
      left.run.abort();
    }
  }
}

const nameOf = ({ tenant, thread }: ThreadKey, completionId: string): string => `${tenant}:${thread}:${completionId}`;
