import { settle } from '@dormouse/adapter-memory';
import { encodeCursor, tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { spoken, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';
import { createTenantEventApi, type TenantEvent, type TenantEventApi } from './tenant-events.ts';

const tenant = tenantId('acme');
const threadOf = (thread: string) => ({ tenant, thread });

function apiOf(at: IngressRig): TenantEventApi {
  return createTenantEventApi({ ...at.ports, clock: at.clock, threads: { announce: async () => {} } });
}

/** Three threads, commits of one to three events. */
async function written(at: IngressRig): Promise<readonly string[]> {
  const names: string[] = [];
  const positions = new Map<string, number>();
  for (const [thread, count] of [
    ['a', 2],
    ['b', 1],
    ['a', 3],
    ['c', 1],
    ['b', 2],
  ] as const) {
    await at.commit(
      threadOf(thread),
      Array.from({ length: count }, () => spoken('x')),
    );
    for (let event = 0; event < count; event += 1) {
      const position = (positions.get(thread) ?? 0) + 1;
      positions.set(thread, position);
      names.push(`${thread}${position}`);
    }
  }
  return names;
}

const nameOf = ({ threadId, position }: TenantEvent): string => `${threadId}${position}`;

it.each([1, 2, 3, 5, 50])(
  'T1: pages of %i follow each other without gap or repeat, also inside a commit',
  async (limit) => {
    const at = ingressRig();
    const api = apiOf(at);
    const names = await written(at);
    await at.commit({ tenant: tenantId('zenith'), thread: 'a' }, [spoken('theirs')]);
    const seen: string[] = [];
    for (let cursor: string | null = null; ;) {
      const { data, nextCursor } = await api.page(tenant, cursor, limit);
      expect(data.length).toBeLessThanOrEqual(limit);
      if (data.length === 0) {
        expect(nextCursor).toBe(cursor);
        break;
      }
      expect(nextCursor).toBe(data.at(-1)?.cursor);
      seen.push(...data.map(nameOf));
      cursor = nextCursor;
    }
    expect(seen).toEqual(names);
  },
);

it('T1: every cursor goes on after its own event', async () => {
  const at = ingressRig();
  const api = apiOf(at);
  const names = await written(at);
  const { data } = await api.page(tenant, null, 50);
  for (const [nth, { cursor }] of data.entries())
    expect((await api.page(tenant, cursor, 50)).data.map(nameOf)).toEqual(names.slice(nth + 1));
});

it('begins at the end with `latest`, and keeps its place while nothing comes', async () => {
  const at = ingressRig();
  const api = apiOf(at);
  const empty = await api.page(tenant, null, 5);
  expect(empty.data).toEqual([]);
  await written(at);
  expect((await api.page(tenant, empty.nextCursor, 50)).data).toHaveLength(9);
  const end = await api.page(tenant, 'latest', 5);
  expect(end.data).toEqual([]);
  await at.commit(threadOf('d'), [spoken('new')]);
  expect((await api.page(tenant, end.nextCursor, 5)).data.map(nameOf)).toEqual(['d1']);
});

it.each([
  ['of another list', encodeCursor([1_700_000_000_000, 'thr_1'])],
  ['with too much', encodeCursor(['events', '1', 'a', 1, 2])],
  ['that is half', encodeCursor(['events', '1', 'a'])],
  ['with a place that is none', encodeCursor(['events', 'x y'])],
  ['inside a commit that does not exist', encodeCursor(['events', '1', 'a', 700])],
  ['inside a commit that ends there', encodeCursor(['events', '1', 'a', 2])],
  ['of a position', '17'],
  ['of nothing', ''],
])('refuses a cursor %s', async (_, cursor) => {
  const at = ingressRig();
  await written(at);
  await expect(apiOf(at).page(tenant, cursor, 5)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
});

it('T3: streams go on with what comes, wait together, and end with their signal', async () => {
  const at = ingressRig();
  let reads = 0;
  let held: Promise<void> | null = null;
  const tenantLog = {
    ...at.ports.tenantLog,
    after: async (...given: Parameters<typeof at.ports.tenantLog.after>) => {
      reads += 1;
      await held;
      return at.ports.tenantLog.after(...given);
    },
  };
  const api = createTenantEventApi({ ...at.ports, tenantLog, clock: at.clock, threads: { announce: async () => {} } });
  const names = await written(at);
  const stop = new AbortController();
  const streams = Array.from({ length: 20 }, () => ({ seen: [] as string[], over: false }));
  for (const stream of streams)
    void (async () => {
      for await (const { data } of api.follow(tenant, null, stop.signal)) stream.seen.push(...data.map(nameOf));
      stream.over = true;
    })();
  await settle();
  await at.commit(threadOf('d'), [spoken('new')]);
  await at.clock.advance(500);
  await settle();
  reads = 0;
  const slow = Promise.withResolvers<void>();
  held = slow.promise;
  await at.clock.advance(500);
  await settle();
  expect(reads).toBe(1);
  slow.resolve();
  await settle();
  stop.abort();
  await settle();
  expect(streams).toEqual(streams.map(() => ({ seen: [...names, 'd1'], over: true })));
});
