import { tenantId, type TenantId, type ActivityRow, type OpenCall, type ToolServer } from '@dormouse/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { ingressRig, type IngressRig } from '../spec/ingress-rig.ts';

const acme = tenantId('acme');

const content = {
  ...{ name: 'mail', baseUrl: 'http://tools', endpointOverride: null, auth: null, forwardUserId: false },
  ...{ trustAnnotations: false, pinnedSha256: null },
};

let at: IngressRig;
beforeEach(() => {
  at = ingressRig();
});

async function register(tenant: TenantId): Promise<ToolServer> {
  const answer = await at.ingress.toolServers.create(tenant, content);
  if (!answer.ok) throw new Error('refused');
  return answer.value.server;
}

/** A process saw three failed POSTs and fetched the manifest; a thread has an open call. */
async function use({ tenant, id, name }: ToolServer): Promise<void> {
  const from = Math.floor(at.clock.now() / 60_000) * 60_000;
  const row: ActivityRow = {
    ...{ tenant, toolServerId: id, reporter: 'one', from, breaker: 'open', writtenAt: at.clock.now() },
    counts: { acks: {}, callbacks: {}, errors: { '5xx': 3 } },
  };
  await at.ports.toolActivity.put([row], [{ tenant, toolServerId: id, at: at.clock.now() }]);
  const thread = `thr_${tenant}`;
  const key = { tenant, thread };
  await at.ports.directory.insert({
    ...{ ...key, status: 'idle', agent: 'a', agentVersion: 1, parent: null, family: thread, userId: null },
    ...{ externalId: null, title: null, metadata: {}, createdAt: 1, updatedAt: 1, position: 1, opening: null },
  });
  const calls: readonly OpenCall[] = [{ toolServer: name, toolCallId: `call_${tenant}`, since: 5 }];
  const waits = { oldest: { tool_call: 5 }, subscriptions: 0, calls };
  await at.ports.directory.project([{ ...key, status: 'waiting', title: null, updatedAt: 9, position: 9, waits }]);
}

const secret = (name: string, origin: string) =>
  at.ports.secrets.put({ tenant: acme, name, origins: [origin], sealed: 's', createdAt: 1 });
const guarded = { ...content, baseUrl: 'https://tools.example/base', auth: { type: 'bearer', secret: 'key' } } as const;
const pointers = async (given: Parameters<typeof at.ingress.toolServers.create>[1]): Promise<unknown> => {
  const answer = await at.ingress.toolServers.create(acme, given);
  return answer.ok ? null : answer.refusal.errors?.map(({ pointer }) => pointer);
};

describe('a registration', () => {
  it('V5 is refused when its secret is unknown, or may not be sent to the origin of its base URL', async () => {
    expect(await pointers(guarded)).toEqual(['/auth/secret']);
    await secret('key', 'https://other.example');
    expect(await pointers(guarded)).toEqual(['/auth/secret']);
    expect((await at.ingress.toolServers.get(acme, 'mail')).ok).toBe(false);
    await secret('key', 'https://tools.example');
    expect(await pointers(guarded)).toBe(null);
    const moved = await at.ingress.toolServers.patch(acme, 'mail', { baseUrl: 'https://other.example' });
    expect(moved).toMatchObject({ ok: false, refusal: { errors: [{ pointer: '/auth/secret' }] } });
    const paused = await at.ingress.toolServers.patch(acme, 'mail', { paused: true });
    expect(paused).toMatchObject({ ok: true, value: { paused: true, baseUrl: 'https://tools.example/base' } });
  });

  it('V5 has no client certificate over plain http', async () => {
    await secret('certificate', 'http://tools');
    await secret('private', 'http://tools');
    const auth = { type: 'mtls', certificateSecret: 'certificate', keySecret: 'private' } as const;
    expect(await pointers({ ...content, auth })).toEqual(['/auth/type']);
  });

  it('V5 is made, with a warning, of a server that does not answer now', async () => {
    const answer = await at.ingress.toolServers.create(acme, content);
    expect(answer).toMatchObject({ ok: true, value: { created: true } });
    expect(answer.ok && answer.value.warnings).toEqual([expect.stringContaining('TOOLSET_UNREACHABLE')]);
  });
});

describe('the health of a tool server', () => {
  it('is of one tenant: the same name of another one has nothing of it', async () => {
    const [ours, theirs] = [await register(acme), await register(tenantId('zenith'))];
    await use(ours);
    expect(await at.ingress.toolServers.health(ours)).toMatchObject({
      ...{ state: 'failing', discoveryAgeS: 0, breaker: 'open', oldestOpenCall: 'call_acme' },
      errors: { '5m': 3, '1h': 3, '24h': 3 },
    });
    expect(await at.ingress.toolServers.health(theirs)).toMatchObject({
      ...{ state: 'unknown', discoveryAgeS: null, breaker: 'closed', oldestOpenCall: null },
      errors: { '5m': 0, '1h': 0, '24h': 0 },
    });
  });

  it('cannot be asked for by the id of another tenant, nor after the removal', async () => {
    const ours = await register(acme);
    const { toolServers } = at.ingress;
    expect(await toolServers.get(tenantId('zenith'), ours.id)).toMatchObject({
      ok: false,
      refusal: { code: 'NOT_FOUND' },
    });
    await toolServers.remove(acme, 'mail');
    expect(await toolServers.get(acme, 'mail')).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
  });

  it('V3 begins anew with a name that is given again, and nothing is kept of the one before', async () => {
    const first = await register(acme);
    await use(first);
    await at.ingress.toolServers.remove(acme, 'mail');
    expect(await at.ports.toolActivity.read(acme, first.id, 0)).toEqual({ rows: [], discoveredAt: null });
    const second = await register(acme);
    const health = await at.ingress.toolServers.health(second);
    expect(health).toMatchObject({ state: 'unknown', discoveryAgeS: null, errors: { '24h': 0 }, breaker: 'closed' });
    expect(health.oldestOpenCall).toBe('call_acme'); // the thread's call is still open, and names its server
  });
});
