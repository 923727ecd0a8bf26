// Whether the master keys of a data directory are those that have sealed what is in it. A cluster notes its key
// instead. (installation N3)
//
// Invariants:
//   T1. Where something is sealed and nothing of it opens, the directory has lost its key or was given another one: the
//       process does not start, so that nothing is sealed with a key that the next restore would replace. One value
//       that opens is enough: what a removed key has sealed is told by the rotation. (resealing R3)
import { Fault, type Sealer, type Stores } from '@dormouse/ports';
import { everySealed, placeOfFamilyKeys, placeOfSecrets, unsealed } from '@dormouse/runtime';

type SealedStores = Pick<Stores, 'tenants' | 'secrets' | 'familyKeys'>;

/** @throws Fault MASTER_KEY_WRONG (T1) */
export async function refuseOtherKeys(stores: SealedStores, sealer: Pick<Sealer, 'open'>): Promise<void> {
  const { tenants, secrets, familyKeys } = stores;
  let isSealed = false;
  for await (const { owner, sealed } of everySealed(tenants, [
    placeOfSecrets(secrets),
    placeOfFamilyKeys(familyKeys),
  ])) {
    if (unsealed(sealer, owner, sealed) !== null) return;
    isSealed = true;
  }
  if (isSealed)
    throw new Fault(
      'MASTER_KEY_WRONG',
      'The file master-key is lost, or is not that of this data directory: nothing that is sealed in it opens. Restore the file from a backup of the directory.',
    );
}
