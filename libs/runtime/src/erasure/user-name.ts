// How erasures, certificates and the audit name an end user: by a keyed hash, from which no id follows.
//
// Invariants:
//   U1. A user has one name under each audit key of the installation. The newest names; the older ones find what was
//       named before a rotation.
import type { TenantId } from '@dormouse/ports';
import { type HashKey, hashKeyOf, keyedHash } from '../log/keyed-hash.ts';

export const userNamePrefix = 'hmac:';

export interface UserNames {
  /** Under the newest key first. (U1) */
  of(tenant: TenantId, userId: string): readonly [string, ...string[]];
}

/** Secrets of the audit, the newest first. */
export function createUserNames(secrets: readonly [Uint8Array, ...Uint8Array[]]): UserNames {
  const [newest, ...older] = secrets.map(hashKeyOf);
  const nameUnder = (key: HashKey, tenant: TenantId, userId: string): string =>
    userNamePrefix + keyedHash(hashKeyOf(keyedHash(key, `erasures of ${tenant}`)), userId).toString('hex');
  return {
    of(tenant, userId) {
      if (newest === undefined) throw new RangeError('there is no key');
      return [nameUnder(newest, tenant, userId), ...older.map((key) => nameUnder(key, tenant, userId))];
    },
  };
}

export const isUserName = (text: string): boolean => /^hmac:[0-9a-f]{64}$/.test(text);
