// Delays between attempts: exponential, with jitter over the upper half, so that many failures do not retry together.

/** A source of fractions from 0 to below 1. */
interface Fractions {
  fraction(): number;
}

/** Milliseconds before attempt `failures + 1`; `failures` is 1, 2, 3, … */
export function backoffMs(failures: number, firstMs: number, maxMs: number, entropy: Fractions): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.ceil(ceiling / 2 + (ceiling / 2) * entropy.fraction());
}
