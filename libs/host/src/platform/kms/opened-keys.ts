// From what is written in a setting or a file to the master keys: as they are, or unwrapped by a key management.
//
// Invariants:
//   O1. The file is readable by its owner alone (0600); losing a key makes what it has sealed unreadable and the
//       callback URLs that it has signed invalid, so it belongs in every backup.
//   O2. With a key management, the data directory has no key in the clear: a key that is there is wrapped at the start.
//   O3. A start without every one of its keys is none: a refusal ends it, and so does a key management that is away.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Fault, type KeyManagement } from '@dormouse/ports';
import { type KeyRing, keyRingOf, readMasterKeys, type WrittenKey } from '../key-ring.ts';
import { readOrCreate, replacePrivateFile } from '../private-file.ts';

export interface OpenedKeys {
  readonly ring: KeyRing;
  /** What the key management has unwrapped for the newest wrapped key; null where all are in the clear. */
  readonly wrapped: string | null;
  /** How many are in the clear. */
  readonly plain: number;
}

const masterKeyBytes = 32;
const nameInDirectory = 'master-key';

export const keyFileOf = (dataDir: string): string => join(dataDir, nameInDirectory);

/** The master keys of a data directory; the first one is made there. @throws Fault DATABASE_CORRUPT, KMS_REFUSED, … */
export async function openKeyFile(dataDir: string, kms: KeyManagement): Promise<OpenedKeys> {
  const path = keyFileOf(dataDir);
  const text = await readOrCreate(path, () => kms.wrap(randomBytes(masterKeyBytes))); // (O1)
  const written = readMasterKeys(text);
  const opened = typeof written === 'string' ? [] : await openAll(written, kms, `The file ${path}`);
  const ring = keyRingOf(opened);
  if (typeof ring === 'string')
    throw new Fault('DATABASE_CORRUPT', `The file master-key in ${dataDir} is damaged. Restore it from a backup.`);
  const keys = kms === localKeys ? opened : await allWrapped(opened, kms);
  if (keys.some(({ text: now }, nth) => now !== opened[nth]?.text)) await replacePrivateFile(path, textOf(keys)); // (O2)
  return openedKeysOf(ring, keys);
}

/** The keys of a setting that `masterKeysProblem` finds nothing wrong with. @throws Fault KMS_REFUSED, UNAVAILABLE */
export async function openKeySetting(text: string, kms: KeyManagement): Promise<OpenedKeys> {
  const written = readMasterKeys(text);
  if (typeof written === 'string') throw new RangeError(written);
  const opened = await openAll(written, kms, 'DORMOUSE_MASTER_KEY');
  const ring = keyRingOf(opened);
  if (typeof ring === 'string') throw new Fault('KMS_REFUSED', `DORMOUSE_MASTER_KEY ${ring}: two unwrap to the same.`);
  return openedKeysOf(ring, opened);
}

/** Keys that settings and files have as they are. */
export const localKeys: KeyManagement = {
  keyId: 'in the clear',
  wrap: async (key) => Buffer.from(key).toString('hex'),
  unwrap: async (text) => {
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Fault('KMS_REFUSED', 'The key is not 64 hexadecimal digits.');
    return new Uint8Array(Buffer.from(text, 'hex'));
  },
};

interface OpenedKey extends WrittenKey {
  readonly key: Uint8Array;
}

/** `where` begins a sentence. (O3) */
async function openAll(
  written: readonly WrittenKey[],
  kms: KeyManagement,
  where: string,
): Promise<readonly OpenedKey[]> {
  const opened: OpenedKey[] = [];
  for (const each of written) {
    if (each.isWrapped && kms === localKeys)
      throw new Fault(
        'KMS_REFUSED',
        `${where} has a wrapped key, and no key management is set that unwraps it: DORMOUSE_VAULT_URL.`,
      );
    const key = await (each.isWrapped ? kms : localKeys).unwrap(each.text);
    if (key.length !== masterKeyBytes)
      throw new Fault('KMS_REFUSED', `${where} has a wrapped key of ${key.length} bytes. A master key has 32.`);
    opened.push({ ...each, key });
  }
  return opened;
}

async function allWrapped(opened: readonly OpenedKey[], kms: KeyManagement): Promise<readonly OpenedKey[]> {
  const wrapped: OpenedKey[] = [];
  for (const each of opened)
    wrapped.push(each.isWrapped ? each : { ...each, text: await kms.wrap(each.key), isWrapped: true });
  return wrapped;
}

/** Newest first, as `dormouse keys new-master` writes them. */
const textOf = (keys: readonly WrittenKey[]): string =>
  keys
    .map(({ text, time }) => (time === null ? text : `${text}@${time}`))
    .toReversed()
    .join('\n');

const openedKeysOf = (ring: KeyRing, keys: readonly WrittenKey[]): OpenedKeys => ({
  ring,
  wrapped: keys.findLast(({ isWrapped }) => isWrapped)?.text ?? null,
  plain: keys.filter(({ isWrapped }) => !isWrapped).length,
});
