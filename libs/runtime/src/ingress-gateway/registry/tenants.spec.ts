import { newTenant, tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createTenantErasure } from '../../tenants/tenant-erasure.ts';
import { ingressRig } from '../spec/ingress-rig.ts';

const acme = tenantId('acme');

const page = { limit: 10, cursor: null };
const logger = { info: () => {}, warn: () => {}, error: () => {} };

async function withTenant() {
  const at = ingressRig();
  const made = await at.ingress.tenants.create(acme, { name: 'Acme', quotas: { threadsMax: 5 } });
  if (!made.ok) throw new Error(made.refusal.detail);
  return { ...at, key: made.value.key };
}

describe('a tenant', () => {
  it('is made once, with a key that has every scope', async () => {
    const { ingress, key } = await withTenant();
    expect(await ingress.keys.authenticate(key)).toMatchObject({
      tenant: 'acme',
      scopes: expect.arrayContaining(['tenant:admin']),
    });
    expect(await ingress.tenants.create(acme, {})).toMatchObject({ ok: false, refusal: { code: 'ALREADY_EXISTS' } });
    expect((await ingress.keys.list(acme, page)).data).toHaveLength(1);
  });

  it('P1 that two make at once has the key of one', async () => {
    const { ingress } = ingressRig();
    const made = await Promise.all([1, 2, 3].map(() => ingress.tenants.create(acme, {})));
    expect(made.filter(({ ok }) => ok)).toHaveLength(1);
    expect((await ingress.keys.list(acme, page)).data).toHaveLength(1);
  });

  it('shows all quotas, and a change merges them; null takes one back', async () => {
    const { ingress } = await withTenant();
    const changed = await ingress.tenants.change(acme, { quotas: { requestsPerS: 2 }, weight: 3 });
    expect(changed).toMatchObject({
      value: { weight: 3, quotas: { threadsMax: 5, requestsPerS: 2, streamsMax: 1_000 } },
    });
    const back = await ingress.tenants.change(acme, { quotas: { threadsMax: null } });
    expect(back).toMatchObject({ value: { quotas: { threadsMax: null, requestsPerS: 2 } } });
    expect(await ingress.tenants.change(tenantId('other'), {})).toMatchObject({
      ok: false,
      refusal: { code: 'NOT_FOUND' },
    });
  });

  it('P2 loses none of many changes at once', async () => {
    const { ingress } = await withTenant();
    const names = ['threadsMax', 'subscriptionsMax', 'toolServersMax', 'streamsMax', 'storedBytesMax'] as const;
    await Promise.all(names.map((name, nth) => ingress.tenants.change(acme, { quotas: { [name]: nth + 1 } })));
    const found = await ingress.tenants.get(acme);
    expect(names.map((name) => found.ok && found.value.quotas[name])).toEqual([1, 2, 3, 4, 5]);
  });

  it('is suspended and resumed in every process within a second', async () => {
    const at = await withTenant();
    const { ingress, clock } = at;
    const elsewhere = at.ingressWith({});
    expect(await elsewhere.tenantRecords.isActive(acme)).toBe(true);
    await ingress.tenants.change(acme, { state: 'suspended' });
    expect(await ingress.tenantRecords.isActive(acme)).toBe(false);
    await clock.advance(999);
    expect(await elsewhere.tenantRecords.isActive(acme)).toBe(false);
    await ingress.tenants.change(acme, { state: 'active' });
    await clock.advance(999);
    expect(await elsewhere.tenantRecords.isActive(acme)).toBe(true);
  });

  it('P3 that is deleted is erased, after a grace, and its id is never given again', async () => {
    const { ingress, ports, clock, key } = await withTenant();
    const erasure = createTenantErasure({ ...ports, clock, logger, lateWritersMs: 60_000 });
    await erasure.start();
    expect(await ingress.tenants.remove(acme)).toMatchObject({ value: { state: 'deleting' } });
    expect(await ingress.tenants.remove(acme)).toMatchObject({ ok: true });
    expect(await ingress.tenants.change(acme, { state: 'active' })).toMatchObject({ ok: false });
    await clock.advance(10_000);
    expect(await ingress.keys.authenticate(key)).toBeNull();
    expect(await ingress.tenants.get(acme)).toMatchObject({ value: { state: 'deleting' } });
    await ports.blobs.put(acme, 'a'.repeat(64), new Uint8Array([1]), 'text/plain'); // by a completion that was asked before
    await clock.advance(70_000);
    expect(await ports.blobs.get(acme, 'a'.repeat(64))).toBeNull();
    expect(await ingress.tenants.get(acme)).toMatchObject({ ok: false });
    expect(await ingress.tenants.list(page)).toMatchObject({ data: [] });
    expect(await ports.tenants.get(acme)).toMatchObject({ state: 'deleted', name: '' });
    expect(await ingress.tenants.create(acme, {})).toMatchObject({ ok: false, refusal: { code: 'ALREADY_EXISTS' } });
    void erasure.stop(0);
  });

  it('of before there were records may go on, and gets one', async () => {
    const { ingress, ports } = ingressRig();
    expect(await ingress.tenantRecords.isActive(tenantId('local'))).toBe(true);
    await ingress.tenants.ensure(tenantId('local'));
    await ports.tenants.replace(
      { ...newTenant(tenantId('local'), 0), name: 'kept' },
      (await ports.tenants.get(tenantId('local'))) ?? newTenant(tenantId('local'), 0),
    );
    await ingress.tenants.ensure(tenantId('local'));
    expect(await ports.tenants.get(tenantId('local'))).toMatchObject({ name: 'kept', state: 'active' });
  });
});
