// Values at rest: AES-256-GCM, bound to their tenant and name. A secret is opened only for an origin that it names.
//
// Invariants:
//   S1. A sealed value that is moved to another tenant or name does not open.
//   S2. A value is sent only to an origin in the secret's own list.
//   S3. A value is sealed with the key in use, and opens with any key of the ring. Where the ring has several, it
//       carries the id of its key; where it has one, it is as earlier releases wrote and read it.
import type { KeyObject } from 'node:crypto';
import { Fault, type RotatingSealer, type Sealer, type SealOwner, type Secrets, type TenantId } from '@dormouse/ports';
import { openWith, sealWith } from './content-cipher.ts';

/** Without the id of its key, and with it: `v2.ID.…` */
const [plainFormat, namedFormat] = ['v1.', 'v2.'];

export interface SealKey {
  readonly id: string;
  readonly key: KeyObject;
}

export interface SealKeys {
  /** Oldest first; at least one. */
  readonly all: readonly SealKey[];
  inUse(): SealKey;
}

export function createSealer(ring: SealKeys): RotatingSealer {
  const { all } = ring;
  const byId = new Map(all.map((each) => [each.id, each]));
  const prefixOf = ({ id }: SealKey): string => (all.length === 1 ? plainFormat : `${namedFormat}${id}.`); // (S3)

  /** The keys that may open it, and the sealed bytes. */
  function partsOf(sealed: string): { readonly keys: readonly SealKey[]; readonly bytes: Buffer } {
    if (!sealed.startsWith(namedFormat)) return { keys: all, bytes: bytesOf(sealed.slice(plainFormat.length)) };
    const end = sealed.indexOf('.', namedFormat.length);
    const named = byId.get(sealed.slice(namedFormat.length, end));
    if (named === undefined) throw new Error('it is sealed with a master key that is not configured');
    return { keys: [named], bytes: bytesOf(sealed.slice(end + 1)) };
  }

  return {
    seal(owner, value) {
      const seal = ring.inUse();
      return prefixOf(seal) + sealWith(seal.key, placeOf(owner), value).toString('base64');
    },
    open(owner, sealed) {
      const { keys, bytes } = partsOf(sealed);
      for (const { key } of keys.slice(1)) {
        const opened = openedOrNull(key, owner, bytes);
        if (opened !== null) return opened;
      }
      const [oldest] = keys;
      if (oldest === undefined) throw new Error('there is no key');
      return opened(oldest.key, owner, bytes);
    },
    isInUse: (sealed) => all.length === 1 || sealed.startsWith(prefixOf(ring.inUse())),
  };
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');
const placeOf = ({ tenant, name }: SealOwner): string => JSON.stringify([tenant, name]); // (S1)

const opened = (key: KeyObject, owner: SealOwner, bytes: Buffer): string =>
  openWith(key, placeOf(owner), bytes).toString('utf8');

/** Null when another key has sealed it: the next one is tried. */
function openedOrNull(key: KeyObject, owner: SealOwner, bytes: Buffer): string | null {
  try {
    return opened(key, owner, bytes);
  } catch {
    return null;
  }
}

/** A secret's value by tenant, name and the origin it is sent to; null when there is none of this name. */
export type FindSecret = (tenant: TenantId, name: string, origin: string) => Promise<string | null>;

/** The result throws Fault SECRET_UNUSABLE for a secret that may not be sent to the origin. */
export function secretFinder(secrets: Secrets, sealer: Sealer): FindSecret {
  return async (tenant, name, origin) => {
    const secret = await secrets.get(tenant, name);
    if (secret === null) return null;
    if (!secret.origins.includes(origin))
      throw new Fault('SECRET_UNUSABLE', `the secret ${name} may not be sent to ${origin}`); // (S2)
    return sealer.open({ tenant, name }, secret.sealed);
  };
}

/** The same where a secret must exist: the result throws Fault SECRET_UNUSABLE too when there is none. */
export function secretReader(find: FindSecret): (tenant: TenantId, name: string, origin: string) => Promise<string> {
  return async (tenant, name, origin) => {
    const value = await find(tenant, name, origin);
    if (value === null) throw new Fault('SECRET_UNUSABLE', `there is no secret named ${name}`);
    return value;
  };
}
