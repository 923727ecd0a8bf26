// Endpoints of customers, and readers of the log for them. Port: ports/stores/hooks/webhooks.ts.
import type { Webhook, WebhookReader, WebhookReaders, Webhooks } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { documentOf, idOf, pageOfDocuments } from '../json-documents.ts';

const insert = 'INSERT INTO webhooks (tenant, id, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT document FROM webhooks WHERE tenant = ? AND id = ?';
const selectPage = 'SELECT document FROM webhooks WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?';
const selectCount = 'SELECT count(*) AS count FROM webhooks WHERE tenant = ?';
const replace = 'UPDATE webhooks SET document = ? WHERE tenant = ? AND id = ? AND document = ?';
const remove = 'DELETE FROM webhooks WHERE tenant = ? AND id = ?';
const removeDeliveries = 'DELETE FROM deliveries WHERE tenant = ? AND webhook = ?';

export function createWebhooks(writer: GroupWriter, reader: Reader): Webhooks {
  return {
    insert: (webhook) => writer.changes(insert, webhook.tenant, webhook.id, JSON.stringify(webhook)),
    get: async (tenant, id) => documentOf<Webhook>(reader, select, tenant, id),
    list: async (tenant, page) => pageOfDocuments<Webhook>(reader, page, idOf, selectPage, tenant),
    count: async (tenant) => reader.one<{ readonly count: number }>(selectCount, tenant)?.count ?? 0,
    // The text of an object that was read is the text that is stored.
    replace: (webhook, seen) =>
      writer.changes(replace, JSON.stringify(webhook), webhook.tenant, webhook.id, JSON.stringify(seen)),
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
  return {
    changed: (tenant, place) =>
      place === null ? writer.changes(countUp, tenant) : writer.changes(makeOrCountUp, tenant, place),
    list: async (after, limit) => reader.all<ReaderRow>(selectReaders, after ?? '', limit).map(readerOf),
    get: async (tenant) => {
      const found = reader.one<ReaderRow>(selectReader, tenant);
      return found && readerOf(found);
    },
    hold: (tenant, holder, now, until) => writer.changes(hold, tenant, holder, now, until),
    renew: (holder, until) => writer.run(renew, until, holder),
    release: (holder) => writer.run(release, holder),
    advance: (tenant, holder, place) => writer.changes(advance, place, tenant, holder),
    remove: ({ tenant, changes }) => writer.changes(removeReader, tenant, changes),
  };
}

const readerOf = ({ held_until: heldUntil, tenant, place, changes }: ReaderRow): WebhookReader => ({
  ...{ tenant, place, changes, heldUntil },
});
