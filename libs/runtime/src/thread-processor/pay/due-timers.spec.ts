import { createManualClock, createMemoryWorld, type ManualClock } from '@dormouse/adapter-memory';
import {
  tenantId,
  type TenantId,
  type DueTimer,
  type InputBus,
  type Logger,
  type ThreadKey,
  type Timers,
} from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createDueTimers, type DueTimersLoop } from './due-timers.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

interface Scene {
  readonly clock: ManualClock;
  readonly timers: Timers;
  readonly loop: DueTimersLoop;
  readonly fired: string[];
  readonly set: (timerId: string, inMs: number, tenant?: TenantId) => Promise<DueTimer>;
}

function scene(
  publish: (key: ThreadKey, input: ThreadInput) => Promise<void> = async () => {},
  timersFiringMax = 100,
): Scene {
  const clock = createManualClock();
  const { timers } = createMemoryWorld({ clock }).ports('p1');
  const fired: string[] = [];
  const inputs: Pick<InputBus, 'publish'> = {
    publish: async (key, input) => {
      fired.push(`${clock.now() - startsAt} ${input.id}`);
      if (input.kind === 'TimerFiring') await publish(key, input);
    },
  };
  const startsAt = clock.now();
  const loop = createDueTimers({
    timers,
    inputs: { ...inputs, consume: () => Promise.reject(new Error('not consumed')) },
    holding: null,
    clock,
    logger: silent,
    settings: { timerPollMs: 1_000, timersFiringMax },
  });
  const set = async (timerId: string, inMs: number, tenant = tenantId('acme')): Promise<DueTimer> => {
    const timer = { tenant, thread: 't', timerId, due: clock.now() + inMs };
    await timers.set([timer]);
    loop.wakeBy(timer.due);
    return timer;
  };
  return { clock, timers, loop, fired, set };
}

describe('due timers', () => {
  it('fire once at their time, as an input with the id of the timer, and are dropped', async () => {
    const { clock, loop, fired, set, timers } = scene();
    await set('a', 2_500);
    loop.start();
    await clock.advance(2_499);
    expect(fired).toEqual([]);
    await clock.advance(5_000);
    expect(fired).toEqual(['2500 t:a']);
    expect(await timers.next()).toBeNull();
  });

  it('wake for a nearer timer that is set while they sleep', async () => {
    const { clock, loop, fired, set } = scene();
    loop.start();
    await clock.advance(1_100);
    await set('near', 50);
    await clock.advance(60);
    expect(fired).toEqual(['1150 t:near']);
  });

  it('D1 are dropped after they are published: a failure fires them again', async () => {
    let failures = 2;
    const { clock, loop, fired, set, timers } = scene(async () => {
      if (failures-- > 0) throw new Error('bus is down');
    });
    await set('a', 10);
    loop.start();
    await clock.advance(500);
    expect(await timers.next()).not.toBeNull();
    await clock.advance(5_000);
    expect(fired.length).toBe(3);
    expect(await timers.next()).toBeNull();
  });

  it('D2 are not held up by one whose thread is blocked', async () => {
    const { clock, loop, fired, set } = scene(
      (_key, input) => (input.id === 't:stuck' ? new Promise(() => {}) : Promise.resolve()),
      4,
    );
    await set('stuck', 10);
    loop.start();
    for (const name of ['a', 'b', 'c', 'd']) await set(name, 20);
    await clock.advance(10_000);
    expect(fired.map((line) => line.split(' ')[1]).toSorted()).toEqual(['t:a', 't:b', 't:c', 't:d', 't:stuck']);
  });

  it('fire a backlog larger than a batch without waiting for the next poll', async () => {
    const { clock, loop, fired, set } = scene(undefined, 10);
    for (let name = 0; name < 95; name++) await set(String(name), 10);
    loop.start();
    await clock.advance(500);
    expect(new Set(fired).size).toBe(95);
    expect(fired.length).toBe(95);
  });

  it('D5 of a quiet tenant fire at once, however many of another are due and wait for their threads', async () => {
    const { clock, loop, fired, set } = scene(
      ({ tenant }) => (tenant === 'loud' ? new Promise(() => {}) : Promise.resolve()),
      100,
    );
    for (let nth = 0; nth < 2_000; nth += 1) await set(`loud-${nth}`, 10, tenantId('loud'));
    for (let nth = 0; nth < 200; nth += 1) await set(`quiet-${nth}`, 20, tenantId('quiet'));
    loop.start();
    await clock.advance(1_000);
    expect(fired.filter((line) => line.includes('quiet'))).toHaveLength(200);
    expect(fired.filter((line) => line.includes('loud'))).toHaveLength(50);
  });

  it('stop', async () => {
    const { clock, loop, fired, set } = scene();
    loop.start();
    await set('a', 10);
    await loop.stop();
    await clock.advance(5_000);
    expect(fired).toEqual([]);
  });
});
