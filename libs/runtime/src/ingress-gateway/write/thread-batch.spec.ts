import type { ThreadKey, ThreadRow } from '@dormouse/ports';
import { Fault, tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import type { RequestOrigin } from '../access/client-id.ts';
import { answered } from '../refusal.ts';
import type { ThreadRequest } from './requests.ts';
import { createThreadBatches } from './thread-batch.ts';

const acme = tenantId('acme');

const origin: RequestOrigin = { tenant: acme, method: 'POST', path: '/v1/threads:batch', idempotencyKey: 'k' };
const statuses = ['idle', 'thinking', 'closed', 'waiting', 'parked'] as const;
const rowOf = (nth: number): ThreadRow => ({
  ...{ tenant: acme, thread: `thr_${String(nth).padStart(6, '0')}`, status: statuses[nth % 5] ?? 'idle' },
  ...{ agent: 'a', agentVersion: 1, parent: null, family: 'f', userId: null, externalId: null, title: null },
  ...{ metadata: {}, createdAt: nth, updatedAt: nth, position: 1, opening: null },
});

interface Asked {
  readonly thread: string;
  readonly ask: ThreadRequest['ask'];
  readonly path: string;
}

function scene(threads: number, batchThreadsMax?: number) {
  const rows = Array.from({ length: threads }, (_, nth) => rowOf(nth));
  const asked: Asked[] = [];
  const at = { work: 0, most: 0, failAt: -1, now: 0, msPerThread: 0 };
  const batch = createThreadBatches({
    ...(batchThreadsMax === undefined ? {} : { batchThreadsMax }),
    clock: { now: () => at.now },
    inbox: { waitingFamilies: async () => [] } as never, // only asked for a filter by status
    directory: {
      list: async (_tenant, filter, { limit, cursor }) => {
        expect(filter.order).toBe('asc');
        const from = Number(cursor ?? 0);
        const data = rows.slice(from, from + limit);
        return { data, nextCursor: from + limit < rows.length ? String(from + limit) : null };
      },
    },
    requests: {
      post: async ({ thread }: ThreadKey, { ask }: ThreadRequest, { path }: RequestOrigin) => {
        at.work += 1;
        at.most = Math.max(at.most, at.work);
        await new Promise((resolve) => setImmediate(resolve));
        at.work -= 1;
        if (asked.length === at.failAt) throw new Fault('UNAVAILABLE', 'away');
        at.now += at.msPerThread;
        asked.push({ thread, ask, path });
        return answered({ id: 'req_1' });
      },
    },
  });
  return { batch, asked, at };
}

const close = { action: 'close', filter: {}, dryRun: false, cursor: null } as const;

it('B2 asks ten thousand threads, some at a time, each once and by a path of its own', async () => {
  const { batch, asked, at } = scene(10_000);
  expect(await batch(acme, close, origin)).toEqual({ matched: 8_000, nextCursor: null });
  expect(new Set(asked.map(({ thread }) => thread)).size).toBe(8_000);
  expect(asked.every(({ thread, ask, path }) => ask === 'close' && path === `/v1/threads:batch/${thread}`)).toBe(true);
  expect([at.most, at.work]).toEqual([16, 0]);
});

it('B3 goes on behind the cursor', async () => {
  const { batch, asked } = scene(1_050, 400);
  const matched: number[] = [];
  for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page += 1) {
    const outcome: Awaited<ReturnType<typeof batch>> = await batch(acme, { ...close, cursor }, origin);
    matched.push(outcome.matched);
    cursor = outcome.nextCursor;
  }
  expect(matched).toEqual([320, 320, 200]);
  expect(new Set(asked.map(({ thread }) => thread)).size).toBe(840);
});

it('B3 ends after twenty seconds with the page that it is at, and goes on behind its cursor', async () => {
  const { batch, asked, at } = scene(10_000);
  at.msPerThread = 50;
  const first = await batch(acme, close, origin);
  expect(first).toEqual({ matched: 480, nextCursor: '600' }); // three pages of 160 open threads
  at.msPerThread = 0;
  expect(await batch(acme, { ...close, cursor: first.nextCursor }, origin)).toEqual({
    ...{ matched: 8_000 - 480, nextCursor: null },
  });
  expect(new Set(asked.map(({ thread }) => thread)).size).toBe(8_000);
  expect(asked).toHaveLength(8_000);
});

it('B4 asks no thread that the action changes nothing of; B5 a dry run asks none', async () => {
  const { batch, asked } = scene(10);
  expect(await batch(acme, { ...close, action: 'interrupt', dryRun: true }, origin)).toMatchObject({ matched: 4 });
  expect(asked).toEqual([]);
  expect(await batch(acme, { ...close, action: 'interrupt' }, origin)).toMatchObject({ matched: 4 });
  expect(asked.map(({ thread }) => Number(thread.slice(4)))).toEqual([1, 3, 6, 8]);
});

it('B1 throws the first failure once nothing is under way, and the same request asks the same again', async () => {
  const { batch, asked, at } = scene(400);
  at.failAt = 50;
  await expect(batch(acme, close, origin)).rejects.toThrow('away');
  expect(at.work).toBe(0);
  const before = asked.map(({ path }) => path);
  at.failAt = -1;
  await batch(acme, close, origin);
  const again = asked.slice(before.length).map(({ path }) => path);
  expect(again).toEqual(expect.arrayContaining(before)); // by the same names: their threads dedup them
});
