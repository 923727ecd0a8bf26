// Rows that are one JSON document, and pages of them.
import type { Page, PageRequest, TenantId } from '@dormouse/ports';
import { decodeCursor, encodeCursor, invalidCursor } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';

export interface DocumentRow {
  readonly document: string;
}

/** The document of a row that this adapter has written itself. */
export function documentOf<Document>(row: DocumentRow | null): Document | null {
  return row && (JSON.parse(row.document) as Document);
}

/** One page ordered by name. `sql` takes the tenant, the name after which the page begins, and a limit. */
export function pageByName<Document extends { readonly name: string }>(
  reader: Reader,
  sql: string,
  tenant: TenantId,
  request: PageRequest,
): Page<Document> {
  const after = request.cursor === null ? '' : nameOf(request.cursor);
  const rows = reader.all<DocumentRow>(sql, tenant, after, request.limit + 1);
  const data = rows.slice(0, request.limit).map((row) => JSON.parse(row.document) as Document);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > request.limit && last ? encodeCursor([last.name]) : null };
}

function nameOf(cursor: string): string {
  const [name] = decodeCursor(cursor);
  if (typeof name !== 'string') throw invalidCursor();
  return name;
}
