// Reference counts of deliveries: a delivery stays unreleased while a holder needs it. Owns the counting; what is owed
// is decided by the holders.
//
// A delivery is held by the slice that pays for it, by every receipt that is not handled yet, and by the completion
// that its commit requested. The input that ends the completion (its answer, or a superseding one) takes over its hold.
//
// Invariants:
//   H1. A delivery is released exactly once, when the last holder drops it. (V1, V2)
//   H2. `absorb` takes over one retain of the other hold: nothing is released meanwhile, nothing is counted twice.
//   H3. Newer holds absorb older ones, and a late duplicate is a leaf: no cycles. A hold whose only holder hands it
//       over is emptied into the new one, so that a thread that never rests grows no chain.
//   H4. Of a delivery only its `release` is kept: its content is decided, and thousands of holds may wait.
import type { ThreadDelivery } from '@dormouse/ports';

export class Hold {
  #retains = 1;
  #releases: (() => void)[];
  #absorbed: Hold[] = [];

  /** Held once, by its maker. */
  constructor(deliveries: readonly Pick<ThreadDelivery, 'release'>[] = []) {
    this.#releases = deliveries.map(({ release }) => release); // (H4)
  }

  get isOpen(): boolean {
    return this.#retains > 0;
  }

  retain(): this {
    if (!this.isOpen) throw new Error('a released delivery cannot be held again');
    this.#retains += 1;
    return this;
  }

  /** One holder less; the last one releases everything. */
  drop(): void {
    if (!this.isOpen) throw new Error('dropped more often than held');
    this.#retains -= 1;
    if (this.#retains > 0) return;
    for (const release of this.#releases) release();
    for (const other of this.#absorbed) other.drop();
    this.#empty();
  }

  /** Takes over one retain of `other` (H2): what it holds is released with this hold, not before. */
  absorb(other: Hold): void {
    if (other.#retains > 1) {
      this.#absorbed.push(other);
      return;
    }
    other.#retains = 0; // (H3)
    this.#takeReleases(other.#releases);
    for (const inner of other.#absorbed) this.absorb(inner);
    other.#empty();
  }

  /** The shorter list moves: a chain of any length costs its length times its logarithm, not its square. */
  #takeReleases(others: (() => void)[]): void {
    const [longer, shorter] =
      others.length > this.#releases.length ? [others, this.#releases] : [this.#releases, others];
    for (const release of shorter) longer.push(release);
    this.#releases = longer;
  }

  #empty(): void {
    this.#releases = [];
    this.#absorbed = [];
  }
}
