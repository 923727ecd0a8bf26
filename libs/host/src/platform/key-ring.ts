// The keys of an installation: its master keys (standalone in the data directory, in a cluster given to every process),
// and one key per purpose derived from each.
//
// Invariants:
//   K1. The file is readable by its owner alone (0600); losing a key makes what it has sealed unreadable and the
//       callback URLs that it has signed invalid, so it belongs in every backup.
//   K2. A derived key serves one purpose; none of them reveals anything about another.
//   K3. There is one master key in use at a moment: the newest whose time has come. Older ones open and verify only.
//       The time is part of what is configured, so that all processes change over at the same moment.
//   K4. A key is written `KEY` or `KEY@TIME`; only one has no time, and is the oldest.
import { hkdfSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '@dormouse/ports';

export type KeyPurpose = 'secrets' | 'thread tokens' | 'ids' | 'callbacks' | 'audit';

export interface MasterKey {
  /** Names it without revealing it. */
  readonly mark: string;
  /** Seals and signs from this time on: milliseconds since the epoch, 0 for the first key of an installation. */
  readonly since: number;
  key(purpose: KeyPurpose): Uint8Array;
}

export interface KeyRing {
  /** Oldest first; at least one. */
  readonly all: readonly MasterKey[];
  /** The one in use at this time. (K3) */
  at(now: number): MasterKey;
}

export const masterKeysMax = 8;
const masterKeyBytes = 32;
const nameInDirectory = 'master-key';

/** The master keys of a data directory; the first one is made there. @throws Fault DATABASE_CORRUPT */
export async function openKeyRing(dataDir: string): Promise<KeyRing> {
  const text = await readOrCreate(join(dataDir, nameInDirectory), () => randomBytes(masterKeyBytes).toString('hex'));
  const ring = readMasterKeys(text);
  if (typeof ring === 'string')
    throw new Fault('DATABASE_CORRUPT', `The file master-key in ${dataDir} is damaged. Restore it from a backup.`);
  return ring;
}

/** The ring of a text that `masterKeysProblem` finds nothing wrong with. */
export function keyRingOf(text: string): KeyRing {
  const ring = readMasterKeys(text);
  if (typeof ring === 'string') throw new RangeError(ring);
  return ring;
}

/** Null, or what is wrong with the keys; no part of them is repeated. */
export function masterKeysProblem(text: string): string | null {
  const ring = readMasterKeys(text);
  return typeof ring === 'string' ? ring : null;
}

/** Keys in any order, with commas or white space between them. (K4) */
function readMasterKeys(text: string): KeyRing | string {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const read = entries.map((entry) => /^([0-9a-f]{64})(?:@(\S+))?$/.exec(entry));
  if (read.length === 0 || read.some((entry) => entry === null)) return 'must be 64 hexadecimal digits';
  if (read.length > masterKeysMax) return `must be at most ${masterKeysMax} keys`;
  const keys = read.flatMap((entry) => (entry === null ? [] : [{ hex: entry[1] ?? '', since: sinceOf(entry[2]) }]));
  if (keys.some(({ since }) => since === null))
    return 'must say the time from which a key is used as KEY@2026-01-31T12:00:00Z';
  const all = keys
    .map(({ hex, since }) => masterKeyOf(Buffer.from(hex, 'hex'), since ?? 0))
    .toSorted((left, right) => left.since - right.since);
  if (new Set(all.map(({ since }) => since)).size < all.length)
    return 'must say for each key but the oldest from which time it is used, such as KEY@2026-01-31T12:00:00Z';
  if (new Set(all.map(({ mark }) => mark)).size < all.length) return 'must not name one key twice';
  const [oldest] = all;
  if (oldest === undefined) return 'must be 64 hexadecimal digits';
  return { all, at: (now) => all.findLast(({ since }) => since <= now) ?? oldest }; // (K3)
}

/** Milliseconds since the epoch; 0 for none, null for what is no time. */
function sinceOf(time: string | undefined): number | null {
  if (time === undefined) return 0;
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) || ms <= 0 ? null : ms;
}

function masterKeyOf(master: Uint8Array, since: number): MasterKey {
  const derived = (purpose: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, 'dormouse', purpose, bytes)); // (K2)
  return {
    ...{ mark: derived('mark', 8).toString('hex'), since },
    key: (purpose) => new Uint8Array(derived(purpose, 32)),
  };
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
