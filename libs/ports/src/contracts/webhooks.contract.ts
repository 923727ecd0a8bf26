// The contract of `Webhooks`, `WebhookDeliveries` and `WebhookReaders`, for every adapter.
import { describe, expect, it } from 'vitest';
import {
  attemptsKept,
  type Page,
  type PageRequest,
  type Webhook,
  type WebhookDelivery,
  type WebhookReader,
  type Stores,
  type TenantId,
} from '../index.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export type WebhookStoresUnderTest = Pick<Stores, 'webhooks' | 'webhookDeliveries' | 'webhookReaders'>;

/** Of now: a store may delete what is old. */
const at = Date.now();

const webhookOf = (tenant: TenantId, id: string, more: Partial<Webhook> = {}): Webhook => ({
  ...{ tenant, id, url: 'https://hooks.example/in?key=ü', events: ['thread.idle', 'choice.requested'] },
  ...{ filter: { agents: ['support'], metadata: { 'a.b': 'c' } }, state: 'active', sealed: 'v1.sealed', before: null },
  ...{ createdAt: at, updatedAt: at, activeSince: at, failingSince: null, problem: null },
  ...more,
});

const deliveryOf = (tenant: TenantId, webhook: string, id: string, more: Partial<WebhookDelivery> = {}) =>
  ({
    ...{ tenant, webhook, id, event: 'thread.idle', body: '{"type":"thread.idle"}', createdAt: at, state: 'pending' },
    ...{ attempts: [], tries: 0, nextAt: at },
    ...(more as object),
  }) as WebhookDelivery;

async function wholeList<Item>(list: (page: PageRequest) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page = await list({ limit: 2, cursor });
    expect(page.data.length).toBeLessThanOrEqual(2);
    found.push(...page.data);
    cursor = page.nextCursor;
  }
  return found;
}

export function webhooksContract(name: string, make: () => Promise<UnderTest<WebhookStoresUnderTest>>): void {
  const opened = openedOnce(make);

  describe(`Webhooks contract: ${name}`, () => {
    it('(W1) keeps an endpoint whole, an id once, and makes one of several changes at once', async () => {
      const { webhooks } = await opened.get();
      const tenant = freshTenant();
      const webhook = webhookOf(tenant, 'whk_1', { before: { sealed: 'old', until: at + 5 } });
      expect(await webhooks.get(tenant, 'whk_1')).toBeNull();
      expect(await Promise.all([1, 2, 3].map(() => webhooks.insert(webhook)))).toHaveLength(3);
      expect(await webhooks.insert({ ...webhook, url: 'https://other.example' })).toBe(false);
      expect(await webhooks.get(tenant, 'whk_1')).toEqual(webhook);
      expect(await webhooks.get(freshTenant(), 'whk_1')).toBeNull();
      const changes = Array.from({ length: 6 }, (_, nth) => ({ ...webhook, updatedAt: at + nth + 1 }));
      const done = await Promise.all(changes.map((changed) => webhooks.replace(changed, webhook)));
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await webhooks.get(tenant, 'whk_1')).toEqual(changes[done.indexOf(true)]);
      expect(await webhooks.replace(webhookOf(tenant, 'whk_9'), webhookOf(tenant, 'whk_9'))).toBe(false);
    });

    it('lists and counts those of a tenant, page by page', async () => {
      const { webhooks } = await opened.get();
      const [tenant, other] = [freshTenant(), freshTenant()];
      const own = ['whk_3', 'whk_1', 'whk_2', 'whk_5', 'whk_4'].map((id) => webhookOf(tenant, id));
      for (const webhook of [...own, webhookOf(other, 'whk_1')]) await webhooks.insert(webhook);
      const found = await wholeList((page) => webhooks.list(tenant, page));
      expect(found.map(({ id }) => id)).toEqual(['whk_1', 'whk_2', 'whk_3', 'whk_4', 'whk_5']);
      expect([await webhooks.count(tenant), await webhooks.count(freshTenant())]).toEqual([5, 0]);
    });

    it('(W5) removes an endpoint with its deliveries, once, and nothing else', async () => {
      const { webhooks, webhookDeliveries } = await opened.get();
      const tenant = freshTenant();
      for (const id of ['whk_1', 'whk_2']) {
        await webhooks.insert(webhookOf(tenant, id));
        await webhookDeliveries.insert([deliveryOf(tenant, id, 'dlv_1')]);
      }
      expect(await webhooks.remove(tenant, 'whk_1')).toBe(true);
      expect(await webhooks.remove(tenant, 'whk_1')).toBe(false);
      expect(await webhookDeliveries.get(deliveryOf(tenant, 'whk_1', 'dlv_1'))).toBeNull();
      expect(await webhookDeliveries.waiting(tenant)).toEqual([{ webhook: 'whk_2', nextAt: at }]);
      expect(await webhooks.get(tenant, 'whk_2')).not.toBeNull();
    });

    it('outlives its process', async () => {
      const tenant = freshTenant();
      const webhook = webhookOf(tenant, 'whk_1');
      const { webhooks } = await opened.get();
      await webhooks.insert(webhook);
      const again = await opened.reopened();
      if (again !== null) expect(await again.webhooks.get(tenant, 'whk_1')).toEqual(webhook);
    });
  });

  describe(`WebhookDeliveries contract: ${name}`, () => {
    const fresh = async () => ({ tenant: freshTenant(), webhook: 'whk_1', ...(await opened.get()) });

    it('(W2) stores a delivery once, whatever has become of it', async () => {
      const { tenant, webhook, webhookDeliveries: deliveries } = await fresh();
      const one = deliveryOf(tenant, webhook, 'dlv_1');
      const two = deliveryOf(tenant, webhook, 'dlv_2');
      expect(await deliveries.insert([])).toBe(0);
      expect(await deliveries.insert([one])).toBe(1);
      expect(await deliveries.record(one, { at, status: 200, ms: 3 }, { state: 'delivered', nextAt: null })).toBe(true);
      expect(await deliveries.insert([one, two])).toBe(1);
      expect(await deliveries.get(one)).toEqual({
        ...{ ...one, state: 'delivered', nextAt: null, tries: 1, attempts: [{ at, status: 200, ms: 3 }] },
      });
      expect(await deliveries.get(two)).toEqual(two);
      const both = await Promise.all([1, 2, 3].map(() => deliveries.insert([deliveryOf(tenant, webhook, 'dlv_3')])));
      expect(both.reduce((sum, count) => sum + count, 0)).toBe(1);
    });

    it('(W3) records one attempt of several, and none of a delivery that was begun again', async () => {
      const { tenant, webhook, webhookDeliveries: deliveries } = await fresh();
      const one = deliveryOf(tenant, webhook, 'dlv_1');
      await deliveries.insert([one]);
      const failed = { at, status: 'TIMEOUT', ms: 15_000 };
      const later = { state: 'pending', nextAt: at + 5_000 } as const;
      const done = await Promise.all([1, 2, 3, 4].map(() => deliveries.record(one, failed, later)));
      expect(done.filter(Boolean)).toHaveLength(1);
      const seen = (await deliveries.get(one))!;
      expect(seen).toMatchObject({ tries: 1, attempts: [failed], nextAt: at + 5_000, state: 'pending' });
      await deliveries.record(seen, { at: at + 1, status: 500, ms: 1 }, { state: 'failed', nextAt: null });
      expect(await deliveries.again(one, at + 9)).toBe(true);
      expect(await deliveries.record(seen, failed, later)).toBe(false);
      const begun = (await deliveries.get(one))!;
      expect(begun).toMatchObject({ state: 'pending', tries: 0, nextAt: at + 9 });
      expect(begun.attempts).toHaveLength(2);
      await deliveries.record(begun, failed, later);
      expect(await deliveries.again(one, at + 10)).toBe(true);
      expect(await deliveries.get(one)).toMatchObject({ state: 'pending', tries: 1, nextAt: at + 10 });
      expect(await deliveries.again(deliveryOf(tenant, webhook, 'dlv_0'), at)).toBe(false);
    });

    it('keeps the last attempts', async () => {
      const { tenant, webhook, webhookDeliveries: deliveries } = await fresh();
      const attempts = Array.from({ length: attemptsKept }, (_, nth) => ({ at: at + nth, status: 500, ms: 1 }));
      const one = deliveryOf(tenant, webhook, 'dlv_1', { attempts });
      await deliveries.insert([one]);
      await deliveries.record(one, { at, status: 503, ms: 2 }, { state: 'failed', nextAt: null });
      const kept = (await deliveries.get(one))?.attempts ?? [];
      expect([kept.length, kept[0]?.at, kept.at(-1)?.status]).toEqual([attemptsKept, at + 1, 503]);
    });

    it('knows what is due and what waits, of each endpoint', async () => {
      const { tenant, webhookDeliveries: deliveries } = await fresh();
      await deliveries.insert([
        deliveryOf(tenant, 'whk_1', 'dlv_1', { nextAt: at + 30 }),
        deliveryOf(tenant, 'whk_1', 'dlv_2', { nextAt: at + 10 }),
        deliveryOf(tenant, 'whk_1', 'dlv_3', { nextAt: at + 20 }),
        deliveryOf(tenant, 'whk_1', 'dlv_4', { state: 'failed', nextAt: null }),
        deliveryOf(tenant, 'whk_2', 'dlv_5', { nextAt: at + 40 }),
        deliveryOf(freshTenant(), 'whk_1', 'dlv_6', { nextAt: at }),
      ]);
      const due = async (now: number, limit: number) =>
        (await deliveries.due(tenant, 'whk_1', now, limit)).map(({ id }) => id);
      expect(await due(at + 9, 10)).toEqual([]);
      expect(await due(at + 20, 10)).toEqual(['dlv_2', 'dlv_3']);
      expect(await due(at + 99, 2)).toEqual(['dlv_2', 'dlv_3']);
      const waiting = (await deliveries.waiting(tenant)).toSorted((one, other) => one.nextAt - other.nextAt);
      expect(waiting).toEqual([
        { webhook: 'whk_1', nextAt: at + 10 },
        { webhook: 'whk_2', nextAt: at + 40 },
      ]);
    });

    it('lists the newest first, page by page', async () => {
      const { tenant, webhook, webhookDeliveries: deliveries } = await fresh();
      const ids = ['dlv_3', 'dlv_1', 'dlv_5', 'dlv_2', 'dlv_4'];
      await deliveries.insert(ids.map((id) => deliveryOf(tenant, webhook, id)));
      await deliveries.insert([deliveryOf(tenant, 'whk_2', 'dlv_9')]);
      const found = await wholeList((page) => deliveries.list(tenant, webhook, page));
      expect(found.map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
    });

    it('begins again what failed or was aborted since a time, and lets what waits fail', async () => {
      const { tenant, webhook, webhookDeliveries: deliveries } = await fresh();
      const ended = { nextAt: null, tries: 8 } as const;
      await deliveries.insert([
        deliveryOf(tenant, webhook, 'dlv_1', { ...ended, state: 'failed', createdAt: at - 1 }),
        deliveryOf(tenant, webhook, 'dlv_2', { ...ended, state: 'failed' }),
        deliveryOf(tenant, webhook, 'dlv_3', { ...ended, state: 'aborted', createdAt: at + 1 }),
        deliveryOf(tenant, webhook, 'dlv_4', { ...ended, state: 'delivered' }),
        deliveryOf(tenant, webhook, 'dlv_5'),
        deliveryOf(tenant, 'whk_2', 'dlv_6', { ...ended, state: 'failed' }),
      ]);
      expect(await deliveries.recover(tenant, webhook, at, at + 7)).toBe(2);
      const states = async () =>
        (await deliveries.list(tenant, webhook, { limit: 9, cursor: null })).data
          .map(({ state }) => state)
          .toReversed();
      expect(await states()).toEqual(['failed', 'pending', 'pending', 'delivered', 'pending']);
      expect(await deliveries.get(deliveryOf(tenant, webhook, 'dlv_2'))).toMatchObject({ tries: 0, nextAt: at + 7 });
      expect(await deliveries.fail(tenant, webhook)).toBe(3);
      expect(await states()).toEqual(['failed', 'failed', 'failed', 'delivered', 'failed']);
      expect(await deliveries.waiting(tenant)).toEqual([]);
    });
  });

  describe(`WebhookReaders contract: ${name}`, () => {
    it('(W4) makes a reader at its first place, and counts changes', async () => {
      const { webhookReaders: readers } = await opened.get();
      const tenant = freshTenant();
      expect(await readers.changed(tenant, null)).toBe(false);
      expect(await readers.get(tenant)).toBeNull();
      const made = await Promise.all(['7', '8', '9'].map((place) => readers.changed(tenant, place)));
      expect(made).toEqual([true, true, true]);
      const { place = '', changes } = (await readers.get(tenant)) ?? {};
      expect(['7', '8', '9']).toContain(place);
      expect(changes).toBe(3);
      expect(await readers.changed(tenant, null)).toBe(true);
      expect(await readers.get(tenant)).toMatchObject({ tenant, place, changes: 4 });
    });

    it('(W4) is held by one at a time, which alone moves it', async () => {
      const { webhookReaders: readers } = await opened.get();
      const tenant = freshTenant();
      expect(await readers.hold(tenant, 'a', at, at + 10)).toBe(false);
      await readers.changed(tenant, '1');
      const tried = await Promise.all(['a', 'b', 'c'].map((holder) => readers.hold(tenant, holder, at, at + 10)));
      expect(tried.filter(Boolean)).toHaveLength(1);
      const holder = ['a', 'b', 'c'][tried.indexOf(true)] ?? '';
      expect(await readers.hold(tenant, holder, at + 5, at + 20)).toBe(true);
      expect(await readers.hold(tenant, 'next', at + 19, at + 30)).toBe(false);
      expect(await readers.advance(tenant, 'next', '2')).toBe(false);
      expect(await readers.advance(tenant, holder, '2')).toBe(true);
      expect(await readers.hold(tenant, 'next', at + 20, at + 30)).toBe(true);
      expect(await readers.advance(tenant, holder, '3')).toBe(false);
      await readers.renew('next', at + 50);
      expect((await readers.get(tenant))?.heldUntil).toBe(at + 50);
      await readers.renew(holder, at + 60);
      expect((await readers.get(tenant))?.heldUntil).toBe(at + 50);
      await readers.release('next');
      expect(await readers.hold(tenant, holder, at + 21, at + 40)).toBe(true);
      expect(await readers.get(tenant)).toEqual({ tenant, place: '2', changes: 1, heldUntil: at + 40 });
    });

    it('(W5) is removed only as it was seen', async () => {
      const { webhookReaders: readers } = await opened.get();
      const tenant = freshTenant();
      await readers.changed(tenant, '1');
      const seen = (await readers.get(tenant))!;
      await readers.changed(tenant, null);
      expect(await readers.remove(seen)).toBe(false);
      expect(await readers.remove((await readers.get(tenant))!)).toBe(true);
      expect(await readers.get(tenant)).toBeNull();
    });

    it('lists those of all tenants, in parts', async () => {
      const { webhookReaders: readers } = await opened.get();
      const tenants = [freshTenant(), freshTenant(), freshTenant()].toSorted();
      for (const tenant of tenants) await readers.changed(tenant, '1');
      const found: WebhookReader[] = [];
      for (let after: TenantId | null = null; ;) {
        const part: readonly WebhookReader[] = await readers.list(after, 2);
        found.push(...part);
        after = part.at(-1)?.tenant ?? null;
        if (part.length < 2) break;
      }
      const ids = found.map(({ tenant }) => tenant);
      expect(ids).toEqual(ids.toSorted());
      expect(ids).toEqual(expect.arrayContaining(tenants));
    });
  });
}
