// The keys of families as a process has them: opened, and remembered for a while.
//
// Invariants:
//   K1. A key is durable before anything is sealed with it.
//   K2. An answer of the store counts for `keptMs` at most, and is forgotten by the first use of the keyring after
//       that: so long after an erasure no process seals or opens with the key. The process that erases forgets it at
//       once.
//   K3. Memory is bounded: the key that was read first is forgotten first.
//   K4. A family without a row has no key, which is a fault where something sealed is to be opened: unknown contents
//       are never empty ones. R54
import {
  type Clock,
  type ContentCipher,
  type ContentKey,
  familyKeyOwner,
  type FamilyKey,
  type FamilyKeys,
  Fault,
  type Sealer,
  type TenantId,
} from '@dormouse/ports';

/** Null for a family that was erased. */
export type OpenKey = ContentKey | null;

export interface FamilyKeyring {
  /** From memory; undefined when it must be read. */
  fresh(tenant: TenantId, family: string): OpenKey | undefined;
  /** Reads those that are stored, so that `fresh` has them. @throws Fault UNAVAILABLE */
  learn(tenant: TenantId, families: readonly string[]): Promise<void>;
  /** Makes the key of a family that has none yet. (K1) @throws Fault */
  forSealing(tenant: TenantId, family: string): Promise<OpenKey>;
  /** Of each of these families. (K4) @throws Fault STATE_UNAVAILABLE where one has no row, UNAVAILABLE. */
  forOpening(tenant: TenantId, families: Iterable<string>): Promise<ReadonlyMap<string, OpenKey>>;
  /** (K2) @throws Fault */
  erase(tenant: TenantId, families: readonly string[]): Promise<void>;
}

export interface FamilyKeyringDeps {
  readonly familyKeys: FamilyKeys;
  readonly sealer: Sealer;
  readonly cipher: ContentCipher;
  readonly clock: Pick<Clock, 'now'>;
  /** Infinity where no other process can erase. */
  readonly keptMs: number;
}

interface Remembered {
  readonly key: OpenKey;
  readonly readAt: number;
}

const rememberedMax = 20_000;

export function createFamilyKeyring(deps: FamilyKeyringDeps): FamilyKeyring {
  const { familyKeys, sealer, cipher, clock, keptMs } = deps;
  /** In the order in which they were read. */
  const memory = new Map<string, Remembered>();
  const nameOf = (tenant: TenantId, family: string): string => `${tenant}:${family}`;

  function fresh(tenant: TenantId, family: string): OpenKey | undefined {
    const found = memory.get(nameOf(tenant, family));
    if (found === undefined || clock.now() - found.readAt < keptMs) return found?.key;
    forgetOld();
    return undefined;
  }

  /** (K2) */
  function forgetOld(): void {
    const oldest = clock.now() - keptMs;
    for (const [name, { readAt }] of memory) {
      if (readAt > oldest && memory.size <= rememberedMax) return;
      memory.delete(name);
    }
  }

  function remember({ tenant, family, sealed }: FamilyKey): OpenKey {
    const key =
      sealed === null ? null : cipher.withKey(bytesOf(sealer.open(familyKeyOwner({ tenant, family }), sealed)));
    memory.delete(nameOf(tenant, family));
    memory.set(nameOf(tenant, family), { key, readAt: clock.now() });
    forgetOld(); // (K3)
    return key;
  }

  const read = async (tenant: TenantId, families: readonly string[]): Promise<ReadonlyMap<string, OpenKey>> =>
    new Map((await familyKeys.get(tenant, families)).map((stored) => [stored.family, remember(stored)]));

  return {
    fresh,
    async learn(tenant, families) {
      const unread = families.filter((family) => fresh(tenant, family) === undefined);
      if (unread.length > 0) await read(tenant, unread);
    },
    async forSealing(tenant, family) {
      const known = fresh(tenant, family);
      if (known !== undefined) return known;
      const stored = (await read(tenant, [family])).get(family);
      if (stored !== undefined) return stored;
      const key = Buffer.from(cipher.newKey()).toString('base64');
      return remember(
        await familyKeys.insert({ tenant, family, sealed: sealer.seal(familyKeyOwner({ tenant, family }), key) }),
      );
    },
    async forOpening(tenant, families) {
      const keys = new Map<string, OpenKey>();
      const unread: string[] = [];
      for (const family of families) {
        const known = fresh(tenant, family);
        if (known === undefined) unread.push(family);
        else keys.set(family, known);
      }
      if (unread.length === 0) return keys;
      for (const [family, key] of await read(tenant, unread)) keys.set(family, key);
      const missing = unread.find((family) => !keys.has(family));
      if (missing !== undefined) throw new Fault('STATE_UNAVAILABLE', `the key of the family ${missing} is missing`); // (K4)
      return keys;
    },
    async erase(tenant, families) {
      await familyKeys.erase(tenant, families);
      for (const family of families) remember({ tenant, family, sealed: null });
    },
  };
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');
