// Deliveries to endpoints of customers. Port: ports/stores/hooks/webhooks.ts.
import {
  attemptsKept,
  type EndpointDue,
  pageOf,
  textBefore,
  type WebhookAttempt,
  type WebhookDeliveries,
  type WebhookDelivery,
} from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

interface StoredRow extends Omit<WebhookDelivery, 'attempts' | 'createdAt' | 'nextAt'> {
  readonly created_at: number;
  readonly attempts: string;
  readonly next_at: number | null;
}

const columns = 'tenant, webhook, id, event, body, created_at, state, attempts, tries, next_at';
const named = 'tenant = ? AND webhook = ? AND id = ?';

const insert = `INSERT INTO deliveries (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const select = `SELECT ${columns} FROM deliveries WHERE ${named}`;
const selectNewest = `SELECT ${columns} FROM deliveries WHERE tenant = ? AND webhook = ? ORDER BY id DESC LIMIT ?`;
const selectOlder = `SELECT ${columns} FROM deliveries WHERE tenant = ? AND webhook = ? AND id < ? ORDER BY id DESC LIMIT ?`;
const selectDue =
  `SELECT ${columns} FROM deliveries WHERE tenant = ? AND webhook = ? AND state = 'pending' AND next_at <= ? ` +
  'ORDER BY next_at, id LIMIT ?';
const selectWaiting =
  "SELECT webhook, min(next_at) AS next_at FROM deliveries WHERE tenant = ? AND state = 'pending' GROUP BY webhook";
const record =
  `UPDATE deliveries SET attempts = ?, tries = tries + 1, state = ?, next_at = ? ` +
  `WHERE ${named} AND state = 'pending' AND tries = ?`;
const again =
  "UPDATE deliveries SET tries = iif(state = 'pending', tries, 0), state = 'pending', next_at = ? " + `WHERE ${named}`;
const recover =
  "UPDATE deliveries SET state = 'pending', tries = 0, next_at = ? " +
  "WHERE tenant = ? AND webhook = ? AND state IN ('failed', 'aborted') AND created_at >= ?";
const fail =
  "UPDATE deliveries SET state = 'failed', next_at = NULL WHERE tenant = ? AND webhook = ? AND state = 'pending'";
/** Deletes what was made before a time and does not wait. */
export const sweepDeliveries = "DELETE FROM deliveries WHERE created_at < ? AND state <> 'pending'";

export function createWebhookDeliveries(writer: GroupWriter, reader: Reader): WebhookDeliveries {
  return {
    insert: async (deliveries) =>
      deliveries.length === 0 ? 0 : writer.rows('prompt', insert, deliveries.map(parametersOf)),
    get: async ({ tenant, webhook, id }) => {
      const row = reader.one<StoredRow>(select, tenant, webhook, id);
      return row && deliveryOf(row);
    },
    list: async (tenant, webhook, page) => {
      const before = textBefore(page);
      const rows =
        before === null
          ? reader.all<StoredRow>(selectNewest, tenant, webhook, page.limit + 1)
          : reader.all<StoredRow>(selectOlder, tenant, webhook, before, page.limit + 1);
      return pageOf(rows.map(deliveryOf), page, ({ id }) => [id]);
    },
    due: async (tenant, webhook, now, limit) =>
      reader.all<StoredRow>(selectDue, tenant, webhook, now, limit).map(deliveryOf),
    waiting: async (tenant) =>
      reader
        .all<{ readonly webhook: string; readonly next_at: number }>(selectWaiting, tenant)
        .map(({ webhook, next_at: nextAt }): EndpointDue => ({ webhook, nextAt })),
    record: ({ tenant, webhook, id, attempts, tries }, attempt, { state, nextAt }) => {
      const kept = JSON.stringify([...attempts, attempt].slice(-attemptsKept));
      return writer.changes(record, kept, state, nextAt, tenant, webhook, id, tries);
    },
    again: ({ tenant, webhook, id }, at) => writer.changes(again, at, tenant, webhook, id),
    recover: (tenant, webhook, since, at) => writer.rows('prompt', recover, [[at, tenant, webhook, since]]),
    fail: (tenant, webhook) => writer.rows('prompt', fail, [[tenant, webhook]]),
  };
}

const parametersOf = (delivery: WebhookDelivery) => [
  ...[delivery.tenant, delivery.webhook, delivery.id, delivery.event, delivery.body, delivery.createdAt],
  ...[delivery.state, JSON.stringify(delivery.attempts), delivery.tries, delivery.nextAt],
];

function deliveryOf({ created_at: createdAt, next_at: nextAt, attempts, ...row }: StoredRow): WebhookDelivery {
  const { tenant, webhook, id, event, body, state, tries } = row;
  return {
    ...{ tenant, webhook, id, event, body, createdAt, state, tries, nextAt },
    attempts: JSON.parse(attempts) as readonly WebhookAttempt[],
  };
}
