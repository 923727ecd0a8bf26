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
  localTenant,
  type RotatingSealer,
  type SealOwner,
  sourceOwner,
  type Stores,
  type Tenants,
  type UserCredential,
  webhookOwner,
  type TenantId,
} from '@dormouse/ports';
import { everyItem, everyItemAfter } from '../every-item.ts';
import { unsealed } from './unsealed.ts';

export interface ResealingPorts {
  readonly tenants: Pick<Tenants, 'list'>;
  readonly sealer: RotatingSealer;
  readonly clock: Pick<Clock, 'now'>;
  readonly places: readonly SealedPlace[];
}

/**
 * All values of a tenant that a store keeps for longer than the old key; what is in no place ends by itself
 * (unsealed.ts).
 */
export type SealedPlace = (tenant: TenantId) => AsyncIterable<SealedValue>;

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
  for await (const tenant of everyTenant(tenants)) for (const place of places) yield* place(tenant);
}

async function* everyTenant(tenants: Pick<Tenants, 'list'>): AsyncGenerator<TenantId> {
  yield localTenant; // an installation of before tenants has no record of it
  for await (const { id } of everyItem(pageLimit, (page) => tenants.list(page))) if (id !== localTenant) yield id;
}

const pageLimit = 200;
const rowsAtOnce = 500;

export const placeOfSecrets = (secrets: Pick<Stores['secrets'], 'list' | 'replace'>): SealedPlace =>
  async function* (tenant) {
    for (const secret of await secrets.list(tenant))
      yield {
        owner: { tenant, name: secret.name },
        sealed: secret.sealed,
        replace: (sealed) => secrets.replace({ ...secret, sealed }, secret),
      };
  };

export const placeOfCredentials = (credentials: Pick<Stores['userCredentials'], 'page' | 'replace'>): SealedPlace =>
  async function* (tenant) {
    const all = everyItemAfter<UserCredential>(rowsAtOnce, (after) => credentials.page(tenant, after, rowsAtOnce));
    for await (const each of all)
      yield {
        owner: credentialOwner(tenant, each.userId, each.toolServer),
        sealed: each.sealed,
        replace: (sealed) => credentials.replace({ ...each, sealed, version: each.version + 1 }, each),
      };
  };

export const placeOfWebhooks = (webhooks: Pick<Stores['webhooks'], 'list' | 'replace'>): SealedPlace =>
  async function* (tenant) {
    for await (const webhook of everyItem(pageLimit, (page) => webhooks.list(tenant, page))) {
      const owner = webhookOwner(webhook);
      const { sealed: now, before } = webhook;
      yield { owner, sealed: now, replace: (sealed) => webhooks.replace({ ...webhook, sealed }, webhook) };
      if (before !== null)
        yield {
          ...{ owner, sealed: before.sealed },
          replace: (sealed) => webhooks.replace({ ...webhook, before: { ...before, sealed } }, webhook),
        };
    }
  };

export const placeOfSources = (sources: Pick<Stores['sources'], 'list' | 'replace'>): SealedPlace =>
  async function* (tenant) {
    for await (const source of everyItem(pageLimit, (page) => sources.list(tenant, page)))
      yield {
        owner: sourceOwner(source),
        sealed: source.sealedToken,
        replace: (sealedToken) => sources.replace({ ...source, sealedToken }, source),
      };
  };

/** Families that were erased have nothing to seal. */
export const placeOfFamilyKeys = (keys: Pick<Stores['familyKeys'], 'page' | 'replace'>): SealedPlace =>
  async function* (tenant) {
    const all = everyItemAfter<FamilyKey>(rowsAtOnce, (after) => keys.page(tenant, after?.family ?? null, rowsAtOnce));
    for await (const key of all)
      if (key.sealed !== null)
        yield {
          owner: familyKeyOwner(key),
          sealed: key.sealed,
          replace: (sealed) => keys.replace({ ...key, sealed }, key),
        };
  };
