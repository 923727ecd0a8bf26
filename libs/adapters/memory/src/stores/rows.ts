// What the stores of rows share: each is a map by names, and a name begins with the tenant of its row.
import type { Page, PageRequest, TenantId } from '@dormouse/ports';

/** False when there is a row of this name. */
export function insertNew<Row>(rows: Map<string, Row>, name: string, row: Row): boolean {
  if (rows.has(name)) return false;
  rows.set(name, row);
  return true;
}

/** Only if what was read is still there. */
export function replaceSeen<Row>(rows: Map<string, Row>, name: string, row: Row, seen: Row): boolean {
  if (JSON.stringify(rows.get(name)) !== JSON.stringify(seen)) return false;
  rows.set(name, row);
  return true;
}

export const rowsOf = <Row extends { readonly tenant: TenantId }>(
  rows: ReadonlyMap<string, Row>,
  tenant: TenantId,
): readonly Row[] => [...rows.values()].filter((row) => row.tenant === tenant);

/** For rows of which no two share the text. */
export const rising =
  <Row>(textOf: (row: Row) => string) =>
  (one: Row, other: Row): number =>
    textOf(one) < textOf(other) ? -1 : 1;

export const byName = rising(({ name }: { readonly name: string }) => name);
export const byId = rising(({ id }: { readonly id: string }) => id);
export const byThread = rising(({ thread }: { readonly thread: string }) => thread);

/** The page after `cursor`, which names the last row of the page before. */
export function pageOf<Row>(
  rows: readonly Row[],
  { limit, cursor }: PageRequest,
  nameOfRow: (row: Row) => string,
): Page<Row> {
  const start = cursor === null ? 0 : rows.findIndex((row) => nameOfRow(row) === cursor) + 1;
  const data = rows.slice(start, start + limit);
  const last = data.at(-1);
  return { data, nextCursor: last !== undefined && start + limit < rows.length ? nameOfRow(last) : null };
}
