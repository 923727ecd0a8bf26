// The dispatcher's ledger. Contract: ports/stores/dispatch-ledger.ts (D1..D3).
import {
  type Attempt,
  type CallRecord,
  type DispatchLedger,
  type DispatchOutcome,
  type LedgerEntry,
  type ThreadKey,
} from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

interface EntryRow {
  readonly nonce: string | null;
  readonly outcome: DispatchOutcome | null;
  readonly detail: string | null;
  readonly claimed_at: number | null;
}

interface AttemptRow {
  readonly tool_call: string;
  readonly number: number;
  readonly at: number;
  readonly status: number | string;
  readonly duration_ms: number;
}

type CallRow = ({ readonly number: null } & EntryRow) | (Omit<AttemptRow, 'tool_call'> & EntryRow);

const selectEntry =
  'SELECT nonce, outcome, detail, claimed_at FROM ledger WHERE tenant = ? AND thread = ? AND subject = ?';
// The first nonce stays. (dispatch-ledger D1)
const claimEntry =
  'INSERT INTO ledger (tenant, thread, subject, nonce, claimed_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET claimed_at = iif(nonce IS NULL, excluded.claimed_at, claimed_at), nonce = ifnull(nonce, excluded.nonce) RETURNING nonce';
const unclaimEntry =
  'DELETE FROM ledger WHERE tenant = ? AND thread = ? AND subject = ? AND nonce = ? AND outcome IS NULL';
// The first outcome stays. (dispatch-ledger D2)
const settleEntry =
  'INSERT INTO ledger (tenant, thread, subject, outcome, detail) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET detail = iif(outcome IS NULL, excluded.detail, detail), outcome = ifnull(outcome, excluded.outcome) RETURNING outcome';
const insertAttempt =
  'INSERT INTO attempts (tenant, thread, tool_call, number, at, status, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const selectAttempts =
  'SELECT tool_call, number, at, status, duration_ms FROM attempts ' +
  'WHERE tenant = ? AND thread = ? AND tool_call = ? ORDER BY number, at';

// One query for both: attempts have a number, the entry has none. Running a statement costs more than what it finds.
const selectCall =
  'SELECT NULL AS number, NULL AS at, NULL AS status, NULL AS duration_ms, nonce, outcome, detail, claimed_at ' +
  'FROM ledger WHERE tenant = ?1 AND thread = ?2 AND subject = ?3 ' +
  'UNION ALL SELECT number, at, status, duration_ms, NULL, NULL, NULL, NULL ' +
  'FROM attempts WHERE tenant = ?1 AND thread = ?2 AND tool_call = ?3 ORDER BY number, at';

export function createDispatchLedger(writer: GroupWriter, reader: Reader): DispatchLedger {
  return {
    read: async (key, subject): Promise<LedgerEntry | null> => {
      const row = reader.one<EntryRow>(selectEntry, key.tenant, key.thread, subject);
      return row && entryOf(row);
    },
    look: async (key, toolCallId) => readCall(reader, key, toolCallId),
    claim: async (key, subject, nonce, at) => {
      const row = await writer.ask('prompt', claimEntry, [key.tenant, key.thread, subject, nonce, at]);
      return row?.['nonce'] === nonce;
    },
    unclaim: (key, subject, nonce) => writer.run(unclaimEntry, key.tenant, key.thread, subject, nonce),
    settle: async (key, subject, outcome, detail, attempt) => {
      // No caller waits for "sent"; a failure reaches the thread only after it is on disk.
      const urgency = outcome === 'sent' ? 'lazy' : 'prompt';
      const made = attempt === undefined ? null : { sql: insertAttempt, parameters: rowOf(key, attempt) };
      const row = await writer.ask(urgency, settleEntry, [key.tenant, key.thread, subject, outcome, detail], made);
      return row?.['outcome'] as DispatchOutcome;
    },
    record: async (key, attempt) => {
      await writer.rows('lazy', insertAttempt, [rowOf(key, attempt)]);
    },
    attempts: async (key, toolCallIds) =>
      toolCallIds.flatMap((id) => reader.all<AttemptRow>(selectAttempts, key.tenant, key.thread, id).map(attemptOf)),
  };
}

function readCall(reader: Reader, key: ThreadKey, toolCallId: string): CallRecord {
  const rows = reader.all<CallRow>(selectCall, key.tenant, key.thread, toolCallId);
  if (rows.length === 0) return nothingKnown;
  const entry = rows.find((row) => row.number === null);
  const attempts = rows.flatMap((row) => (row.number === null ? [] : [attemptOf({ ...row, tool_call: toolCallId })]));
  return { entry: entry === undefined ? null : entryOf(entry), attempts };
}

const nothingKnown: CallRecord = { entry: null, attempts: [] };

const entryOf = ({ nonce, outcome, detail, claimed_at: claimedAt }: EntryRow): LedgerEntry => ({
  nonce,
  outcome,
  detail,
  claimedAt,
});

const rowOf = (
  { tenant, thread }: ThreadKey,
  { toolCallId, number, at, status, durationMs }: Attempt,
): readonly SQLInputValue[] => [tenant, thread, toolCallId, number, at, status, Math.round(durationMs)];

const attemptOf = (row: AttemptRow): Attempt => ({
  toolCallId: row.tool_call,
  number: row.number,
  at: row.at,
  status: row.status,
  durationMs: row.duration_ms,
});
