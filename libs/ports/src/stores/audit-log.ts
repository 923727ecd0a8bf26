// The audit of each tenant: who did what, in rows that are chained by hashes. Rows are appended and never changed; the
// oldest may be removed.
//
// Contract (contracts/audit-log.contract.ts):
//   W1. The rows of a tenant are numbered from 1 without a gap, those that were removed among them; a number is given
//       once.
//   W2. Rows whose first number is taken change nothing. Of the others a beginning may be stored when the store fails
//       in the middle, never a part behind a gap.
//   W3. What was appended is found by every process from then on, byte for byte.
//   W4. A page is in order of numbers, ascending or descending, and holds rows of its tenant and its filter alone.
//   W5. A removal takes every row up to a number, and never the last one: rows are appended behind it as before.
import type { TenantId } from '@dormouse/thread';

/** One row, as its hash covers it (`hash` itself excepted). */
export interface AuditRow {
  /** From 1 in each tenant. */
  readonly seq: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** A key's id, `user:` and the id of a user, `platform`, or the name of a part of the runtime. */
  readonly actor: string;
  readonly action: string;
  /** The id or name of what was acted on; null where there is none. */
  readonly target: string | null;
  /** The address of the client; null for what the runtime did itself. */
  readonly from: string | null;
  readonly outcome: string;
  readonly request_id: string | null;
  /** `hash` of the row before; 64 zeros in the first row of a tenant. */
  readonly prev: string;
  /** SHA-256 of the row's other members as RFC 8785 JSON; lower-case hex. */
  readonly hash: string;
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly to?: number | undefined;
}

export interface AuditPage {
  /** Numbers beyond this one, in the direction of the page; null from its beginning. */
  readonly beyond: number | null;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface AuditLog {
  /** Rows of consecutive numbers, 1 to `auditRowsAtOnceMax`. Answers false when the first number is taken. (W2) */
  append(tenant: TenantId, rows: readonly AuditRow[]): Promise<boolean>;
  /** The row with the highest number; null for none. */
  last(tenant: TenantId): Promise<AuditRow | null>;
  page(tenant: TenantId, filter: AuditFilter, page: AuditPage): Promise<readonly AuditRow[]>;
  /** Removes the rows up to this number. Resolves when their absence is durable. (W5) */
  remove(tenant: TenantId, upTo: number): Promise<void>;
}

export const auditRowsAtOnceMax = 500;
