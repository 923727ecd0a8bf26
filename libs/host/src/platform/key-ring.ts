// The keys of an installation: one master key (standalone in the data directory, in a cluster given to every process),
// and one key per purpose derived from it.
//
// Invariants:
//   K1. The file is readable by its owner alone (0600) and is written once; losing the key makes secrets unreadable and
//       issued callback URLs invalid, so it belongs in every backup.
//   K2. A derived key serves one purpose; none of them reveals anything about another.
import { hkdfSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@dormouse/ports';

export type KeyPurpose = 'secrets' | 'thread tokens' | 'ids' | 'callbacks' | 'audit';

export interface KeyRing {
  key(purpose: KeyPurpose): Uint8Array;
  /** Names the master key without revealing it, for an installation to know its own. */
  readonly mark: string;
}

const masterKeyBytes = 32;

export async function openKeyRing(dataDir: string): Promise<KeyRing> {
  const master = Buffer.from(
    await readOrCreate(join(dataDir, 'master-key'), () => randomBytes(masterKeyBytes).toString('hex')),
    'hex',
  );
  if (master.length !== masterKeyBytes) {
    throw new Fault('DATABASE_CORRUPT', `The file master-key in ${dataDir} is damaged. Restore it from a backup.`);
  }
  return keyRingOf(master);
}

/** `master`: 64 hexadecimal digits. */
export const keyRingOfHex = (master: string): KeyRing => keyRingOf(Buffer.from(master, 'hex'));

function keyRingOf(master: Uint8Array): KeyRing {
  const derived = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, 'dormouse', purpose, bytes)); // (K2)
  return { key: (purpose) => new Uint8Array(derived(purpose, 32)), mark: derived('mark', 8).toString('hex') };
}

/** The text of a private file, made on first use. (K1) */
export async function readOrCreate(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const text = make();
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
  return text;
}
