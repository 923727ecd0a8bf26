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
export function secretReader(
  secrets: Secrets,
  sealer: Sealer,
): (tenant: string, name: string, origin: string) => Promise<string> {
  return async (tenant, name, origin) => {
    const secret = await secrets.get(tenant, name);
    if (secret === null) throw new Fault('SECRET_UNUSABLE', `there is no secret named ${name}`);
    if (!secret.origins.includes(origin))
      throw new Fault('SECRET_UNUSABLE', `the secret ${name} may not be sent to ${origin}`); // (S2)
    return sealer.open({ tenant, name }, secret.sealed);
  };
}
