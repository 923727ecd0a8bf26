// The contract of `TenantEraser`, for every adapter: rows of every store that it empties, of two tenants.
import { describe, expect, it } from 'vitest';
import {
  type TenantId,
  tenantId,
  type Source,
  type Stores,
  type ThreadKey,
  type ThreadRow,
  type Webhook,
  type WebhookDelivery,
  noTenant,
} from '../index.ts';
import { commitOf, freshKey, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export type TenantEraserUnderTest = Omit<Stores, 'inputs' | 'work' | 'dedup' | 'feed' | 'rates'>;

const at = 1_700_000_000_000;
const page = { limit: 10, cursor: null };
const forEver = 4_000_000_000_000;

const rowOf = (key: ThreadKey): ThreadRow => ({
  ...key,
  ...{ status: 'idle', agent: 'support', agentVersion: 1, parent: null, family: key.thread, userId: 'ann' },
  ...{ externalId: 'x-1', title: 'A title', metadata: { team: 'one' }, createdAt: at, updatedAt: at, position: 1 },
  opening: null,
});

const webhook: Webhook = {
  ...{
    tenant: noTenant,
    id: 'whk_1',
    url: 'https://hooks.example',
    events: ['thread.idle'],
    filter: null,
    state: 'active',
  },
  ...{
    sealed: 'sealed',
    before: null,
    createdAt: at,
    updatedAt: at,
    activeSince: at,
    failingSince: null,
    problem: null,
  },
};
const delivery: WebhookDelivery = {
  ...{ tenant: noTenant, webhook: 'whk_1', id: 'dlv_1', event: 'thread.idle', body: '{}', state: 'pending' },
  ...{ createdAt: Date.now(), attempts: [], tries: 0, nextAt: at },
};
const sourceOf = (tenant: TenantId, thread: string): Source => ({
  ...{ tenant, id: `src_${thread}`, name: 'issues', kind: 'github', secret: 'token', agent: 'support', key: '/id' },
  ...{ message: 'An issue.', createdAt: at, tokenSha256: `token_${thread}`, sealedToken: 'sealed' },
});

/** One row of each kind. */
async function fill(stores: TenantEraserUnderTest, key: ThreadKey): Promise<void> {
  const { tenant, thread } = key;
  await stores.log.append([{ commit: commitOf(key, 0), owes: false }]);
  await stores.directory.insert(rowOf(key));
  await stores.timers.set([{ ...key, timerId: 'tmr_1', due: forEver }]);
  await stores.blobs.put(tenant, 'a'.repeat(64), new Uint8Array([1, 2, 3]), 'text/plain');
  await stores.secrets.put({ tenant, name: 'token', origins: [], sealed: 'sealed', createdAt: at });
  await stores.toolsets.put({ tenant, sha256: 'b', manifest: '{}' });
  await stores.toolsets.putLastGood(tenant, 'https://tools.example', 'b');
  await stores.apiKeys.insert({
    ...{ id: `key_${thread}`, tenant, name: 'ci', keySha256: `sha_${thread}`, scopes: ['read'] },
    ...{ createdAt: at, expiresAt: null },
  });
  await stores.idempotency.claim(tenant, 'POST /v1/threads', 'k', 'c', at, 1_000);
  await stores.ledger.claim(key, 'call_1', 'nonce', at);
  await stores.parked.park(key, 'why', at);
  await stores.revokedTokens.add({ ...key, id: 'tok_1' }, forEver);
  await stores.heldThreads.hold(key, 'tenant');
  await stores.heldThreads.hold(key, 'agent:support');
  await stores.agents.setPaused(tenant, 'support', true);
  await stores.webhooks.insert({ ...webhook, tenant });
  await stores.webhookDeliveries.insert([{ ...delivery, tenant }]);
  await stores.webhookReaders.changed(tenant, '1');
  await stores.sources.insert(sourceOf(tenant, thread));
  await stores.schedules.insert({
    ...{ tenant, id: `sch_${thread}`, name: 'daily', cron: '0 9 * * *', timeZone: 'UTC', agent: 'support' },
    ...{ message: 'Good morning.', externalId: null, missed: 'once', createdAt: at, nextAt: forEver, lookAt: forEver },
    ...{ firing: null, lastFiredAt: null, lastScheduledFor: null, fired: 0, skipped: 0 },
  });
  await stores.deliveries.claim({ tenant, id: 'd-1', thread, at: Date.now() }); // a store may drop old ones
  await stores.userCredentials.put({
    ...{ tenant, userId: 'ann', toolServer: 'crm', type: 'bearer', origin: 'https://crm.example', sealed: 'sealed' },
    ...{ version: 1, createdAt: at, updatedAt: at, expiresAt: null, lease: null, failedAt: null },
  });
  await stores.familyKeys.insert({ tenant, family: thread, sealed: 'sealed' });
  await stores.erasures.insert({
    ...{ tenant, id: 'ers_1', scope: 'thread', subject: thread, sealedUser: null, requestedAt: at, keysErasedAt: null },
    ...{ families: [thread], threads: 1, wasClear: false, certificate: null },
  });
}

/** Which of these rows are there. */
async function found(stores: TenantEraserUnderTest, key: ThreadKey): Promise<readonly boolean[]> {
  const { tenant, thread } = key;
  return [
    (await stores.log.head(key)) !== null,
    (await stores.directory.get(key)) !== null,
    (await stores.directory.list(tenant, { metadata: { team: 'one' } }, page)).data.length === 1,
    (await stores.blobs.get(tenant, 'a'.repeat(64))) !== null,
    (await stores.secrets.get(tenant, 'token')) !== null,
    (await stores.toolsets.get(tenant, 'b')) !== null,
    (await stores.toolsets.lastGood(tenant, 'https://tools.example')) !== null,
    (await stores.apiKeys.bySha256(`sha_${thread}`)) !== null,
    (await stores.ledger.read(key, 'call_1')) !== null,
    (await stores.parked.mark(key)) !== null,
    (await stores.revokedTokens.among([{ ...key, id: 'tok_1' }])).length === 1,
    (await stores.heldThreads.list({ tenant, by: 'tenant' }, null, 1)).length === 1,
    (await stores.heldThreads.list({ tenant, by: 'agent:support' }, null, 1)).length === 1,
    (await stores.agents.paused(tenant)).length === 1,
    (await stores.webhooks.get(tenant, 'whk_1')) !== null,
    (await stores.webhookDeliveries.get({ tenant, webhook: 'whk_1', id: 'dlv_1' })) !== null,
    (await stores.webhookReaders.get(tenant)) !== null,
    (await stores.sources.get(tenant, 'issues')) !== null,
    (await stores.schedules.get(tenant, 'daily')) !== null,
    (await stores.deliveries.find(tenant, 'd-1')) !== null,
    (await stores.userCredentials.get(tenant, 'ann', 'crm')) !== null,
    (await stores.familyKeys.get(tenant, [thread])).length === 1,
    (await stores.erasures.get(tenant, 'ers_1')) !== null,
    (await stores.timers.due(forEver, 1_000)).some((timer) => timer.tenant === tenant),
  ];
}

export function tenantEraserContract(name: string, make: () => Promise<UnderTest<TenantEraserUnderTest>>): void {
  describe(`TenantEraser contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(E1) deletes what a tenant has, also of one whose id begins another’s, and nothing else', async () => {
      const stores = await opened.get();
      const gone = freshKey(freshTenant());
      const other = freshKey(tenantId(`${gone.tenant}-2`));
      for (const key of [gone, other]) await fill(stores, key);
      const before = await found(stores, other);
      expect(await found(stores, gone)).toEqual(before);
      expect(before).not.toContain(false);
      expect(await stores.eraser.erase(gone.tenant)).toBeGreaterThan(10);
      const after = await found(stores, gone);
      expect(after.filter(Boolean)).toHaveLength(0);
      expect(await found(stores, other)).toEqual(before);
    });

    it('(E3) keeps what a late writer brings for a thread that is gone out of the threads of others', async () => {
      const stores = await opened.get();
      const [gone, other] = [freshKey(freshTenant()), freshKey(freshTenant())];
      await fill(stores, gone);
      await stores.eraser.erase(gone.tenant);
      const own = { commit: commitOf(other, 0), owes: false };
      await stores.log.append([own]);
      await stores.log.append([{ commit: commitOf(gone, own.commit.count), owes: false }]).catch(() => []);
      expect(await stores.log.head(other)).toEqual(own.commit);
      await stores.eraser.erase(gone.tenant);
      expect(await stores.log.head(gone)).toBeNull();
    });

    it('(E3) leaves the places of others good: what they append afterwards is behind them', async () => {
      const stores = await opened.get();
      const [gone, other] = [freshKey(freshTenant()), freshKey(freshTenant())];
      await stores.log.append([{ commit: commitOf(other, 0), owes: false }]);
      await fill(stores, gone);
      const end = await stores.tenantLog.end(other.tenant);
      await stores.eraser.erase(gone.tenant);
      const later = freshKey(other.tenant);
      await stores.log.append([{ commit: commitOf(later, 0), owes: false }]);
      const read = async () => (await stores.tenantLog.after(other.tenant, end, 10)).map(({ commit }) => commit.thread);
      await expect.poll(read, { timeout: 20_000 }).toEqual([later.thread]);
    });

    it('(E2) finds nothing the second time, and nothing of a tenant that never was', async () => {
      const stores = await opened.get();
      const key = freshKey(freshTenant());
      expect(await stores.eraser.erase(key.tenant)).toBe(0);
      await fill(stores, key);
      await stores.eraser.erase(key.tenant);
      expect(await stores.eraser.erase(key.tenant)).toBe(0);
    });
  });
}
