// Lists that grow while several events are folded at once, so that a fold is linear in its events, not quadratic.
//
// Invariants:
//   G1. A list that existed before the fold, or that another fold made, is never changed: it is copied once, and the
//       copy grows in place.
//   G2. A caller that keeps a value from the middle of a fold goes on with a new `GrowingLists`; one that is used for a
//       single event makes every step a value of its own.
export class GrowingLists {
  readonly #made = new WeakSet<readonly unknown[]>();

  /** The list with these items appended; the list itself, when this fold has made it. */
  append<Item>(list: readonly Item[], items: readonly Item[]): readonly Item[] {
    const grown = this.#made.has(list) ? (list as Item[]) : [...list];
    for (const item of items) grown.push(item);
    this.#made.add(grown);
    return grown;
  }
}
