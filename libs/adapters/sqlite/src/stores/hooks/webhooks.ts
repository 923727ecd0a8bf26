// Endpoints of customers, and readers of the log for them. Port: ports/stores/hooks/webhooks.ts.
import {
  decodeCursor,
  encodeCursor,
  invalidCursor,
  type Webhook,
  type WebhookReader,
  type WebhookReaders,
  type Webhooks,
} from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, type DocumentRow } from '../registry/document.ts';

const insert = 'INSERT INTO webhooks (tenant, id, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM webhooks WHERE tenant = ? AND id = ?';
const selectPage = 'SELECT document FROM webhooks WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?';
const selectCount = 'SELECT count(*) AS count FROM webhooks WHERE tenant = ?';
const replace = 'UPDATE webhooks SET document = ? WHERE tenant = ? AND id = ? AND document = ?';
const remove = 'DELETE FROM webhooks WHERE tenant = ? AND id = ?';
const removeDeliveries = 'DELETE FROM deliveries WHERE tenant = ? AND webhook = ?';

/** The id behind which a page begins. @throws Fault CURSOR_INVALID */
export function idBehind(cursor: string | null): string | null {
  if (cursor === null) return null;
  const [id] = decodeCursor(cursor);
  if (typeof id !== 'string') throw invalidCursor();
  return id;
}

export function createWebhooks(writer: GroupWriter, reader: Reader): Webhooks {
  return {
    insert: async (webhook) =>
      (await writer.rows('prompt', insert, [[webhook.tenant, webhook.id, JSON.stringify(webhook)]])) === 1,
    get: async (tenant, id) => documentOf<Webhook>(reader.one(select, tenant, id)),
    list: async (tenant, { limit, cursor }) => {
      const rows = reader.all<DocumentRow>(selectPage, tenant, idBehind(cursor) ?? '', limit + 1);
      const data = rows.slice(0, limit).map(({ document }) => JSON.parse(document) as Webhook);
      const last = data.at(-1);
      return { data, nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null };
    },
    count: async (tenant) => reader.one<{ readonly count: number }>(selectCount, tenant)?.count ?? 0,
    // The text of an object that was read is the text that is stored.
    replace: async (webhook, seen) => {
      const parameters = [JSON.stringify(webhook), webhook.tenant, webhook.id, JSON.stringify(seen)];
      return (await writer.rows('prompt', replace, [parameters])) === 1;
    },
    remove: async (tenant, id) => {
      const parameters = [tenant, id];
      const steps = [remove, removeDeliveries].map((sql) => ({ sql, parameters }));
      return (await writer.steps('prompt', steps)) === 1;
    },
  };
}

interface ReaderRow extends Omit<WebhookReader, 'heldUntil'> {
  readonly held_until: number;
}

const countUp = 'UPDATE webhook_readers SET changes = changes + 1 WHERE tenant = ?';
const makeOrCountUp =
  'INSERT INTO webhook_readers (tenant, place, changes, held_until) VALUES (?, ?, 1, 0) ' +
  'ON CONFLICT DO UPDATE SET changes = changes + 1';
const selectReaders =
  'SELECT tenant, place, changes, held_until FROM webhook_readers WHERE tenant > ? ORDER BY tenant LIMIT ?';
const selectReader = 'SELECT tenant, place, changes, held_until FROM webhook_readers WHERE tenant = ?';
const hold =
  'UPDATE webhook_readers SET holder = ?2, held_until = ?4 ' +
  'WHERE tenant = ?1 AND (holder IS NULL OR holder = ?2 OR held_until <= ?3)';
const renew = 'UPDATE webhook_readers SET held_until = ? WHERE holder = ?';
const release = 'UPDATE webhook_readers SET holder = NULL, held_until = 0 WHERE holder = ?';
const advance = 'UPDATE webhook_readers SET place = ? WHERE tenant = ? AND holder = ?';
const removeReader = 'DELETE FROM webhook_readers WHERE tenant = ? AND changes = ?';

export function createWebhookReaders(writer: GroupWriter, reader: Reader): WebhookReaders {
  const changing = async (sql: string, ...parameters: readonly (string | number)[]): Promise<boolean> =>
    (await writer.rows('prompt', sql, [parameters])) === 1;
  return {
    changed: (tenant, place) => (place === null ? changing(countUp, tenant) : changing(makeOrCountUp, tenant, place)),
    list: async (after, limit) => reader.all<ReaderRow>(selectReaders, after ?? '', limit).map(readerOf),
    get: async (tenant) => {
      const found = reader.one<ReaderRow>(selectReader, tenant);
      return found && readerOf(found);
    },
    hold: (tenant, holder, now, until) => changing(hold, tenant, holder, now, until),
    renew: async (holder, until) => {
      await writer.rows('prompt', renew, [[until, holder]]);
    },
    release: async (holder) => {
      await writer.rows('prompt', release, [[holder]]);
    },
    advance: (tenant, holder, place) => changing(advance, place, tenant, holder),
    remove: ({ tenant, changes }) => changing(removeReader, tenant, changes),
  };
}

const readerOf = ({ held_until: heldUntil, tenant, place, changes }: ReaderRow): WebhookReader => ({
  ...{ tenant, place, changes, heldUntil },
});
