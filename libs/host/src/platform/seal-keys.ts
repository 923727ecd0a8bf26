// The keys that seal values at rest, one of each master key.
import type { Clock } from '@dormouse/ports';
import { createSecretKey } from 'node:crypto';
import type { KeyRing, MasterKey } from './key-ring.ts';
import type { SealKey, SealKeys } from './sealer.ts';

const sealKeyOf = (master: MasterKey): SealKey => ({ id: master.mark, key: createSecretKey(master.key('secrets')) });

export function sealKeysOf(ring: KeyRing, clock: Pick<Clock, 'now'>): SealKeys {
  const derived = new Map(ring.all.map((each) => [each, sealKeyOf(each)]));
  const keyOf = (master: MasterKey): SealKey => derived.get(master) ?? sealKeyOf(master);
  return { all: [...derived.values()], inUse: () => keyOf(ring.at(clock.now())) };
}
