// Webhooks in memory: endpoints, deliveries, readers. Contract: ports/stores/hooks/webhooks.ts.
import {
  attemptsKept,
  type DeliveryName,
  type Webhook,
  type WebhookDeliveries,
  type WebhookDelivery,
  type WebhookReader,
  type WebhookReaders,
  type Webhooks,
  type TenantId,
} from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { byId, insertNew, pageOf, replaceSeen, rising, rowsOf } from '../rows.ts';

interface HeldReader extends WebhookReader {
  readonly holder: string | null;
}

/** By name; names begin with the tenant. */
export interface WebhookStore {
  readonly webhooks: Map<string, Webhook>;
  readonly deliveries: Map<string, WebhookDelivery>;
  readonly readers: Map<string, HeldReader>;
}

export const createWebhookStore = (): WebhookStore => ({
  ...{ webhooks: new Map(), deliveries: new Map(), readers: new Map() },
});

const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);
const deliveryName = ({ tenant, webhook, id }: DeliveryName): string => nameOf(tenant, webhook, id);

export function createWebhooks({ webhooks, deliveries }: WebhookStore, passage: Passage): Webhooks {
  return {
    insert: (webhook) =>
      passage.write('webhooks.insert', webhook.id, () =>
        insertNew(webhooks, nameOf(webhook.tenant, webhook.id), webhook),
      ),
    get: (tenant, id) => passage.read('webhooks.get', id, () => webhooks.get(nameOf(tenant, id)) ?? null),
    list: (tenant, page) =>
      passage.read('webhooks.list', tenant, () =>
        pageOf(rowsOf(webhooks, tenant).toSorted(byId), page, ({ id }) => id),
      ),
    count: (tenant) => passage.read('webhooks.count', tenant, () => rowsOf(webhooks, tenant).length),
    replace: (webhook, seen) =>
      passage.write('webhooks.replace', webhook.id, () =>
        replaceSeen(webhooks, nameOf(webhook.tenant, webhook.id), webhook, seen),
      ),
    remove: (tenant, id) =>
      passage.write('webhooks.remove', id, () => {
        for (const [name, delivery] of deliveries)
          if (delivery.tenant === tenant && delivery.webhook === id) deliveries.delete(name);
        return webhooks.delete(nameOf(tenant, id));
      }),
  };
}

export function createWebhookDeliveries({ deliveries }: WebhookStore, passage: Passage): WebhookDeliveries {
  const of = (tenant: TenantId, webhook: string): readonly WebhookDelivery[] =>
    rowsOf(deliveries, tenant).filter((each) => each.webhook === webhook);
  const put = (delivery: WebhookDelivery): void => void deliveries.set(deliveryName(delivery), delivery);
  const begun = { state: 'pending', tries: 0 } as const;
  return {
    insert: (given) =>
      passage.write('webhookDeliveries.insert', String(given.length), () => {
        const fresh = given.filter((delivery) => !deliveries.has(deliveryName(delivery)));
        for (const delivery of fresh) put(delivery);
        return fresh.length;
      }),
    get: (name) => passage.read('webhookDeliveries.get', name.id, () => deliveries.get(deliveryName(name)) ?? null),
    list: (tenant, webhook, page) =>
      passage.read('webhookDeliveries.list', webhook, () =>
        pageOf(of(tenant, webhook).toSorted(byId).toReversed(), page, ({ id }) => id),
      ),
    due: (tenant, webhook, now, limit) =>
      passage.read('webhookDeliveries.due', webhook, () =>
        of(tenant, webhook)
          .filter(({ nextAt }) => nextAt !== null && nextAt <= now)
          .toSorted((one, other) => (one.nextAt ?? 0) - (other.nextAt ?? 0) || byId(one, other))
          .slice(0, limit),
      ),
    waiting: (tenant) =>
      passage.read('webhookDeliveries.waiting', tenant, () => {
        const earliest = new Map<string, number>();
        for (const { webhook, nextAt } of rowsOf(deliveries, tenant))
          if (nextAt !== null) earliest.set(webhook, Math.min(nextAt, earliest.get(webhook) ?? nextAt));
        return [...earliest].map(([webhook, nextAt]) => ({ webhook, nextAt }));
      }),
    record: (seen, attempt, outcome) =>
      passage.write('webhookDeliveries.record', seen.id, () => {
        const known = deliveries.get(deliveryName(seen));
        if (known?.state !== 'pending' || known.tries !== seen.tries) return false;
        const attempts = [...seen.attempts, attempt].slice(-attemptsKept);
        put({ ...known, ...outcome, attempts, tries: known.tries + 1 });
        return true;
      }),
    again: (name, at) =>
      passage.write('webhookDeliveries.again', name.id, () => {
        const known = deliveries.get(deliveryName(name));
        if (known === undefined) return false;
        put({ ...known, ...(known.state === 'pending' ? {} : begun), nextAt: at });
        return true;
      }),
    recover: (tenant, webhook, since, at) =>
      passage.write('webhookDeliveries.recover', webhook, () => {
        const lost = of(tenant, webhook).filter(
          ({ state, createdAt }) => (state === 'failed' || state === 'aborted') && createdAt >= since,
        );
        for (const delivery of lost) put({ ...delivery, ...begun, nextAt: at });
        return lost.length;
      }),
    fail: (tenant, webhook) =>
      passage.write('webhookDeliveries.fail', webhook, () => {
        const waiting = of(tenant, webhook).filter(({ state }) => state === 'pending');
        for (const delivery of waiting) put({ ...delivery, state: 'failed', nextAt: null });
        return waiting.length;
      }),
  };
}

export function createWebhookReaders({ readers }: WebhookStore, passage: Passage): WebhookReaders {
  const shown = ({ holder: _, ...reader }: HeldReader): WebhookReader => reader;
  const find = (tenant: TenantId): HeldReader | undefined => readers.get(nameOf(tenant, 'reader'));
  const put = (reader: HeldReader): void => void readers.set(nameOf(reader.tenant, 'reader'), reader);
  return {
    changed: (tenant, place) =>
      passage.write('webhookReaders.changed', tenant, () => {
        const known = find(tenant);
        if (known === undefined && place === null) return false;
        const made = { tenant, place: place ?? '', changes: 0, holder: null, heldUntil: 0 };
        put({ ...(known ?? made), changes: (known?.changes ?? 0) + 1 });
        return true;
      }),
    list: (after, limit) =>
      passage.read('webhookReaders.list', after ?? '', () =>
        [...readers.values()]
          .filter(({ tenant }) => after === null || tenant > after)
          .toSorted(rising(({ tenant }) => tenant))
          .slice(0, limit)
          .map(shown),
      ),
    get: (tenant) =>
      passage.read('webhookReaders.get', tenant, () => {
        const known = find(tenant);
        return known === undefined ? null : shown(known);
      }),
    hold: (tenant, holder, now, until) =>
      passage.write('webhookReaders.hold', tenant, () => {
        const known = find(tenant);
        if (known === undefined) return false;
        if (known.holder !== null && known.holder !== holder && known.heldUntil > now) return false;
        put({ ...known, holder, heldUntil: until });
        return true;
      }),
    renew: (holder, until) =>
      passage.write('webhookReaders.renew', holder, () => {
        for (const reader of readers.values()) if (reader.holder === holder) put({ ...reader, heldUntil: until });
      }),
    release: (holder) =>
      passage.write('webhookReaders.release', holder, () => {
        for (const reader of readers.values())
          if (reader.holder === holder) put({ ...reader, holder: null, heldUntil: 0 });
      }),
    advance: (tenant, holder, place) =>
      passage.write('webhookReaders.advance', tenant, () => {
        const known = find(tenant);
        if (known?.holder !== holder) return false;
        put({ ...known, place });
        return true;
      }),
    remove: ({ tenant, changes }) =>
      passage.write('webhookReaders.remove', tenant, () => {
        const known = find(tenant);
        return known?.changes === changes && readers.delete(nameOf(tenant, 'reader'));
      }),
  };
}
