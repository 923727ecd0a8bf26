// The contract of `IdempotencyKeys`, for every adapter. Scope of a key: tenant and route.
//
//   K1. A key is claimed once; until it is finished, it is running, for as long as its lease lasts.
//   K2. The first answer stays, and every later claim with the same body gets it.
//   K3. Another body is another request: `other_body`, whatever became of the first.
//   K4. An abandoned key is free again; a finished one cannot be abandoned.
import { describe, expect, it } from 'vitest';
import { tenantId, type IdempotencyKeys } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const acme = tenantId('acme');

let keys = 0;
const freshIdempotencyKey = (): string => `key-${(keys += 1)}-${Math.random().toString(36).slice(2, 8)}`;
const leaseMs = 30_000;

export function idempotencyKeysContract(name: string, make: () => Promise<UnderTest<IdempotencyKeys>>): void {
  describe(`IdempotencyKeys contract: ${name}`, () => {
    const opened = openedOnce(make);
    const answer = { status: 201, body: '{"id":"thr_1","text":"🐢"}' };

    it('K1: the first claims, the others find it running, until the lease has run out', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      expect(await store.claim(acme, 'POST /v1/threads', key, 'body-1', 1_000, leaseMs)).toEqual({ claim: 'new' });
      expect(await store.claim(acme, 'POST /v1/threads', key, 'body-1', 1_001, leaseMs)).toEqual({
        claim: 'running',
      });
      expect(await store.claim(acme, 'POST /v1/threads', key, 'body-1', 30_999, leaseMs)).toEqual({
        claim: 'running',
      });
      expect(await store.claim(acme, 'POST /v1/threads', key, 'body-1', 31_000, leaseMs)).toEqual({ claim: 'new' });
      expect(await store.claim(acme, 'POST /v1/threads', key, 'body-1', 31_001, leaseMs)).toEqual({
        claim: 'running',
      });
    });

    it('K1: a claim that is renewed is running until its lease has run out from then', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.renew(acme, 'r', key, 1_000); // it is free, and stays so
      expect(await store.claim(acme, 'r', key, 'b', 1_000, leaseMs)).toEqual({ claim: 'new' });
      await store.renew(acme, 'r', key, 21_000);
      expect(await store.claim(acme, 'r', key, 'b', 50_999, leaseMs)).toEqual({ claim: 'running' });
      expect(await store.claim(acme, 'r', key, 'b', 51_000, leaseMs)).toEqual({ claim: 'new' });
      await store.finish(acme, 'r', key, answer);
      await store.renew(acme, 'r', key, 60_000);
      expect(await store.claim(acme, 'r', key, 'b', 60_001, leaseMs)).toEqual({ claim: 'done', answer });
    });

    it('K1: of many who claim at once exactly one gets it', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => store.claim(acme, 'r', key, 'b', 1_000, leaseMs)),
      );
      expect(answers.filter(({ claim }) => claim === 'new')).toHaveLength(1);
      expect(answers.filter(({ claim }) => claim === 'running')).toHaveLength(29);
    });

    it('K1: tenants and routes have keys of their own', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      for (const [tenant, route] of [
        ['acme', 'a'],
        ['acme', 'b'],
        ['zenith', 'a'],
      ] as const) {
        expect(await store.claim(tenantId(tenant), route, key, 'b', 1, leaseMs)).toEqual({ claim: 'new' });
      }
    });

    it('K2: the first answer stays', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.claim(acme, 'r', key, 'b', 1, leaseMs);
      await store.finish(acme, 'r', key, answer);
      await store.finish(acme, 'r', key, { status: 200, body: 'late' });
      expect(await store.claim(acme, 'r', key, 'b', 2, leaseMs)).toEqual({ claim: 'done', answer });
      expect(await store.claim(acme, 'r', key, 'b', 10_000_000, leaseMs)).toEqual({ claim: 'done', answer });
    });

    it('K2: an answer that is being written is not overtaken by who asks next', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.claim(acme, 'r', key, 'b', 1, leaseMs);
      const [, again] = await Promise.all([
        store.finish(acme, 'r', key, answer),
        store.claim(acme, 'r', key, 'b', 2, leaseMs),
      ]);
      expect(again).toEqual({ claim: 'done', answer });
    });

    it('K2: an answer with an empty body is an answer', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.claim(acme, 'r', key, 'b', 1, leaseMs);
      await store.finish(acme, 'r', key, { status: 204, body: '' });
      expect(await store.claim(acme, 'r', key, 'b', 2, leaseMs)).toEqual({
        claim: 'done',
        answer: { status: 204, body: '' },
      });
    });

    it('K3: another body is told apart, running or done', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.claim(acme, 'r', key, 'body-1', 1, leaseMs);
      expect(await store.claim(acme, 'r', key, 'body-2', 2, leaseMs)).toEqual({ claim: 'other_body' });
      expect(await store.claim(acme, 'r', key, 'body-2', 1_000_000, leaseMs)).toEqual({ claim: 'other_body' });
      await store.finish(acme, 'r', key, answer);
      expect(await store.claim(acme, 'r', key, 'body-2', 3, leaseMs)).toEqual({ claim: 'other_body' });
    });

    it('K4: an abandoned key is free again, also for another body; a finished one stays', async () => {
      const store = await opened.get();
      const key = freshIdempotencyKey();
      await store.claim(acme, 'r', key, 'body-1', 1, leaseMs);
      await store.abandon(acme, 'r', key);
      expect(await store.claim(acme, 'r', key, 'body-2', 2, leaseMs)).toEqual({ claim: 'new' });
      await store.finish(acme, 'r', key, answer);
      await store.abandon(acme, 'r', key);
      expect(await store.claim(acme, 'r', key, 'body-2', 3, leaseMs)).toEqual({ claim: 'done', answer });
    });
  });
}
