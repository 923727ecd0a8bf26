// Deficit round robin (Shreedhar and Varghese, 1995): which of the waiting keys is served next, by their weights. A
// pure decision: what is waiting, and what a service is, belongs to the caller.
//
// Invariants:
//   D1. Work-conserving: while a key may be served, one is.
//   D2. Keys that wait all the time are served in proportion to their weights; of equal weights none is served twice
//       before another that may be served is served once.
//   D3. A key saves nothing up: one that does not wait has no deficit, and one that may not be served gets no more.
//   D4. A step takes one pass over the keys, or two, whatever the weights are.

export interface DeficitRounds<Key> {
  /** Behind those that wait already; nothing for one that waits. */
  add(key: Key): void;
  /** It does not wait any more. (D3) */
  delete(key: Key): void;
  /** Serves the next of those that may be served; null for none. It goes on waiting until it is deleted. */
  next(mayBeServed: (key: Key) => boolean): Key | null;
}

/** Sums of weights are not exact. */
const almost = 1e-9;

/** `weightOf`: above 0; asked anew in every round. */
export function createDeficitRounds<Key>(weightOf: (key: Key) => number): DeficitRounds<Key> {
  /** What each key may still be served in this round, in the order of service. */
  const deficits = new Map<Key, number>();

  const isEnough = (deficit: number): boolean => deficit >= 1 - almost;

  function serve(key: Key, deficit: number): Key {
    const left = deficit - 1;
    if (!isEnough(left)) deficits.delete(key); // to the end
    deficits.set(key, left);
    return key;
  }

  /** Begins as many rounds as one of the keys needs. */
  function beginRounds(keys: readonly Key[]): Key | null {
    const lackOf = (key: Key): number => (1 - almost - (deficits.get(key) ?? 0)) / weightOf(key);
    const rounds = Math.ceil(Math.min(...keys.map(lackOf)));
    let first: Key | null = null;
    for (const key of keys) {
      const deficit = (deficits.get(key) ?? 0) + rounds * weightOf(key);
      deficits.set(key, deficit);
      if (isEnough(deficit)) first ??= key;
    }
    return first;
  }

  return {
    add: (key) => void (deficits.has(key) || deficits.set(key, 0)),
    delete: (key) => void deficits.delete(key),
    next(mayBeServed) {
      const able: Key[] = [];
      for (const [key, deficit] of deficits) {
        if (!mayBeServed(key)) continue;
        if (isEnough(deficit)) return serve(key, deficit);
        able.push(key);
      }
      if (able.length === 0) return null;
      const first = beginRounds(able);
      return first === null ? null : serve(first, deficits.get(first) ?? 1);
    },
  };
}
