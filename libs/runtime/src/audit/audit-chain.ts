// The chain of one tenant's audit: every row holds the hash of the row before, so that a change, a gap or another
// order is found by reading the rows alone.
import { canonicalJson } from '@dormouse/json';
import type { AuditRow } from '@dormouse/ports';
import { hash } from 'node:crypto';
import type { AuditEntry } from './audit-entry.ts';

/** `prev` of the first row of a tenant. */
export const noHash = '0'.repeat(64);

/** An entry and its time, milliseconds since the epoch. */
export interface TimedEntry {
  readonly entry: AuditEntry;
  readonly at: number;
}

/** The rows of these entries behind `last`; null for the first rows of a tenant. */
export function chainedTo(last: Pick<AuditRow, 'seq' | 'hash'> | null, entries: readonly TimedEntry[]): AuditRow[] {
  let { seq, hash: prev } = last ?? { seq: 0, hash: noHash };
  return entries.map(({ entry, at }) => {
    seq += 1;
    const { actor, action, target, from, outcome, requestId } = entry;
    const content = { seq, at: new Date(at).toISOString(), actor, action, target, from, outcome };
    const row = hashed({ ...content, request_id: requestId, prev });
    prev = row.hash;
    return row;
  });
}

function hashed(content: Omit<AuditRow, 'hash'>): AuditRow {
  return { ...content, hash: hash('sha256', canonicalJson(content)) };
}
