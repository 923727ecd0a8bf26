// Ids that are functions of the log: 48 bits of time and 80 bits of a keyed hash, in ULID form, so that they sort by time and
// deciding again at the same moment gives the same id. design §2
//
// Invariants:
//   M1. Same key, tenant, thread, prefix, position and time: same id. Nothing random enters.
//   M2. Ids of one prefix sort by time as text.
import { hash } from 'node:crypto';
import type { ThreadKey } from '@dormouse/ports';
import type { IdPrefix, Moment, Streamed } from '@dormouse/thread';
import { type HashKey, keyedDigest } from '../keyed-hash.ts';
import { nextTime } from './next-time.ts';

/** Crockford's alphabet: no I, L, O, U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeCharacters = 10;
const hashCharacters = 16;

/** The moment in which a slice of this thread is decided. */
export function momentOf(idKey: HashKey, key: ThreadKey, now: number, streamed: Streamed | null): Moment {
  return { now, streamed, sha256, nextTime, mint: (prefix, position) => mintId(idKey, key, prefix, position, now) };
}

export function mintId(idKey: HashKey, key: ThreadKey, prefix: IdPrefix, position: number, now: number): string {
  const digest = keyedDigest(idKey, `${key.tenant}\n${key.thread}\n${prefix}\n${position}`);
  return `${prefix}_${ulid(now, digest)}`;
}

/** 26 characters: `milliseconds` (48 bits), then the first 80 bits of `bits`. */
export function ulid(milliseconds: number, bits: Uint8Array): string {
  let text = '';
  for (let rest = milliseconds, digit = 0; digit < timeCharacters; digit++, rest = Math.floor(rest / 32)) {
    text = alphabet.charAt(rest % 32) + text;
  }
  for (let group = 0; group < hashCharacters; group++) text += alphabet.charAt(fiveBits(bits, group * 5));
  return text;
}

function fiveBits(bytes: Uint8Array, bit: number): number {
  const first = bytes[bit >> 3] ?? 0;
  const second = bytes[(bit >> 3) + 1] ?? 0;
  return (((first << 8) | second) >> (11 - (bit & 7))) & 31;
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
