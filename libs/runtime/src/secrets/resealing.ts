// After a rotation of the master key: values that an older key has sealed are sealed again with the key in use.
//
// Invariants:
//   R1. A value is replaced only where it is still the one that was read: what was set meanwhile stays.
//   R2. What was done stays done: broken off at any place and begun again, it goes on with what is left.
//   R3. It is done when a pass over everything has found nothing that an older key has sealed. A value that no key
//       opens is told and left as it is.
import {
  type Clock,
  localTenant,
  type RotatingSealer,
  type Secrets,
  type SealOwner,
  type Tenants,
} from '@dormouse/ports';

export interface ResealingPorts {
  readonly tenants: Pick<Tenants, 'list'>;
  readonly sealer: RotatingSealer;
  readonly clock: Pick<Clock, 'now'>;
  readonly places: readonly SealedPlace[];
}

/** Where sealed values are kept for longer than a day. */
export interface SealedPlace {
  /** All of a tenant. */
  list(tenant: string): Promise<readonly SealedValue[]>;
}

export interface SealedValue {
  readonly owner: SealOwner;
  readonly sealed: string;
  /** Stores another text in its place; false when the value has changed since. (R1) */
  replace(sealed: string): Promise<boolean>;
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
  async function* everyTenant(): AsyncGenerator<string> {
    yield localTenant; // an installation of before tenants has no record of it
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: Awaited<ReturnType<Tenants['list']>> = await tenants.list({ limit: tenantsAtOnce, cursor });
      for (const { id } of page.data) if (id !== localTenant) yield id;
      cursor = page.nextCursor;
    }
  }

  function opened({ owner, sealed }: SealedValue): string | null {
    try {
      return sealer.open(owner, sealed);
    } catch {
      return null; // (R3)
    }
  }

  return async (withinMs) => {
    const until = clock.now() + withinMs;
    const unreadable: SealOwner[] = [];
    let [resealed, changed] = [0, 0];
    for await (const tenant of everyTenant()) {
      for (const place of places)
        for (const value of await place.list(tenant)) {
          if (sealer.isInUse(value.sealed)) continue; // (R2)
          if (clock.now() >= until) return { resealed, unreadable, isDone: false };
          const text = opened(value);
          if (text === null) unreadable.push(value.owner);
          else if (await value.replace(sealer.seal(value.owner, text))) resealed += 1;
          else changed += 1; // by an administrator, or by another pass
        }
    }
    return { resealed, unreadable, isDone: changed === 0 && unreadable.length === 0 };
  };
}

export const placeOfSecrets = (secrets: Pick<Secrets, 'list' | 'replace'>): SealedPlace => ({
  list: async (tenant) =>
    (await secrets.list(tenant)).map((secret) => ({
      owner: { tenant, name: secret.name },
      sealed: secret.sealed,
      replace: (sealed) => secrets.replace({ ...secret, sealed }, secret),
    })),
});
