// Erasures, each as a document. Port: ports/stores/erasures.ts.
import { type ErasureRecord, type Erasures, pageOf, placeBefore, type TenantId } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, documentsOf } from '../json-documents.ts';

const insert =
  'INSERT INTO erasures (tenant, id, requested_at, is_running, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM erasures WHERE tenant = ? AND id = ?';
const selectPage =
  'SELECT document FROM erasures WHERE tenant = ? AND (requested_at, id) < (?, ?) ORDER BY requested_at DESC, id DESC LIMIT ?';
const selectRunning = 'SELECT document FROM erasures WHERE is_running = 1 ORDER BY requested_at, id LIMIT ?';
const replace = 'UPDATE erasures SET document = ?, is_running = ? WHERE tenant = ? AND id = ? AND document = ?';

export function createErasures(writer: GroupWriter, reader: Reader): Erasures {
  const get = (tenant: TenantId, id: string): ErasureRecord | null =>
    documentOf<ErasureRecord>(reader, select, tenant, id);
  const isRunning = ({ certificate }: ErasureRecord): number => Number(certificate === null);
  return {
    insert: async (erasure) => {
      const { tenant, id, requestedAt } = erasure;
      await writer.run(insert, tenant, id, requestedAt, isRunning(erasure), JSON.stringify(erasure));
      return get(tenant, id) ?? erasure;
    },
    get: async (tenant, id) => get(tenant, id),
    list: async (tenant, page) => {
      const [at, id] = placeBefore(page) ?? [Number.MAX_SAFE_INTEGER, ''];
      const found = documentsOf<ErasureRecord>(reader, selectPage, tenant, at, id, page.limit + 1);
      return pageOf(found, page, (erasure) => [erasure.requestedAt, erasure.id]);
    },
    replace: (erasure, seen) => {
      const { tenant, id } = erasure;
      return writer.changes(replace, JSON.stringify(erasure), isRunning(erasure), tenant, id, JSON.stringify(seen));
    },
    running: async (limit) => documentsOf(reader, selectRunning, limit),
  };
}
