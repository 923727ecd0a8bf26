// The dispatcher's ledger in memory: the first claim and the first outcome stay. (dispatch-ledger D1, D2)
import type { Attempt, DispatchLedger, LedgerEntry, ThreadKey } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from '../log/thread-log.ts';

/** The durable part. */
export interface LedgerStore {
  readonly entries: Map<string, LedgerEntry>;
  readonly attempts: Map<string, Attempt[]>;
}

const unknownSubject: LedgerEntry = { nonce: null, outcome: null, detail: null, claimedAt: null };

export function createDispatchLedger({ entries, attempts }: LedgerStore, passage: Passage): DispatchLedger {
  const rowOf = (key: ThreadKey, subject: string): string => `${nameOf(key)}:${subject}`;
  function add(key: ThreadKey, attempt: Attempt): void {
    const row = rowOf(key, attempt.toolCallId);
    const before = attempts.get(row) ?? [];
    const others = before.filter((other) => other.number !== attempt.number || other.at !== attempt.at);
    attempts.set(row, [...others, attempt]);
  }
  return {
    read: (key, subject) => passage.read('ledger.read', subject, () => entries.get(rowOf(key, subject)) ?? null),
    look: (key, toolCallId) =>
      passage.read('ledger.read', toolCallId, () => {
        const row = rowOf(key, toolCallId);
        return { entry: entries.get(row) ?? null, attempts: attempts.get(row) ?? [] };
      }),
    claim: (key, subject, nonce, at) =>
      passage.write('ledger.claim', subject, () => {
        const entry = entries.get(rowOf(key, subject)) ?? unknownSubject;
        if (entry.nonce !== null) return entry.nonce === nonce;
        entries.set(rowOf(key, subject), { ...entry, nonce, claimedAt: at });
        return true;
      }),
    unclaim: (key, subject, nonce) =>
      passage.write('ledger.unclaim', subject, () => {
        const entry = entries.get(rowOf(key, subject));
        if (entry?.nonce === nonce && entry.outcome === null) entries.delete(rowOf(key, subject));
      }),
    settle: (key, subject, outcome, detail, attempt) =>
      passage.write('ledger.settle', subject, () => {
        if (attempt !== undefined) add(key, attempt);
        const entry = entries.get(rowOf(key, subject)) ?? unknownSubject;
        if (entry.outcome !== null) return entry.outcome;
        entries.set(rowOf(key, subject), { ...entry, outcome, detail });
        return outcome;
      }),
    record: (key, attempt) => passage.write('ledger.record', attempt.toolCallId, () => add(key, attempt)),
    attempts: (key, toolCallIds) =>
      passage.read('ledger.attempts', toolCallIds.join(','), () =>
        toolCallIds.flatMap((id) => attempts.get(rowOf(key, id)) ?? []),
      ),
  };
}
