// The contract of `AuditLog`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { AuditLog, AuditRow } from '../index.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

/** Each test begins a chain of its own. */

const firstAt = Date.UTC(2026, 0, 1);

const rowOf = (seq: number, over: Partial<AuditRow> = {}): AuditRow => ({
  seq,
  at: new Date(firstAt + seq).toISOString(),
  actor: 'key_1',
  action: 'secret.set',
  target: 'llm_key',
  from: '127.0.0.1',
  outcome: 'done',
  request_id: `req_${seq}`,
  prev: 'p'.repeat(64),
  hash: String(seq).padStart(64, '0'),
  ...over,
});

const rowsOf = (from: number, until: number): readonly AuditRow[] =>
  Array.from({ length: until - from + 1 }, (_, place) => rowOf(from + place));

const all = { beyond: null, order: 'asc', limit: 500 } as const;

export function auditLogContract(name: string, make: () => Promise<UnderTest<AuditLog>>): void {
  describe(`AuditLog contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(W3) gives back what was appended, also to another process', async () => {
      const tenant = freshTenant();
      const odd = rowOf(2, { actor: 'user:"ä\n', target: null, from: null, request_id: null });
      const audit = await opened.get();
      expect(await audit.last(tenant)).toBeNull();
      expect(await audit.page(tenant, {}, all)).toEqual([]);
      expect(await audit.append(tenant, [rowOf(1), odd])).toBe(true);
      expect(await audit.last(tenant)).toEqual(odd);
      const again = (await opened.reopened()) ?? audit;
      expect(await again.page(tenant, {}, all)).toEqual([rowOf(1), odd]);
    });

    it('(W1, W2) refuses a number that is taken, and changes nothing', async () => {
      const tenant = freshTenant();
      const audit = await opened.get();
      await audit.append(tenant, rowsOf(1, 3));
      expect(await audit.append(tenant, [rowOf(3, { actor: 'key_2' }), rowOf(4)])).toBe(false);
      expect(await audit.append(tenant, [rowOf(1, { actor: 'key_2' })])).toBe(false);
      expect(await audit.page(tenant, {}, all)).toEqual(rowsOf(1, 3));
    });

    it('(W1) lets one of several writers have a number', async () => {
      const tenant = freshTenant();
      const audit = await opened.get();
      const tries = Array.from({ length: 8 }, (_, writer) => [
        rowOf(1, { actor: `key_${writer}` }),
        rowOf(2, { actor: `key_${writer}` }),
      ]);
      const taken = await Promise.all(tries.map((rows) => audit.append(tenant, rows)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await audit.page(tenant, {}, all)).toEqual(tries[taken.indexOf(true)]);
    });

    it('(W5) removes the rows up to a number, never the last one, and goes on behind it', async () => {
      const [tenant, other] = [freshTenant(), freshTenant()];
      const audit = await opened.get();
      await audit.remove(tenant, 5);
      for (const each of [tenant, other]) await audit.append(each, rowsOf(1, 6));
      await audit.remove(tenant, 2);
      expect(await audit.page(tenant, {}, all)).toEqual(rowsOf(3, 6));
      await audit.remove(tenant, 2);
      await audit.remove(tenant, 99);
      expect(await audit.page(tenant, {}, all)).toEqual(rowsOf(6, 6));
      expect(await audit.append(tenant, rowsOf(1, 1))).toBe(false);
      expect(await audit.append(tenant, rowsOf(7, 8))).toBe(true);
      expect(await audit.page(tenant, {}, all)).toEqual(rowsOf(6, 8));
      expect(await audit.page(other, {}, all)).toEqual(rowsOf(1, 6));
    });

    it('(W4) pages in both directions, by actor, action and time, within the tenant', async () => {
      const [tenant, other] = [freshTenant(), freshTenant()];
      const audit = await opened.get();
      const rows = rowsOf(1, 20).map((row) => ({
        ...row,
        actor: row.seq % 2 === 0 ? 'key_even' : 'key_odd',
        action: row.seq % 5 === 0 ? 'key.created' : 'secret.set',
      }));
      await audit.append(tenant, rows);
      await audit.append(other, rowsOf(1, 20));
      const seqs = async (...asked: Parameters<AuditLog['page']>): Promise<readonly number[]> =>
        (await audit.page(...asked)).map(({ seq }) => seq);
      expect(await seqs(tenant, {}, { beyond: null, order: 'desc', limit: 3 })).toEqual([20, 19, 18]);
      expect(await seqs(tenant, {}, { beyond: 18, order: 'desc', limit: 3 })).toEqual([17, 16, 15]);
      expect(await seqs(tenant, {}, { beyond: 18, order: 'asc', limit: 3 })).toEqual([19, 20]);
      expect(await seqs(tenant, { actor: 'key_even', action: 'key.created' }, all)).toEqual([10, 20]);
      expect(await seqs(tenant, { actor: 'key_nowhere' }, all)).toEqual([]);
      expect(await seqs(tenant, { from: firstAt + 4, to: firstAt + 7 }, all)).toEqual([4, 5, 6]);
    });
  });
}
