import { createManualClock, createSeededEntropy, type ManualClock, settle } from '@dormouse/adapter-memory';
import { tenantId, type SendOutcome } from '@dormouse/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import { CancelTokenSource, type CancelToken } from './cancel-token.ts';
import { createServerGates, type Leave, type ServerGates } from './server-gate.ts';

const ok: SendOutcome = { sent: true, status: 200, retryAfterMs: null };
const bad: SendOutcome = { sent: true, status: 503, retryAfterMs: null };
const endless = new CancelTokenSource();

let clock: ManualClock;
let gates: ServerGates;
let entered: { readonly name: string; readonly leave: Leave }[];

beforeEach(() => {
  clock = createManualClock();
  gates = createServerGates({
    clock,
    entropy: createSeededEntropy(1),
    concurrentMax: 3,
    breaker: { failuresMax: 5, holdFirstMs: 1_000, holdMaxMs: 8_000 },
  });
  entered = [];
});

async function come(name: string, cancelToken: CancelToken = endless, server = 'one'): Promise<void> {
  void Promise.resolve(gates.enter(tenantId('acme'), server, cancelToken)).then(
    (leave) => leave && entered.push({ name, leave }),
  );
  await settle();
}
async function go(outcome: SendOutcome | null, index = 0): Promise<void> {
  entered.splice(index, 1)[0]?.leave(outcome);
  await settle();
}
const inside = (): string => entered.map(({ name }) => name).join('');
async function fail(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await come('x');
    await go(bad);
  }
}

describe('the bulkhead', () => {
  it('lets so many in, and the others in their order', async () => {
    for (const name of 'abcdef') await come(name);
    expect(inside()).toBe('abc');
    await go(ok);
    expect(inside()).toBe('bcd');
    await go(ok, 2);
    expect(inside()).toBe('bce');
  });

  it('gives a place that becomes free to nobody who has just come', async () => {
    for (const name of 'abcd') await come(name);
    const late = come('e');
    entered.splice(0, 1)[0]?.leave(ok);
    await come('f');
    await late;
    expect(inside()).toBe('bcd');
  });

  it('forgets who stopped waiting', async () => {
    const stop = new CancelTokenSource();
    for (const name of 'abc') await come(name);
    await come('d', stop);
    await come('e');
    stop.cancel();
    await go(ok);
    expect(inside()).toBe('bce');
    await come('f', stop);
    await go(ok);
    expect(inside()).toBe('ce');
  });

  it('S3 gives a place that becomes free in the same moment to who came first', async () => {
    for (const name of 'abc') await come(name);
    const first = come('d');
    entered.splice(0, 1)[0]?.leave(ok);
    await Promise.all([first, come('e')]);
    expect(inside()).toBe('bcd');
  });

  it('is one for each server', async () => {
    for (const name of 'abcd') await come(name);
    await come('z', endless, 'two');
    expect(inside()).toBe('abcz');
  });
});

describe('the breaker', () => {
  it('holds everybody after five failures, and then asks with one', async () => {
    await fail(5);
    for (const name of 'abc') await come(name);
    expect(inside()).toBe('');
    await clock.advance(1_000);
    expect(inside()).toBe('a');
    await go(ok);
    expect(inside()).toBe('bc');
  });

  it('S2 is not forgotten while somebody waits: all of them find one bulkhead when it lets them go', async () => {
    await fail(5);
    for (const name of 'abcd') await come(name);
    await clock.advance(1_000);
    expect(inside()).toBe('a');
    await go(ok);
    for (const name of 'efg') await come(name);
    expect(inside()).toBe('bcd');
    for (const expected of ['cde', 'def', 'efg']) {
      await go(ok);
      expect(inside()).toBe(expected);
    }
  });

  it('holds twice as long each time, up to the longest', async () => {
    await fail(5);
    await come('a');
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const startedAt = clock.now();
      while (inside() === '') await clock.advance(50);
      waits.push(clock.now() - startedAt);
      await go(bad);
      await come('a');
    }
    waits.forEach((wait, index) => {
      const longest = Math.min(8_000, 1_000 * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(longest * 0.75);
      expect(wait).toBeLessThanOrEqual(longest + 50);
    });
  });

  it('K2 is not made longer by attempts that were on their way', async () => {
    await fail(3);
    for (const name of 'abc') await come(name);
    for (let time = 0; time < 3; time += 1) await go(bad);
    await come('d');
    await clock.advance(1_000);
    expect(inside()).toBe('d');
  });

  it('asks with another when the one that was to find out has stopped', async () => {
    await fail(5);
    for (const name of 'ab') await come(name);
    await clock.advance(1_000);
    expect(inside()).toBe('a');
    await go(null);
    expect(inside()).toBe('b');
  });

  it('lets go of who stops waiting', async () => {
    await fail(5);
    const cancelToken = new CancelTokenSource();
    const left = gates.enter(tenantId('acme'), 'one', cancelToken);
    cancelToken.cancel();
    expect(await left).toBeNull();
  });

  it.each<SendOutcome>([
    { sent: true, status: 404, retryAfterMs: null },
    { sent: false, reached: false, code: 'OUTBOUND_FORBIDDEN', detail: '' },
    { sent: false, reached: true, code: 'ABORTED', detail: '' },
    { sent: false, reached: false, code: 'UNAVAILABLE', detail: 'the login of one user is not refreshed' },
  ])('is not for what says nothing about the server: %j', async (outcome) => {
    for (let time = 0; time < 10; time += 1) {
      await come('x');
      await go(outcome);
    }
    await come('a');
    expect(inside()).toBe('a');
  });

  it.each(['UNAVAILABLE', 'CREDENTIAL_REFRESH_FAILED'])(
    'K5 learns nothing from a call that was never sent, %s: the next one finds out',
    async (code) => {
      await fail(5);
      for (const name of 'abc') await come(name);
      await clock.advance(1_000);
      await go({ sent: false, reached: false, code, detail: '' });
      expect(inside()).toBe('b');
      await go(ok);
      expect(inside()).toBe('c');
    },
  );

  it('K4 holds nobody for long when the clock jumps back', async () => {
    await fail(5);
    const jumped = clock.now() - 3_600_000;
    clock.now = () => jumped;
    await come('a');
    expect(inside()).toBe('a');
  });
});
