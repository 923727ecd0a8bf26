// The largest of some weights that come and go. There are few different ones.

export interface Heaviest {
  add(weight: number): void;
  delete(weight: number): void;
  /** 1 for none. */
  readonly weight: number;
}

export function createHeaviest(): Heaviest {
  const counts = new Map<number, number>();
  let heaviest = 1;
  const find = (): number => (counts.size === 0 ? 1 : Math.max(...counts.keys()));
  return {
    add(weight) {
      const count = counts.get(weight) ?? 0;
      counts.set(weight, count + 1);
      if (count === 0) heaviest = find();
    },
    delete(weight) {
      const count = counts.get(weight) ?? 0;
      if (count > 1) counts.set(weight, count - 1);
      else if (counts.delete(weight)) heaviest = find();
    },
    get weight() {
      return heaviest;
    },
  };
}
