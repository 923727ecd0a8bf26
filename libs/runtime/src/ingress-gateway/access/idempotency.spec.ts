import { settle } from '@dormouse/adapter-memory';
import { tenantId, type IdempotencyKeys } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { key, ingressRig } from '../spec/ingress-rig.ts';

const request = { tenant: key.tenant, route: 'POST /v1/threads', key: 'k', body: '{"a":1}' };

describe('doing something once', () => {
  it('gives the first answer again without doing it again', async () => {
    const { ingress } = ingressRig();
    let times = 0;
    const run = () => Promise.resolve({ status: 201, body: `{"n":${++times}}` });
    const first = await ingress.once(request, run);
    const second = await ingress.once(request, run);
    expect(first).toMatchObject({ value: { answer: { body: '{"n":1}' }, replayed: false } });
    expect(second).toMatchObject({ value: { answer: { body: '{"n":1}' }, replayed: true } });
  });

  it('frees the key after an answer that is not 2xx, and after a fault', async () => {
    const { ingress } = ingressRig();
    await ingress.once(request, () => Promise.resolve({ status: 422, body: '' }));
    await expect(ingress.once(request, () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await ingress.once(request, () => Promise.resolve({ status: 200, body: 'ok' }))).toMatchObject({
      value: { replayed: false },
    });
  });

  it('P7 refuses what was erased since as what is not there, and does nothing again', async () => {
    const at = ingressRig();
    const erased = { claim: 'done', answer: { status: 404, body: '' } } as const;
    const ingress = at.ingressWith({ idempotencyKeys: { ...at.ports.idempotency, claim: async () => erased } });
    for (const isSecret of [false, true])
      expect(await ingress.once({ ...request, isSecret }, () => Promise.reject(new Error('never')))).toMatchObject({
        refusal: { code: 'NOT_FOUND', detail: 'What this request led to was erased.' },
      });
  });

  it('refuses another body, and a second one while the first runs', async () => {
    const { ingress } = ingressRig();
    let finish = (_: { status: number; body: string }): void => {};
    const running = ingress.once(request, () => new Promise((resolve) => (finish = resolve)));
    await Promise.resolve();
    expect(await ingress.once(request, () => Promise.reject(new Error('never')))).toMatchObject({
      refusal: { code: 'IDEMPOTENCY_IN_PROGRESS' },
    });
    finish({ status: 202, body: '{}' });
    await running;
    const other = await ingress.once({ ...request, body: '{"a":2}' }, () => Promise.reject(new Error('never')));
    expect(other).toMatchObject({ refusal: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('P6 shows an answer to no credential with another limit, nor does it again for that', async () => {
    const { ingress } = ingressRig();
    const never = () => Promise.reject(new Error('never'));
    const run = () => Promise.resolve({ status: 201, body: 'secret' });
    const [one, other] = ['agents: support', 'agents: sales'].map((limit) => ({ ...request, limit }));
    if (one === undefined || other === undefined) throw new Error('two');
    await ingress.once(request, run);
    expect(await ingress.once(one, never)).toMatchObject({ refusal: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    await ingress.once({ ...one, key: 'l' }, run);
    expect(await ingress.once({ ...one, key: 'l' }, never)).toMatchObject({ value: { replayed: true } });
    for (const wrong of [
      { ...other, key: 'l' },
      { ...request, key: 'l' },
    ])
      expect(await ingress.once(wrong, never)).toMatchObject({ refusal: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('P4 is taken over within ten seconds of the end of a process, and never while it runs', async () => {
    const at = ingressRig();
    const { ingress, clock, ports } = at;
    const never = () => Promise.reject(new Error('never'));
    let dead = false;
    const idempotencyKeys: IdempotencyKeys = {
      ...ports.idempotency,
      renew: (...claim) => (dead ? new Promise(() => {}) : ports.idempotency.renew(...claim)),
    };
    const dies = at.ingressWith({ idempotencyKeys });
    void dies.once(request, () => new Promise(() => {}));
    await settle();
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      expect(await ingress.once(request, never)).toMatchObject({ refusal: { code: 'IDEMPOTENCY_IN_PROGRESS' } });
    }
    dead = true;
    await clock.advance(10_000);
    expect(await ingress.once(request, () => Promise.resolve({ status: 202, body: '{}' }))).toMatchObject({
      value: { replayed: false },
    });
  });

  it('keeps tenants and routes apart', async () => {
    const { ingress } = ingressRig();
    const answer = (body: string) => () => Promise.resolve({ status: 200, body });
    await ingress.once(request, answer('a'));
    expect(await ingress.once({ ...request, tenant: tenantId('other') }, answer('b'))).toMatchObject({
      value: { answer: { body: 'b' } },
    });
    expect(await ingress.once({ ...request, route: 'POST /v1/agents' }, answer('c'))).toMatchObject({
      value: { answer: { body: 'c' } },
    });
  });
});
