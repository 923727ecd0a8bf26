// In front of the partitions: while too many inputs of a tenant wait for their threads, nothing that asks for more work
// is taken, whichever way it comes; what is known already is answered as ever.
import { tenantId } from '@dormouse/ports';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { answered, refused } from '../refusal.ts';
import { unlimited } from '../../tenants/tenant-limits.ts';
import { ingressRig } from '../spec/ingress-rig.ts';

const tenant = tenantId('acme');
const model = {
  ...{ provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, contextWindowTokens: 1_000 },
  ...{ outputTokensMax: null, images: false, parameters: {} },
};

it('messages, events, deliveries and new threads come later; the same opening again is answered', async () => {
  const at = ingressRig();
  const full = { is: false };
  const limits = {
    ...unlimited,
    mayEnter: () => (full.is ? refused('RATE_LIMITED', 'too many wait', { retryAfterMs: 2_000 }) : answered(null)),
  };
  let published = 0;
  const bus = { ...at.ports.inputs, publish: async () => void (published += 1) };
  const ingress = at.ingressWith({ limits, bus });
  const content = { instructions: '', model, toolServers: [], policies: defaultPolicies, limits: defaultLimits };
  await ingress.agents.create(tenant, 'helper', content);
  const origin = (idempotencyKey: string) => ({ tenant, method: 'POST', path: '/v1/threads', idempotencyKey });
  const wanted = {
    ...{ agent: 'helper', agentVersion: null, userId: null, title: null, externalId: null, ifExists: null },
    ...{ metadata: {}, message: null },
  };
  const opened = await ingress.threads.open(tenant, wanted, origin('one'));
  if (!opened.ok) throw new Error(opened.refusal.detail);
  const key = { tenant, thread: opened.value.thread.id };
  const ask = (): Promise<readonly { readonly ok: boolean }[]> =>
    Promise.all([
      ingress.messages.post(key, [{ type: 'text', text: 'hello' }], origin('message')),
      ingress.externalEvents.post(
        key,
        { source: 'ci', id: 'evt_1', text: 'built', associative: false },
        origin('event'),
      ),
      ingress.deliver({
        ...{ tenant, name: 'delivery', agent: 'helper', externalId: 'issue-1', text: 'opened' },
        from: { source: { name: 'github', deliveryId: 'd1' } },
      }),
      ingress.threads.open(tenant, wanted, origin('two')),
    ]);
  const before = published;
  full.is = true;
  for (const refusal of await ask())
    expect(refusal).toMatchObject({ ok: false, refusal: { code: 'RATE_LIMITED', retryAfterMs: 2_000 } });
  expect(published).toBe(before);
  expect(await at.ports.deliveries.find(tenant, 'delivery')).toBeNull();
  expect(await ingress.threads.open(tenant, wanted, origin('one'))).toMatchObject({ ok: true });
  full.is = false;
  for (const answer of await ask()) expect(answer).toMatchObject({ ok: true });
});
