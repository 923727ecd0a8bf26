// The keys of callback URLs, one of each master key.
//
// Invariants:
//   C1. A master key without a time signs under the id that every earlier release has used, and one with a time under
//       its mark: what was signed before a rotation is good after it.
//   C2. The other name of a key verifies only. A key whose time was removed from the settings thus stays the key of
//       what it has signed.
import type { CallbackKey } from '@dormouse/runtime';
import type { KeyRing } from './key-ring.ts';

const firstKeyId = 'k1';

export function callbackKeysOf({ all }: KeyRing): readonly CallbackKey[] {
  return all.flatMap((master) => {
    const { mark, since } = master;
    const common = { secret: master.key('callbacks'), revoked: false };
    if (since > 0) return [{ ...common, id: mark, since }]; // (C1)
    return [
      { ...common, id: firstKeyId, since },
      { ...common, id: mark, since: Number.POSITIVE_INFINITY }, // (C2)
    ];
  });
}
