// First answers by idempotency key. Port: ports/stores/idempotency.ts.
//
// Invariants:
//   I1. A claim is won by the one statement that inserts it, or that takes over one whose lease has expired.
//   I2. A key belongs to the body it was first used with until it is abandoned or swept.
//   I3. A claim ends with the process that held it: the next process may take it over at once, with the same body.
//   I4. The end of a claim is queued before any later claim, and no caller waits for it: every later claim sees it. The
//       same holds for renewals. Losing it in a crash costs a repetition, which the ids of the inputs make harmless.
import type { ClaimAnswer, IdempotencyKeys } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import { unavailable } from '../file/fault-of.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface KeyRow {
  readonly body_sha256: string;
  readonly status: number | null;
  readonly body: string | null;
}

/** Answers are kept at least a day. */
export const answersKeptMs = 2 * 86_400_000;

const claimKey =
  'INSERT INTO idempotency (tenant, route, key, body_sha256, claimed_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET claimed_at = excluded.claimed_at WHERE status IS NULL AND body_sha256 = excluded.body_sha256 AND claimed_at + ? <= excluded.claimed_at ' +
  'RETURNING claimed_at';
const select = 'SELECT body_sha256, status, body FROM idempotency WHERE tenant = ? AND route = ? AND key = ?';
const finishKey =
  'UPDATE idempotency SET status = ?, body = ? WHERE tenant = ? AND route = ? AND key = ? AND status IS NULL';
const renewKey =
  'UPDATE idempotency SET claimed_at = ? WHERE tenant = ? AND route = ? AND key = ? AND status IS NULL AND claimed_at < ?';
const abandonKey = 'DELETE FROM idempotency WHERE tenant = ? AND route = ? AND key = ? AND status IS NULL';
/** Deletes keys that were claimed before a time. */
export const sweepKeys = 'DELETE FROM idempotency WHERE claimed_at < ?';

const claimTriesMax = 5;

export function createIdempotencyKeys(writer: GroupWriter, reader: Reader): IdempotencyKeys {
  return {
    claim: async (tenant, route, key, bodySha256, now, leaseMs) => {
      for (let tries = 0; tries < claimTriesMax; tries += 1) {
        const won = await writer.ask('prompt', claimKey, [tenant, route, key, bodySha256, now, leaseMs]);
        if (won) return { claim: 'new' };
        const row = reader.one<KeyRow>(select, tenant, route, key);
        // Abandoned meanwhile: the key is free again.
        if (row) return answerOf(row, bodySha256);
      }
      throw unavailable('This idempotency key is being claimed and abandoned all the time.');
    },
    renew: async (tenant, route, key, now) =>
      unawaited(writer.rows('lazy', renewKey, [[now, tenant, route, key, now]])),
    finish: async (tenant, route, key, answer) =>
      unawaited(writer.rows('lazy', finishKey, [[answer.status, answer.body, tenant, route, key]])),
    abandon: async (tenant, route, key) => unawaited(writer.rows('lazy', abandonKey, [[tenant, route, key]])),
  };
}

/** (I4) */
function unawaited(ending: Promise<number>): void {
  ending.catch(() => undefined);
}

function answerOf(row: KeyRow, bodySha256: string): ClaimAnswer {
  if (row.body_sha256 !== bodySha256) return { claim: 'other_body' };
  if (row.status === null || row.body === null) return { claim: 'running' };
  return { claim: 'done', answer: { status: row.status, body: row.body } };
}
