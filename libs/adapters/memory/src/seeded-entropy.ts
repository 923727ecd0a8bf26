// Repeatable randomness: the same seed gives the same nonces and fractions.
import type { Entropy } from '@dormouse/ports';

/** Uniform in [0, 1): mulberry32. */
export function seededFraction(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** `name` keeps the nonces of two processes apart. */
export function createSeededEntropy(seed: number, name = 'n'): Entropy {
  const fraction = seededFraction(seed);
  let drawn = 0;
  return { nonce: () => `${name}-${(drawn += 1)}-${seed >>> 0}`, fraction };
}
