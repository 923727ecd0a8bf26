// The keys of an installation: its master keys (standalone in the data directory, in a cluster given to every process),
// and one key per purpose derived from each. How they are opened: kms/opened-keys.ts.
//
// Invariants:
//   K2. A derived key serves one purpose; none of them reveals anything about another.
//   K3. There is one master key in use at a moment: the newest whose time has come. Older ones open and verify only.
//       The time is part of what is configured, so that all processes change over at the same moment.
//   K4. A key is written `KEY` or `KEY@TIME`; only one has no time, and is the oldest. KEY is the key itself, or what a
//       key management has made of it.
import { hkdfSync } from 'node:crypto';

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

/** Null, or what is wrong with the keys; no part of them is repeated. */
export function masterKeysProblem(text: string): string | null {
  const read = readMasterKeys(text);
  if (typeof read === 'string') return read;
  const isTwice = new Set(read.map((each) => each.text)).size < read.length;
  return isTwice ? oneTwice : null;
}

export interface WrittenKey {
  /** The key in hexadecimal digits, or wrapped. */
  readonly text: string;
  readonly isWrapped: boolean;
  /** As in MasterKey. */
  readonly since: number;
  /** As it was written; null for none. */
  readonly time: string | null;
}

/** Oldest first, from keys in any order with commas or white space between them; or what is wrong with them. (K4) */
export function readMasterKeys(text: string): readonly WrittenKey[] | string {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length === 0) return 'must be 64 hexadecimal digits';
  if (entries.length > masterKeysMax) return `must be at most ${masterKeysMax} keys`;
  const keys: WrittenKey[] = [];
  for (const entry of entries) {
    const isWrapped = entry.startsWith('vault:');
    const [, key, time] = (isWrapped ? wrappedEntry : plainEntry).exec(entry) ?? [];
    if (key === undefined)
      return isWrapped ? 'must be vault:v1:… as the key management has written it' : 'must be 64 hexadecimal digits';
    const since = sinceOf(time);
    if (since === null) return 'must say the time from which a key is used as KEY@2026-01-31T12:00:00Z';
    keys.push({ text: key, isWrapped, since, time: time ?? null });
  }
  if (new Set(keys.map(({ since }) => since)).size < keys.length)
    return 'must say for each key but the oldest from which time it is used, such as KEY@2026-01-31T12:00:00Z';
  return keys.toSorted((left, right) => left.since - right.since);
}

const plainEntry = /^([0-9a-f]{64})(?:@(\S+))?$/;
const wrappedEntry = /^(vault:v\d{1,9}:[\w+/=-]{16,4096})(?:@(\S+))?$/;

const oneTwice = 'must not name one key twice';

/** Of keys with 32 bytes each, oldest first; or what is wrong with them. */
export function keyRingOf(keys: readonly { readonly key: Uint8Array; readonly since: number }[]): KeyRing | string {
  const all = keys.map(({ key, since }) => masterKeyOf(key, since));
  const [oldest] = all;
  if (oldest === undefined || new Set(all.map(({ mark }) => mark)).size < all.length) return oneTwice;
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
