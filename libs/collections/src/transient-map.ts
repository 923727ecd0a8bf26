// Maps and sets for short-lived members: calls in flight, timers, lanes, waiters.
//
// A JavaScript map whose members change all the time is copied into a new table again and again. The old tables, which
// are no longer used, still refer to the members they had. Once such a table is in the old generation, everything that
// hangs on it counts as old too, until the next full collection: with a few thousand short-lived members per second,
// this is most of the collector's work. Here a table holds a cell for each member, and removal empties the cell.
//
// Invariants:
//   T1. A deleted value is reachable neither from here nor from an old table. Keys are: keep them small.
//   T2. Members are visited in the order of insertion, as in a map; deleting and adding meanwhile is allowed.

interface Cell<Value> {
  value: Value | null;
}

export class TransientMap<Key, Value extends NonNullable<unknown>> {
  readonly #cells = new Map<Key, Cell<Value>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value ?? undefined;
  }

  has(key: Key): boolean {
    return this.#cells.has(key);
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  delete(key: Key): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = null; // (T1)
    return this.#cells.delete(key);
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = null;
    this.#cells.clear();
  }

  keys(): IterableIterator<Key> {
    return this.#cells.keys();
  }

  *entries(): IterableIterator<readonly [Key, Value]> {
    for (const [key, { value }] of this.#cells) if (value !== null) yield [key, value];
  }

  *values(): IterableIterator<Value> {
    for (const { value } of this.#cells.values()) if (value !== null) yield value;
  }
}

/** A member's place in a set: its holder can remove the member. */
export interface Ticket<Member> {
  /** Null when it was removed. */
  readonly member: Member | null;
}

interface Place<Member> extends Ticket<Member> {
  member: Member | null;
  previous: Place<Member> | null;
  next: Place<Member> | null;
}

/** A member is removed by its ticket; the same member may be here twice. A chain: removal needs no look-up. */
export class TransientSet<Member extends NonNullable<unknown>> {
  #first: Place<Member> | null = null;
  #last: Place<Member> | null = null;
  #size = 0;
  /** The next place of each walk. Few at a time, mostly none. (T2) */
  #walks: { next: Place<Member> | null }[] = [];

  get size(): number {
    return this.#size;
  }

  add(member: Member): Ticket<Member> {
    const place: Place<Member> = { member, previous: this.#last, next: null };
    if (this.#last === null) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    for (const walk of this.#walks) walk.next ??= place;
    this.#size += 1;
    return place;
  }

  /** False when it was removed before. */
  delete(ticket: Ticket<Member>): boolean {
    const place = ticket as Place<Member>;
    if (place.member === null) return false;
    const { previous, next } = place;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    for (const walk of this.#walks) if (walk.next === place) walk.next = next;
    place.member = place.previous = place.next = null; // (T1)
    this.#size -= 1;
    return true;
  }

  clear(): void {
    while (this.#first !== null) this.delete(this.#first);
  }

  *values(): IterableIterator<Member> {
    const walk = { next: this.#first };
    this.#walks.push(walk);
    try {
      while (walk.next !== null) {
        const { member, next }: Place<Member> = walk.next;
        walk.next = next;
        if (member !== null) yield member;
      }
    } finally {
      this.#walks = this.#walks.filter((other) => other !== walk);
    }
  }
}
