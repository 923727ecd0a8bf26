// Where threads end, as far as this process has seen: what lets a commit be stored without asking first.
//
// Invariants:
//   K1. A log only grows, so a remembered end is an end that was: who appends below it is too late for certain, who appends
//       at it races on `_id`, who appends above it must ask.
import type { ThreadKey } from '@dormouse/ports';

const generationMax = 50_000;

/** Versions that the next commit of each thread would have; bounded by forgetting the older of two generations. */
export class KnownHeads {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  of(key: ThreadKey): number | null {
    const name = nameOf(key);
    return this.#young.get(name) ?? this.#old.get(name) ?? null;
  }

  /** A commit that ends here is in the log. */
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
