// The contract of `ToolActivity` (Y1..Y5), for every adapter.
import { describe, expect, it } from 'vitest';
import { activityKeptMs, type ActivityRow, type ToolActivity, tenantId } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const acme = tenantId('acme');
const zenith = tenantId('zenith');

let servers = 0;
/** A tool server that no other test uses. */
const freshServer = (): string => `tsv_${(servers += 1)}_${Math.random().toString(36).slice(2, 10)}`;

const minuteMs = 60_000;
/** Recent, because a store may delete what is old. */
const minute = Math.floor(Date.now() / minuteMs) * minuteMs;

function rowOf(toolServerId: string, changes: Partial<ActivityRow> = {}): ActivityRow {
  return {
    ...{ tenant: acme, toolServerId, reporter: 'one', from: minute },
    counts: { acks: { 12: 3, 40: 1 }, callbacks: { 80: 2 }, errors: { '5xx': 1, timeouts: 4 } },
    ...{ breaker: 'open', writtenAt: minute + 7 },
    ...changes,
  };
}

const inOrder = (rows: readonly ActivityRow[]): readonly ActivityRow[] =>
  rows.toSorted((one, other) => one.from - other.from || (one.reporter < other.reporter ? -1 : 1));

export function toolActivityContract(name: string, make: () => Promise<UnderTest<ToolActivity>>): void {
  describe(`ToolActivity contract: ${name}`, () => {
    const opened = openedOnce(make);

    async function read(id: string, from = 0, tenant = acme) {
      const { rows, discoveredAt } = await (await opened.get()).read(tenant, id, from);
      return { rows: inOrder(rows), discoveredAt };
    }

    it('Y1: a row comes back as it was put, and putting it again replaces it', async () => {
      const activity = await opened.get();
      const id = freshServer();
      expect(await read(id)).toEqual({ rows: [], discoveredAt: null });
      await activity.put([rowOf(id)], []);
      await activity.put([rowOf(id)], []);
      expect(await read(id)).toEqual({ rows: [rowOf(id)], discoveredAt: null });
      const grown = rowOf(id, { counts: { acks: { 12: 9 }, callbacks: {}, errors: {} }, breaker: null });
      await activity.put([grown], []);
      expect((await read(id)).rows).toEqual([grown]);
      await activity.put([], []);
    });

    it('Y1: reporters and minutes stand beside each other, also when they write at once', async () => {
      const activity = await opened.get();
      const id = freshServer();
      const rows = Array.from({ length: 20 }, (_, n) =>
        rowOf(id, { reporter: `r${n % 4}`, from: minute - Math.floor(n / 4) * minuteMs }),
      );
      await Promise.all(
        [0, 1, 2, 3].map((n) =>
          activity.put(
            rows.filter((_, place) => place % 4 === n),
            [],
          ),
        ),
      );
      expect((await read(id)).rows).toEqual(inOrder(rows));
    });

    it('Y2: only the rows of this server and tenant, from a time on', async () => {
      const activity = await opened.get();
      const [id, other] = [freshServer(), freshServer()];
      const old = rowOf(id, { from: minute - 5 * minuteMs });
      await activity.put([old, rowOf(id), rowOf(other), rowOf(id, { tenant: zenith, breaker: 'closed' })], []);
      expect((await read(id)).rows).toEqual([old, rowOf(id)]);
      expect((await read(id, old.from)).rows).toHaveLength(2);
      expect((await read(id, old.from + 1)).rows).toEqual([rowOf(id)]);
      expect((await read(id, 0, zenith)).rows).toMatchObject([{ breaker: 'closed' }]);
    });

    it('Y3: the latest discovery stays', async () => {
      const activity = await opened.get();
      const [id, other] = [freshServer(), freshServer()];
      const at = (time: number) => ({ tenant: acme, toolServerId: id, at: time });
      await activity.put([], [at(50), { tenant: acme, toolServerId: other, at: 1 }]);
      await activity.put([], [at(40)]);
      expect((await read(id)).discoveredAt).toBe(50);
      await Promise.all([70, 90, 60].map((time) => activity.put([], [at(time)])));
      expect((await read(id)).discoveredAt).toBe(90);
      expect((await read(other)).discoveredAt).toBe(1);
      expect((await read(id, 0, zenith)).discoveredAt).toBeNull();
    });

    it('Y4: what is forgotten is unknown, and nothing else', async () => {
      const activity = await opened.get();
      const [id, other] = [freshServer(), freshServer()];
      const discoveries = [id, other].map((toolServerId) => ({ tenant: acme, toolServerId, at: 5 }));
      await activity.put([rowOf(id), rowOf(id, { reporter: 'two' }), rowOf(other)], discoveries);
      await activity.forget(acme, id);
      await activity.forget(zenith, other);
      expect(await read(id)).toEqual({ rows: [], discoveredAt: null });
      expect(await read(other)).toEqual({ rows: [rowOf(other)], discoveredAt: 5 });
    });

    it('Y5: rows and discoveries outlive their process', async (context) => {
      const id = freshServer();
      const oldest = rowOf(id, { from: minute - activityKeptMs + 2 * 3_600_000 });
      await (await opened.get()).put([oldest, rowOf(id)], [{ tenant: acme, toolServerId: id, at: 7 }]);
      if ((await opened.reopened()) === null) return context.skip('this store does not outlive its process');
      expect(await read(id)).toEqual({ rows: [oldest, rowOf(id)], discoveredAt: 7 });
    });
  });
}
