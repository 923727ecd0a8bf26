// A bounded LRU memory.
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  set<Kind extends Value>(key: string, value: Kind): Kind;
  drop(key: string): void;
}

/** Keeps values up to `weightMax` together; each weighs 1 unless `weightOf` says more. A heavier value is not kept. */
export function createBoundedMap<Value>(
  weightMax: number,
  weightOf: (value: Value) => number = () => 1,
): BoundedMap<Value> {
  const values = new Map<string, Value>();
  let weight = 0;
  let newest: string | null = null;

  function drop(key: string): void {
    const value = values.get(key);
    if (value === undefined) return;
    weight -= weightOf(value);
    values.delete(key);
  }

  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined || key === newest) return value;
      values.delete(key);
      values.set(key, value);
      newest = key;
      return value;
    },
    set(key, value) {
      drop(key);
      const added = weightOf(value);
      if (added > weightMax) return value;
      values.set(key, value);
      weight += added;
      newest = key;
      for (const oldest of values.keys()) {
        if (weight <= weightMax) break;
        drop(oldest);
      }
      return value;
    },
    drop,
  };
}
