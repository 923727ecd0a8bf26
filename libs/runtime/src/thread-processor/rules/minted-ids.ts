// Ids that are functions of the log: 48 bits of time and 80 bits of a keyed hash, in ULID form, so that they sort by
// time and deciding again at the same moment gives the same id.
//
// Invariants:
//   M1. Same key, tenant, thread, prefix, position and time: same id. Nothing random enters.
//   M2. Ids of one prefix sort by time as text.
import { hash } from 'node:crypto';
import type { ThreadKey } from '@dormouse/ports';
import type { IdPrefix, Moment, Streamed, TenantQuota } from '@dormouse/thread';
import { type HashKey, keyedHash } from '../../log/keyed-hash.ts';
import { ulid } from '../../log/ulid.ts';
import { nextTime } from './next-time.ts';

/** The moment in which a slice of this thread is decided. */
export function momentOf(
  idKey: HashKey,
  key: ThreadKey,
  now: number,
  streamed: Streamed | null,
  quota?: TenantQuota,
): Moment {
  const mint: Moment['mint'] = (prefix, position) => mintId(idKey, key, prefix, position, now);
  return { now, streamed, sha256, nextTime, mint, quota };
}

export function mintId(idKey: HashKey, key: ThreadKey, prefix: IdPrefix, position: number, now: number): string {
  const digest = keyedHash(idKey, `${key.tenant}\n${key.thread}\n${prefix}\n${position}`);
  return `${prefix}_${ulid(now, digest.toString('latin1'))}`;
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');
