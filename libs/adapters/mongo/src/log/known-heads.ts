// Where threads end, as far as this process has seen: with it a commit is stored without a query first.
//
// Invariants:
//   K1. A log only grows, so a remembered end was an end once: an append below it is certainly too late, an append at
//       it races on `_id`, an append above it must query.
//   K2. A thread that was removed may begin again: its first commit races on `_id` whatever is remembered, and where it
//       is stored, the log ends behind it.
import type { ThreadKey } from '@dormouse/ports';

const generationMax = 50_000;

/** The version of each thread's next commit; bounded by forgetting the older of two generations. */
export class KnownHeads {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  of(key: ThreadKey): number | null {
    const name = nameOf(key);
    return this.#young.get(name) ?? this.#old.get(name) ?? null;
  }

  /** The first commit of the thread was stored just now. (K2) */
  began(key: ThreadKey, next: number): void {
    this.#old.delete(nameOf(key));
    this.#young.delete(nameOf(key));
    this.saw(key, next);
  }

  /** The log holds a commit that ends here. */
  saw(key: ThreadKey, next: number): void {
    const known = this.of(key);
    if (known !== null && known >= next) return;
    if (this.#young.size >= generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(nameOf(key), next);
  }
}

const nameOf = (key: ThreadKey): string => `${key.tenant} ${key.thread}`;
