// Secrets at rest: AES-256-GCM, bound to their tenant and name. Opened only for an origin that the secret names.
//
// Invariants:
//   S1. A sealed value that is moved to another tenant or name does not open.
//   S2. A value is sent only to an origin in the secret's own list.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Fault, type Sealer, type SealOwner, type Secrets } from '@dormouse/ports';

const nonceBytes = 12;
const tagBytes = 16;
const format = 'v1.';

export function createSealer(key: Uint8Array): Sealer {
  const bound = ({ tenant, name }: SealOwner): Buffer => Buffer.from(JSON.stringify([tenant, name])); // (S1)
  return {
    seal(owner, value) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(owner));
      const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return format + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open(owner, sealed) {
      const bytes = Buffer.from(sealed.slice(format.length), 'base64');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(bound(owner)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}

/** Looks a secret up for one destination. @throws Fault SECRET_UNUSABLE when there is none, or not for this origin. */
/** A secret's value by tenant, name and the origin it is sent to; null when there is none of this name. */
export type FindSecret = (tenant: string, name: string, origin: string) => Promise<string | null>;

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
export function secretReader(find: FindSecret): (tenant: string, name: string, origin: string) => Promise<string> {
  return async (tenant, name, origin) => {
    const value = await find(tenant, name, origin);
    if (value === null) throw new Fault('SECRET_UNUSABLE', `there is no secret named ${name}`);
    return value;
  };
}
