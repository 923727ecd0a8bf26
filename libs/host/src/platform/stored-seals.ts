// Whether the master keys of a data directory are those that have sealed what is in it. A cluster notes its key
// instead. (installation N3)
//
// Invariants:
//   T1. Where something is sealed and nothing of it opens, the directory has lost its key or was given another one: the
//       process does not start, so that nothing is sealed with a key that the next restore would replace. One value
//       that opens is enough: what a removed key has sealed is told by the rotation. (resealing R3)
import {
  type FamilyKey,
  familyKeyOwner,
  Fault,
  localTenant,
  type Sealer,
  type Stores,
  type TenantId,
} from '@dormouse/ports';

type SealedStores = Pick<Stores, 'tenants' | 'secrets' | 'familyKeys'>;

interface Sealed {
  readonly owner: Parameters<Sealer['open']>[0];
  readonly sealed: string;
}

const atOnce = 200;

/** @throws Fault MASTER_KEY_WRONG (T1) */
export async function refuseOtherKeys(stores: SealedStores, sealer: Pick<Sealer, 'open'>): Promise<void> {
  let isSealed = false;
  for await (const each of everythingSealed(stores)) {
    if (opens(sealer, each)) return;
    isSealed = true;
  }
  if (isSealed)
    throw new Fault(
      'MASTER_KEY_WRONG',
      'The file master-key is lost, or is not that of this data directory: nothing that is sealed in it opens. Restore the file from a backup of the directory.',
    );
}

function opens(sealer: Pick<Sealer, 'open'>, { owner, sealed }: Sealed): boolean {
  try {
    sealer.open(owner, sealed);
    return true;
  } catch {
    return false; // by its key alone: it was read, and is as it was stored
  }
}

async function* everythingSealed({ tenants, secrets, familyKeys }: SealedStores): AsyncGenerator<Sealed> {
  for await (const tenant of everyTenant(tenants)) {
    for (const { name, sealed } of await secrets.list(tenant)) yield { owner: { tenant, name }, sealed };
    for (let after: string | null = null; ;) {
      const page: readonly FamilyKey[] = await familyKeys.page(tenant, after, atOnce);
      for (const key of page) if (key.sealed !== null) yield { owner: familyKeyOwner(key), sealed: key.sealed };
      after = page.at(-1)?.family ?? null;
      if (page.length < atOnce) break;
    }
  }
}

async function* everyTenant(tenants: Stores['tenants']): AsyncGenerator<TenantId> {
  yield localTenant; // a directory of before tenants has no record of it
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: Awaited<ReturnType<typeof tenants.list>> = await tenants.list({ limit: atOnce, cursor });
    for (const { id } of page.data) if (id !== localTenant) yield id;
    cursor = page.nextCursor;
  }
}
