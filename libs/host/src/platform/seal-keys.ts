// The keys that seal values at rest, one of each master key.
import type { Clock } from '@dormouse/ports';
import type { KeyRing, MasterKey } from './key-ring.ts';
import type { SealKey, SealKeys } from './sealer.ts';

export function sealKeysOf(ring: KeyRing, clock: Pick<Clock, 'now'>): SealKeys {
  const derived = new Map(ring.all.map((each) => [each, { id: each.mark, key: each.key('secrets') }]));
  const keyOf = (master: MasterKey): SealKey => derived.get(master) ?? { id: master.mark, key: master.key('secrets') };
  return { all: [...derived.values()], inUse: () => keyOf(ring.at(clock.now())) };
}
