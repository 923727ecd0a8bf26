// Erasures, each as a document. Port: ports/stores/erasures.ts.
import {
  decodeCursor,
  encodeCursor,
  type ErasureRecord,
  type Erasures,
  invalidCursor,
  type TenantId,
} from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, type DocumentRow } from '../registry/document.ts';

const insert =
  'INSERT INTO erasures (tenant, id, requested_at, is_running, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM erasures WHERE tenant = ? AND id = ?';
const selectPage =
  'SELECT document FROM erasures WHERE tenant = ? AND (requested_at, id) < (?, ?) ORDER BY requested_at DESC, id DESC LIMIT ?';
const selectRunning = 'SELECT document FROM erasures WHERE is_running = 1 ORDER BY requested_at, id LIMIT ?';
const replace = 'UPDATE erasures SET document = ?, is_running = ? WHERE tenant = ? AND id = ? AND document = ?';

export function createErasures(writer: GroupWriter, reader: Reader): Erasures {
  const get = (tenant: TenantId, id: string): ErasureRecord | null =>
    documentOf<ErasureRecord>(reader.one(select, tenant, id));
  const read = (rows: readonly DocumentRow[]): readonly ErasureRecord[] =>
    rows.map((row) => JSON.parse(row.document) as ErasureRecord);
  const isRunning = ({ certificate }: ErasureRecord): number => Number(certificate === null);
  return {
    insert: async (erasure) => {
      const { tenant, id, requestedAt } = erasure;
      await writer.rows('prompt', insert, [[tenant, id, requestedAt, isRunning(erasure), JSON.stringify(erasure)]]);
      return get(tenant, id) ?? erasure;
    },
    get: async (tenant, id) => get(tenant, id),
    list: async (tenant, { limit, cursor }) => {
      const [at, id] = cursor === null ? [Number.MAX_SAFE_INTEGER, ''] : placeOf(cursor);
      const found = read(reader.all<DocumentRow>(selectPage, tenant, at, id, limit + 1));
      const data = found.slice(0, limit);
      const last = data.at(-1);
      return { data, nextCursor: found.length > limit && last ? encodeCursor([last.requestedAt, last.id]) : null };
    },
    replace: async (erasure, seen) => {
      const { tenant, id } = erasure;
      const parameters = [JSON.stringify(erasure), isRunning(erasure), tenant, id, JSON.stringify(seen)];
      return (await writer.rows('prompt', replace, [parameters])) === 1;
    },
    running: async (limit) => read(reader.all<DocumentRow>(selectRunning, limit)),
  };
}

function placeOf(cursor: string): readonly [number, string] {
  const [at, id] = decodeCursor(cursor);
  if (typeof at !== 'number' || typeof id !== 'string') throw invalidCursor();
  return [at, id];
}
