// Delays between attempts: exponential, with jitter over the upper half, so that many failures do not retry together.
import type { Entropy } from '@dormouse/ports';

/** Milliseconds before attempt `failures + 1`; `failures` is 1, 2, 3, … */
export function backoffMs(failures: number, firstMs: number, maxMs: number, entropy: Entropy): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.ceil(ceiling / 2 + (ceiling / 2) * entropy.fraction());
}
