// The audit in memory. Contract: ports/stores/audit-log.ts.
import type { AuditLog, AuditRow, TenantId } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

/** Rows by tenant, in order. */
export type AuditLogStore = Map<string, AuditRow[]>;

export function createAuditLog(store: AuditLogStore, passage: Passage): AuditLog {
  const rowsOf = (tenant: TenantId): readonly AuditRow[] => store.get(tenant) ?? [];
  return {
    append: (tenant, rows) =>
      passage.write('auditLog.append', tenant, () => {
        const before = rowsOf(tenant);
        if (rows[0]?.seq !== (before.at(-1)?.seq ?? 0) + 1) return false;
        store.set(tenant, [...before, ...rows]);
        return true;
      }),
    last: (tenant) => passage.read('auditLog.last', tenant, () => rowsOf(tenant).at(-1) ?? null),
    page: (tenant, { actor, action, from = 0, to = Infinity }, { beyond, order, limit }) =>
      passage.read('auditLog.page', tenant, () => {
        const found = rowsOf(tenant).filter((row) => {
          const at = Date.parse(row.at);
          return (actor ?? row.actor) === row.actor && (action ?? row.action) === row.action && at >= from && at < to;
        });
        const turned = order === 'asc' ? found : found.toReversed();
        const isBeyond = ({ seq }: AuditRow): boolean =>
          beyond === null || (order === 'asc' ? seq > beyond : seq < beyond);
        return turned.filter(isBeyond).slice(0, limit);
      }),
    remove: (tenant, upTo) =>
      passage.write('auditLog.remove', tenant, () => {
        const before = rowsOf(tenant);
        const last = before.at(-1)?.seq ?? 0;
        store.set(
          tenant,
          before.filter(({ seq }) => seq > upTo || seq === last),
        );
      }),
  };
}
