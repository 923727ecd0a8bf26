// Removes rows of audits that are older than the installation keeps them. The rest of a chain verifies as before: its
// first row holds the hash of the last one that was removed. (audit-api Q2)
//
// Invariants:
//   A1. The last row of an audit stays, however old it is: numbers and hashes go on behind it.
//   A2. Rows go from the beginning, so that no gap is left. A removal is an entry itself; it waits until the oldest row
//       is a day older than it may be: one entry a day.
import type { AuditLog, TenantId } from '@dormouse/ports';
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { Auditor } from '../audit/auditor.ts';

const dayMs = 86_400_000;
const rowsPerRead = 500;
const readsMax = 20;

/** What the audit says of a removal by retention. */
export const auditedRemoval = (
  tenant: TenantId,
  action: 'audit.trimmed' | 'threads.removed',
  outcome: string,
): AuditEntry => ({
  ...{ tenant, actor: 'retention', action, target: null, from: null, outcome, requestId: null },
});

/** Answers how many rows were removed. `before`: milliseconds since the epoch. @throws Fault */
export async function trimAudit(
  { auditLog, audit }: { readonly auditLog: AuditLog; readonly audit: Auditor },
  tenant: TenantId,
  before: number,
): Promise<number> {
  const isOld = (row: { readonly at: string } | undefined, limit: number): boolean =>
    row !== undefined && Date.parse(row.at) < limit;
  const [oldest] = await auditLog.page(tenant, {}, { beyond: null, order: 'asc', limit: 1 });
  if (oldest === undefined || !isOld(oldest, before - dayMs)) return 0; // (A2)
  const last = (await auditLog.last(tenant))?.seq ?? 0;
  let upTo = oldest.seq - 1;
  for (let reads = 0; reads < readsMax; reads += 1) {
    const place = { beyond: upTo === 0 ? null : upTo, order: 'asc', limit: rowsPerRead } as const;
    const rows = await auditLog.page(tenant, {}, place);
    const old = rows.findIndex((row) => !isOld(row, before));
    upTo = Math.min(last - 1, upTo + (old < 0 ? rows.length : old)); // (A1)
    if (old >= 0 || rows.length < rowsPerRead) break;
  }
  if (upTo < oldest.seq) return 0;
  await auditLog.remove(tenant, upTo);
  await audit.record(auditedRemoval(tenant, 'audit.trimmed', `rows ${oldest.seq} to ${upTo}`));
  return upTo - oldest.seq + 1;
}
