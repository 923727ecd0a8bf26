// The one source of chance in a universe: every random decision is drawn here, so a seed determines a universe.
import { seededFraction } from '@dormouse/adapter-memory';

export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** An integer in [0, limit). */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  const fraction = seededFraction(Math.imul(seed + 1, 2_654_435_761));
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    // A probability of zero draws nothing: turning a fault off does not move the others.
    chance: (probability) => probability > 0 && fraction() < probability,
    pick: (values) => {
      const value = values[below(values.length)];
      if (value === undefined) throw new RangeError('there is nothing to pick from');
      return value;
    },
  };
}
