// After a rotation of the master key: values that an older key has sealed are sealed again with the key in use.
//
// Invariants:
//   R1. A value is replaced only where it is still the one that was read: what was set meanwhile stays.
//   R2. What was done stays done: broken off at any place and begun again, it goes on with what is left.
//   R3. It is done when a pass over everything has found nothing that an older key has sealed. A value that no key
//       opens is told and left as it is.
import {
  type Clock,
  credentialOwner,
  type FamilyKey,
  familyKeyOwner,
  type FamilyKeys,
  localTenant,
  type Page,
  type RotatingSealer,
  type SealOwner,
  type Secrets,
  type Source,
  sourceOwner,
  type Sources,
  type Tenants,
  type UserCredential,
  type UserCredentials,
  webhookOwner,
  type Webhooks,
  type TenantId,
} from '@dormouse/ports';
import { unsealed } from './unsealed.ts';

export interface ResealingPorts {
  readonly tenants: Pick<Tenants, 'list'>;
  readonly sealer: RotatingSealer;
  readonly clock: Pick<Clock, 'now'>;
  readonly places: readonly SealedPlace[];
}

/** Where sealed values are kept for longer than the old key: what is not here ends by itself (unsealed.ts). */
export interface SealedPlace {
  /** All of a tenant. */
  list(tenant: TenantId): AsyncIterable<SealedValue>;
}

export interface SealedValue {
  readonly owner: SealOwner;
  readonly sealed: string;
  /** Stores another text in its place; false when the value has changed since. (R1) */
  readonly replace: (sealed: string) => Promise<boolean>;
}

export interface ResealingReport {
  readonly resealed: number;
  /** Owners of values that no key opens. */
  readonly unreadable: readonly SealOwner[];
  /** (R3) */
  readonly isDone: boolean;
}

/** Goes on for `withinMs` at most. @throws Fault */
export type Reseal = (withinMs: number) => Promise<ResealingReport>;

const tenantsAtOnce = 200;

export function createResealing({ tenants, sealer, clock, places }: ResealingPorts): Reseal {
  return async (withinMs) => {
    const until = clock.now() + withinMs;
    const unreadable: SealOwner[] = [];
    let [resealed, changed] = [0, 0];
    for await (const { owner, sealed, replace } of everySealed(tenants, places)) {
      const text = unsealed(sealer, owner, sealed); // (R3) also of one that names no key
      if (text === null) unreadable.push(owner);
      if (text === null || sealer.isInUse(sealed)) continue; // (R2)
      if (clock.now() >= until) return { resealed, unreadable, isDone: false };
      if (await replace(sealer.seal(owner, text))) resealed += 1;
      else changed += 1; // by an administrator, or by another pass
    }
    return { resealed, unreadable, isDone: changed === 0 && unreadable.length === 0 };
  };
}

/** What the installation keeps sealed in these places, tenant by tenant. @throws Fault */
export async function* everySealed(
  tenants: Pick<Tenants, 'list'>,
  places: readonly SealedPlace[],
): AsyncGenerator<SealedValue> {
  for await (const tenant of everyTenant(tenants)) for (const place of places) yield* place.list(tenant);
}

async function* everyTenant(tenants: Pick<Tenants, 'list'>): AsyncGenerator<TenantId> {
  yield localTenant; // an installation of before tenants has no record of it
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: Awaited<ReturnType<Tenants['list']>> = await tenants.list({ limit: tenantsAtOnce, cursor });
    for (const { id } of page.data) if (id !== localTenant) yield id;
    cursor = page.nextCursor;
  }
}

export const placeOfSecrets = (secrets: Pick<Secrets, 'list' | 'replace'>): SealedPlace => ({
  async *list(tenant) {
    for (const secret of await secrets.list(tenant))
      yield {
        owner: { tenant, name: secret.name },
        sealed: secret.sealed,
        replace: (sealed) => secrets.replace({ ...secret, sealed }, secret),
      };
  },
});

const credentialsAtOnce = 500;

export const placeOfCredentials = (credentials: Pick<UserCredentials, 'page' | 'replace'>): SealedPlace => ({
  async *list(tenant) {
    for (let after: UserCredential | null = null; ;) {
      const page: readonly UserCredential[] = await credentials.page(tenant, after, credentialsAtOnce);
      for (const each of page)
        yield {
          owner: credentialOwner(tenant, each.userId, each.toolServer),
          sealed: each.sealed,
          replace: (sealed) => credentials.replace({ ...each, sealed, version: each.version + 1 }, each),
        };
      after = page.at(-1) ?? null;
      if (page.length < credentialsAtOnce) return;
    }
  },
});

const webhooksAtOnce = 200;

export const placeOfWebhooks = (webhooks: Pick<Webhooks, 'list' | 'replace'>): SealedPlace => ({
  async *list(tenant) {
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: Awaited<ReturnType<Webhooks['list']>> = await webhooks.list(tenant, {
        limit: webhooksAtOnce,
        cursor,
      });
      for (const webhook of page.data) {
        const owner = webhookOwner(webhook);
        const { before } = webhook;
        yield { owner, sealed: webhook.sealed, replace: (sealed) => webhooks.replace({ ...webhook, sealed }, webhook) };
        if (before !== null)
          yield {
            ...{ owner, sealed: before.sealed },
            replace: (sealed) => webhooks.replace({ ...webhook, before: { ...before, sealed } }, webhook),
          };
      }
      cursor = page.nextCursor;
    }
  },
});

const sourcesAtOnce = 200;

export const placeOfSources = (sources: Pick<Sources, 'list' | 'replace'>): SealedPlace => ({
  async *list(tenant) {
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: Page<Source> = await sources.list(tenant, { limit: sourcesAtOnce, cursor });
      for (const source of page.data)
        yield {
          owner: sourceOwner(source),
          sealed: source.sealedToken,
          replace: (sealedToken) => sources.replace({ ...source, sealedToken }, source),
        };
      cursor = page.nextCursor;
    }
  },
});

const familyKeysAtOnce = 500;

/** Families that were erased have nothing to seal. */
export const placeOfFamilyKeys = (keys: Pick<FamilyKeys, 'page' | 'replace'>): SealedPlace => ({
  async *list(tenant) {
    for (let after: string | null = null; ;) {
      const page: readonly FamilyKey[] = await keys.page(tenant, after, familyKeysAtOnce);
      for (const key of page)
        if (key.sealed !== null)
          yield {
            owner: familyKeyOwner(key),
            sealed: key.sealed,
            replace: (sealed) => keys.replace({ ...key, sealed }, key),
          };
      after = page.at(-1)?.family ?? null;
      if (page.length < familyKeysAtOnce) return;
    }
  },
});
