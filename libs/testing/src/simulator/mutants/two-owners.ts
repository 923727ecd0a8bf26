// A mix of faults for directed searches.
import type { Mutant } from '../mutant.ts';

/** Two owners that both continue for seconds: the older one decides on its remembered state. */
export const twoOwners: NonNullable<Mutant['faults']> = {
  cutOff: 0.7,
  crash: 0,
  crashAfterAppend: 0,
  pause: 0,
  rebalance: 0,
  outage: 0,
  restart: 0,
};
