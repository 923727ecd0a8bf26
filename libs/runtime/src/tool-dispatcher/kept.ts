// A bounded memory: the value that was not used for longest goes first.
export interface Kept<Value> {
  get(key: string): Value | undefined;
  set<Kind extends Value>(key: string, value: Kind): Kind;
  drop(key: string): void;
}

export function createKept<Value>(max: number): Kept<Value> {
  const values = new Map<string, Value>();
  let newest: string | null = null;
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
      values.delete(key);
      values.set(key, value);
      newest = key;
      if (values.size > max)
        for (const oldest of values.keys()) {
          values.delete(oldest);
          break;
        }
      return value;
    },
    drop: (key) => void values.delete(key),
  };
}
