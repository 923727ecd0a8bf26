// Maps and sets for what comes and goes: calls in flight, timers, lanes, whoever waits.
//
// A JavaScript map whose members change all the time is copied into a new table again and again. The tables before, which
// nobody sees any more, still hold whatever was a member when they were left. Once they are old, everything that hangs on it
// counts as old too, until the next full collection: with a few thousand short-lived members per second, most of the
// collector's work is that. Here a table holds a cell for each member, and a member that leaves empties its cell.
//
// Invariants:
//   T1. No value is reachable from here, nor from a table that was left, once it was deleted. Keys are: keep them small.
//   T2. Members are visited in the order in which they came, as in a map; deleting and adding meanwhile is allowed.

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

/** Members leave by the ticket that they were given; the same member may be here twice. */
export class TransientSet<Member extends NonNullable<unknown>> {
  readonly #members = new TransientMap<number, Member>();
  #tickets = 0;

  get size(): number {
    return this.#members.size;
  }

  add(member: Member): number {
    this.#tickets += 1;
    this.#members.set(this.#tickets, member);
    return this.#tickets;
  }

  /** False when it had left before. */
  delete(ticket: number): boolean {
    return this.#members.delete(ticket);
  }

  clear(): void {
    this.#members.clear();
  }

  values(): IterableIterator<Member> {
    return this.#members.values();
  }
}
