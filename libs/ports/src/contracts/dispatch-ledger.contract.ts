// The contract of `DispatchLedger` (D1..D3), for every adapter.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { tenantId, type Attempt, type DispatchLedger, type DispatchOutcome } from '../index.ts';
import { freshKey } from './samples.ts';

export interface DispatchLedgerUnderTest {
  readonly ledger: DispatchLedger;
  close(): Promise<void>;
  /** For ledgers that outlive their process. */
  reopen?(): Promise<DispatchLedgerUnderTest>;
}

const outcomes: readonly DispatchOutcome[] = ['sent', 'refused', 'exhausted', 'unknown', 'cancelled'];

/** The id of a call minted at `time`: ids sort by time. */
const callOf = (time: number): string => `call_${String(time).padStart(10, '0')}ZW7ZT8WMQZ8FQAN1`;
const [call1, call2, call3] = [callOf(1), callOf(2), callOf(3)];

export function dispatchLedgerContract(name: string, make: () => Promise<DispatchLedgerUnderTest>): void {
  describe(`DispatchLedger contract: ${name}`, () => {
    let opened: DispatchLedgerUnderTest | null = null;
    const open = async (): Promise<DispatchLedger> => (opened ??= await make()).ledger;
    afterAll(async () => opened?.close());

    it('D1: a claim is won by one nonce for ever, and the winner wins again', async () => {
      const ledger = await open();
      const key = freshKey();
      expect(await ledger.claim(key, call1, 'mine', 1_000)).toBe(true);
      expect(await ledger.claim(key, call1, 'theirs', 2_000)).toBe(false);
      expect(await ledger.claim(key, call1, 'mine', 3_000)).toBe(true);
      expect(await ledger.read(key, call1)).toEqual({
        nonce: 'mine',
        outcome: null,
        detail: null,
        claimedAt: 1_000,
      });
    });

    it('D1: a claim is given back by its winner alone, and not once there is an outcome', async () => {
      const ledger = await open();
      const key = freshKey();
      await ledger.unclaim(key, call1, 'mine');
      expect(await ledger.claim(key, call1, 'mine', 1_000)).toBe(true);
      await ledger.unclaim(key, call1, 'theirs');
      expect(await ledger.claim(key, call1, 'theirs', 2_000)).toBe(false);
      await ledger.unclaim(key, call1, 'mine');
      expect((await ledger.read(key, call1))?.nonce ?? null).toBeNull();
      expect(await ledger.claim(key, call1, 'theirs', 3_000)).toBe(true);
      await ledger.settle(key, call1, 'sent', '202');
      await ledger.unclaim(key, call1, 'theirs');
      expect(await ledger.read(key, call1)).toMatchObject({ nonce: 'theirs', outcome: 'sent' });
    });

    it('D1: of many who claim at once exactly one wins', async () => {
      const ledger = await open();
      const key = freshKey();
      const won = await Promise.all(
        Array.from({ length: 50 }, (_, index) => ledger.claim(key, call1, `nonce-${index}`, index)),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      expect((await ledger.read(key, call1))?.nonce).toBe(`nonce-${won.indexOf(true)}`);
    });

    it('D1: a call that has an outcome can still be claimed, once', async () => {
      const ledger = await open();
      const key = freshKey();
      await ledger.settle(key, call1, 'cancelled', null);
      expect(await ledger.claim(key, call1, 'mine', 5)).toBe(true);
      expect(await ledger.claim(key, call1, 'theirs', 6)).toBe(false);
      expect(await ledger.read(key, call1)).toEqual({
        nonce: 'mine',
        outcome: 'cancelled',
        detail: null,
        claimedAt: 5,
      });
    });

    it('D2: the first outcome stays, whoever recorded it', async () => {
      const ledger = await open();
      const key = freshKey();
      expect(await ledger.settle(key, call1, 'refused', '404')).toBe('refused');
      expect(await ledger.settle(key, call1, 'sent', '200')).toBe('refused');
      expect(await ledger.read(key, call1)).toMatchObject({ outcome: 'refused', detail: '404' });
    });

    it('D2: of many who settle at once all are answered the same', async () => {
      const ledger = await open();
      const key = freshKey();
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          ledger.settle(key, call1, outcomes[index % outcomes.length] ?? 'sent', `${index}`),
        ),
      );
      expect(new Set(answers).size).toBe(1);
      expect((await ledger.read(key, call1))?.outcome).toBe(answers[0]);
    });

    it('D2: settling does not touch the claim', async () => {
      const ledger = await open();
      const key = freshKey();
      await ledger.claim(key, call1, 'mine', 7);
      await ledger.settle(key, call1, 'sent', '202');
      expect(await ledger.read(key, call1)).toEqual({ nonce: 'mine', outcome: 'sent', detail: '202', claimedAt: 7 });
    });

    it('D1 and D2: any order of claims and outcomes ends as the first of each', async () => {
      const ledger = await open();
      const step = fc.oneof(
        fc.record({ nonce: fc.constantFrom('a', 'b', 'c') }),
        fc.record({ outcome: fc.constantFrom(...outcomes) }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          const key = freshKey();
          let nonce: string | null = null;
          let outcome: DispatchOutcome | null = null;
          for (const each of steps) {
            if ('nonce' in each) {
              nonce ??= each.nonce;
              expect(await ledger.claim(key, call1, each.nonce, 1)).toBe(each.nonce === nonce);
            } else {
              outcome ??= each.outcome;
              expect(await ledger.settle(key, call1, each.outcome, null)).toBe(outcome);
            }
          }
          expect(await ledger.read(key, call1)).toMatchObject({ nonce, outcome });
        }),
        { numRuns: 30 },
      );
    });

    it('D3: claims and outcomes outlive the process', async (context) => {
      opened ??= await make();
      if (!opened.reopen) return context.skip('this ledger does not outlive its process');
      const key = freshKey();
      await opened.ledger.claim(key, call1, 'mine', 9);
      await opened.ledger.settle(key, call1, 'sent', null);
      opened = await opened.reopen();
      expect(await opened.ledger.claim(key, call1, 'theirs', 10)).toBe(false);
      expect(await opened.ledger.settle(key, call1, 'unknown', null)).toBe('sent');
    });

    it('D3: what is known of a call does not depend on when it was asked for first, nor by whom', async (context) => {
      opened ??= await make();
      if (!opened.reopen) return context.skip('this ledger does not outlive its process');
      const time = fc.integer({ min: 0, max: 30 });
      const written = fc.record({ time, how: fc.constantFrom('claim', 'settle', 'record') });
      const lives = fc.array(fc.array(written, { maxLength: 4 }), { minLength: 1, maxLength: 3 });
      let base = 10;
      await fc.assert(
        fc.asyncProperty(lives, async (processes) => {
          base += 100; // later than every call of the run before
          const callAt = (after: number): string => callOf(base + after);
          const key = freshKey();
          const known = new Set<string>();
          for (const writes of processes) {
            const { ledger } = (opened = (await opened?.reopen?.()) ?? (await make()));
            for (const { time: after, how } of writes) {
              const id = callAt(after);
              const { entry, attempts } = await ledger.look(key, id);
              expect(entry !== null || attempts.length > 0).toBe(known.has(id));
              if (how === 'claim') await ledger.claim(key, id, 'mine', 1);
              else if (how === 'settle') await ledger.settle(key, id, 'sent', null);
              else await ledger.record(key, { toolCallId: id, number: 1, at: Date.now(), status: 200, durationMs: 1 });
              known.add(id);
            }
          }
          for (let after = 0; after <= 30; after++) {
            const { entry, attempts } = (await opened?.ledger.look(key, callAt(after))) ?? {
              entry: null,
              attempts: [],
            };
            expect(entry !== null || attempts.length > 0, callAt(after)).toBe(known.has(callAt(after)));
          }
        }),
        { numRuns: 12 },
      );
    });

    it('D3: subjects and threads do not mix, and nothing is recorded about the others', async () => {
      const ledger = await open();
      const [key, other] = [freshKey(), freshKey()];
      await ledger.claim(key, 'notice:server-a', 'mine', 1);
      expect(await ledger.claim(key, 'notice:server-b', 'theirs', 1)).toBe(true);
      expect(await ledger.claim(other, 'notice:server-a', 'theirs', 1)).toBe(true);
      expect(await ledger.read(key, call1)).toBeNull();
      expect(await ledger.read({ ...key, tenant: tenantId('zenith') }, 'notice:server-a')).toBeNull();
    });

    it('attempts come back as recorded, by call and number; recording twice is recording once', async () => {
      const ledger = await open();
      const key = freshKey();
      const first: Attempt = { toolCallId: call1, number: 1, at: 100, status: 503, durationMs: 12 };
      const second: Attempt = { toolCallId: call1, number: 2, at: 200, status: 'ECONNREFUSED', durationMs: 1 };
      const other: Attempt = { toolCallId: call2, number: 1, at: 150, status: 200, durationMs: 3 };
      await Promise.all([first, second, other, first].map((attempt) => ledger.record(key, attempt)));
      await ledger.record(freshKey(), { ...first, status: 500 });
      expect([...(await ledger.attempts(key, [call1]))].sort(byCall)).toEqual([first, second]);
      expect([...(await ledger.attempts(key, [call2, call1]))].sort(byCall)).toEqual([first, second, other]);
      expect(await ledger.attempts(key, [call3])).toEqual([]);
      expect(await ledger.attempts(key, [])).toEqual([]);
      const { entry, attempts } = await ledger.look(key, call1);
      expect([entry, [...attempts].sort(byCall)]).toEqual([null, [first, second]]);
    });

    it('an attempt is recorded with the outcome that it led to, whoever was first', async () => {
      const ledger = await open();
      const key = freshKey();
      const attempt: Attempt = { toolCallId: call1, number: 1, at: 100, status: 202, durationMs: 12 };
      const again = { ...attempt, number: 2, at: 200 };
      expect(await ledger.settle(key, call1, 'sent', null, attempt)).toBe('sent');
      expect(await ledger.settle(key, call1, 'refused', '404', again)).toBe('sent');
      const { entry, attempts } = await ledger.look(key, call1);
      expect([entry?.outcome, [...attempts].sort(byCall)]).toEqual(['sent', [attempt, again]]);
    });

    it('one look at a call says what reading its entry and its attempts says', async () => {
      const ledger = await open();
      const key = freshKey();
      const attempt: Attempt = { toolCallId: call1, number: 1, at: 100, status: 503, durationMs: 12 };
      expect(await ledger.look(key, call1)).toEqual({ entry: null, attempts: [] });
      await ledger.claim(key, call1, 'mine', 99);
      await ledger.record(key, attempt);
      await ledger.settle(key, call1, 'refused', 'it said 404');
      await ledger.settle(key, call2, 'cancelled', null);
      const entry = { nonce: 'mine', outcome: 'refused', detail: 'it said 404', claimedAt: 99 };
      expect(await ledger.look(key, call1)).toEqual({ entry, attempts: [attempt] });
      expect(await ledger.look(key, call2)).toEqual({ entry: await ledger.read(key, call2), attempts: [] });
      expect(await ledger.look(freshKey(), call1)).toEqual({ entry: null, attempts: [] });
    });
  });
}

const byCall = (left: Attempt, right: Attempt): number =>
  left.toolCallId.localeCompare(right.toolCallId) || left.number - right.number;
