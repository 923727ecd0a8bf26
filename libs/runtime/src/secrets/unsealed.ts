// A sealed value that may be older than every key that is left: after a rotation of the master key the old key is
// removed, and what it has sealed is over.
import type { Sealer, SealOwner } from '@dormouse/ports';

/** Null for what no key opens that this process has. What it belonged to ends as its caller says. */
export function unsealed(sealer: Pick<Sealer, 'open'>, owner: SealOwner, sealed: string): string | null {
  try {
    return sealer.open(owner, sealed);
  } catch {
    return null;
  }
}
