// Behaviour of the memory world alone: its gate, zombies, owed rows. Every adapter's behaviour is in test/contracts.
import { Fault, type Commit, type InputConsumer, type ThreadDelivery, tenantId } from '@dormouse/ports';
import type { InterruptRequest } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createManualClock, createMemoryWorld, type Gate, openGate, settle } from './index.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const interrupt = (id: string): InterruptRequest => ({
  kind: 'InterruptRequest',
  id,
  requestId: id,
  includeHuman: false,
});
const commit = (version: number, inputs: readonly string[], nonce = 'n'): Commit => ({
  v: 1,
  ...key,
  version,
  count: 1,
  inputs,
  at: 1,
  nonce,
  trace: null,
  kid: null,
  prev: '',
  hash: `h${version}`,
  body: '{}',
});

function recorder(busy = () => false): InputConsumer & { readonly got: ThreadDelivery[]; readonly said: string[] } {
  const got: ThreadDelivery[] = [];
  const said: string[] = [];
  return {
    got,
    said,
    assigned: ({ partition, generation }) => void said.push(`assigned ${partition}@${generation}`),
    revoked: async ({ partition, generation }) => void said.push(`revoked ${partition}@${generation}`),
    deliver: (_assignment, delivery) => void got.push(delivery),
    busy,
  };
}
const idsOf = (deliveries: readonly ThreadDelivery[]): readonly string[] =>
  deliveries.map((delivery) => (delivery.what === 'input' ? delivery.input.id : `recover from ${delivery.from}`));

describe('the log in memory', () => {
  it('names one of the two violations in turn when a commit violates both', async () => {
    const { log } = createMemoryWorld({ clock: createManualClock() }).ports('p');
    await log.append([{ commit: commit(0, ['a']), owes: false }]);
    const again = async (): Promise<unknown> =>
      (await log.append([{ commit: commit(0, ['a'], 'other'), owes: false }]))[0];
    expect(new Set([await again(), await again()])).toEqual(new Set(['conflict', 'duplicate']));
  });

  it('says unknown when the gate loses the answer, and throws when surely nothing was stored', async () => {
    let code = 'UNKNOWN_OUTCOME';
    const gate: Gate = {
      pass: async (node, operation, apply) => {
        if (operation.name !== 'log.append') return openGate.pass(node, operation, apply);
        if (code === 'UNKNOWN_OUTCOME') apply();
        throw new Fault(code, 'as the test wishes');
      },
    };
    const world = createMemoryWorld({ clock: createManualClock(), gate });
    const { log } = world.ports('p');
    expect(await log.append([{ commit: commit(0, ['a']), owes: false }])).toEqual(['unknown']);
    expect(world.commits(key)).toHaveLength(1);
    code = 'UNAVAILABLE';
    await expect(log.append([{ commit: commit(1, ['b']), owes: false }])).rejects.toThrow(Fault);
    expect(world.commits(key)).toHaveLength(1);
  });
});

describe('the durable input bus in memory', () => {
  it('delivers to the next owner what the last one did not release, under a new generation', async () => {
    const world = createMemoryWorld({ clock: createManualClock(), topology: 'durable', partitions: 1 });
    const first = recorder();
    const { inputs } = world.ports('p1#1');
    await inputs.consume(first);
    for (const id of ['a', 'b', 'c']) await inputs.publish(key, interrupt(id));
    await settle();
    first.got[0]?.release();
    first.got[2]?.release();
    await settle();
    world.durable.broker.expire('p1#1');
    world.durable.broker.forget('p1#1');
    const second = recorder();
    await world.ports('p2#1').inputs.consume(second);
    await settle();
    expect(idsOf(second.got)).toEqual(['b', 'c']);
  });

  it('lets a process that is cut off go on reading, and ignores what it releases', async () => {
    const world = createMemoryWorld({ clock: createManualClock(), topology: 'durable', partitions: 1 });
    const zombie = recorder();
    const { inputs } = world.ports('p1#1');
    await inputs.consume(zombie);
    world.durable.broker.cutOff('p1#1');
    world.durable.broker.expire('p1#1');
    const owner = recorder();
    await world.ports('p2#1').inputs.consume(owner);
    await world.ports('gateway').inputs.publish(key, interrupt('a'));
    await settle();
    expect([idsOf(zombie.got), idsOf(owner.got)]).toEqual([['a'], ['a']]);
    zombie.got[0]?.release();
    await settle();
    expect(world.durable.broker.lag('inputs')).toBe(1);
    world.durable.broker.reconnect('p1#1');
    await settle();
    expect(zombie.said[1]).toMatch(/^revoked 0@/);
  });

  it('drops what a broker answers when the member has joined anew, and fetches it again (K10)', async () => {
    let held: (() => void) | null = null;
    let hold = false;
    const gate: Gate = {
      pass: async (node, operation, apply) => {
        if (hold && operation.name === 'inputs.poll') {
          hold = false; // the fetch of one broker stays under way
          await new Promise<void>((resolve) => (held = resolve));
        }
        return openGate.pass(node, operation, apply);
      },
    };
    const clock = createManualClock();
    const world = createMemoryWorld({ clock, gate, topology: 'durable', partitions: 1 });
    const { broker } = world.durable;
    const consumer = recorder();
    const { inputs } = world.ports('p#1');
    await inputs.consume(consumer);
    await inputs.publish(key, interrupt('a'));
    await settle();
    hold = true;
    await inputs.publish(key, interrupt('b'));
    await settle();
    broker.move('inputs', 0);
    broker.rebalance('inputs');
    await settle();
    (held as (() => void) | null)?.();
    await settle();
    expect(idsOf(consumer.got).slice(-2)).toEqual(['a', 'b']);
    for (const delivery of consumer.got) delivery.release();
    await settle();
    expect(broker.lag('inputs')).toBe(0);
  });

  it('sends again what no broker has answered (K9)', async () => {
    const world = createMemoryWorld({ clock: createManualClock(), topology: 'durable', partitions: 1 });
    world.durable.broker.move('inputs', 0);
    await world.ports('gateway').inputs.publish(key, interrupt('a'));
    expect(world.durable.broker.topics.inputs[0]).toHaveLength(1);
  });

  it('holds deliveries back while the consumer is busy', async () => {
    const clock = createManualClock();
    let busy = true;
    const consumer = recorder(() => busy);
    const { inputs } = createMemoryWorld({ clock, topology: 'durable' }).ports('p');
    await inputs.consume(consumer);
    await inputs.publish(key, interrupt('a'));
    await clock.advance(100);
    expect(consumer.got).toHaveLength(0);
    busy = false;
    await clock.advance(100);
    expect(idsOf(consumer.got)).toEqual(['a']);
  });
});

describe('the standalone input bus in memory', () => {
  it('answers the publisher when the input is decided, not when it is queued', async () => {
    const { inputs } = createMemoryWorld({ clock: createManualClock() }).ports('s');
    const consumer = recorder();
    await inputs.consume(consumer);
    let answered = false;
    const publishing = inputs.publish(key, interrupt('a')).then(() => (answered = true));
    await settle();
    expect(answered).toBe(false);
    consumer.got[0]?.decided(0);
    await publishing;
    expect(answered).toBe(true);
  });

  it('delivers a recovery for every thread whose commits were owed when the process died', async () => {
    const world = createMemoryWorld({ clock: createManualClock() });
    const before = world.ports('s#1');
    const consumer = recorder();
    await before.inputs.consume(consumer);
    void before.inputs.publish(key, interrupt('a'));
    await settle();
    await before.log.append([{ commit: commit(0, ['a']), owes: true }]);
    consumer.got[0]?.decided(0);
    const after = recorder();
    await world.ports('s#2').inputs.consume(after);
    await settle();
    expect(idsOf(after.got)).toEqual(['recover from 0']);
    after.got[0]?.release();
    await settle();
    expect(world.durable.log.owed.size).toBe(0);
  });

  it('keeps the row of a commit that was stored before its delivery could say so', async () => {
    const world = createMemoryWorld({ clock: createManualClock() });
    const { inputs, log } = world.ports('s');
    const consumer = recorder();
    await inputs.consume(consumer);
    void inputs.publish(key, interrupt('a'));
    void inputs.publish(key, interrupt('b'));
    await settle();
    await log.append([{ commit: commit(0, ['a']), owes: true }]);
    consumer.got[0]?.decided(0);
    await log.append([{ commit: commit(1, ['b']), owes: true }]);
    consumer.got[0]?.release();
    await settle();
    expect([...(world.durable.log.owed.get('acme:thr_1')?.versions ?? [])]).toEqual([1]);
    consumer.got[1]?.decided(1);
    consumer.got[1]?.release();
    await settle();
    expect(world.durable.log.owed.size).toBe(0);
  });
});

describe('the work bus in memory', () => {
  it('calls a handler that rejected again, and resolves handled only then', async () => {
    const clock = createManualClock();
    const { work } = createMemoryWorld({ clock }).ports('s');
    let calls = 0;
    await work.consume('notices', async () => {
      calls += 1;
      if (calls === 1) throw new Fault('UNAVAILABLE', 'not yet');
    });
    const { handled } = await work.publish('notices', {
      ...key,
      at: 1,
      trace: null,
      effect: { do: 'SendCloseNotices', id: 'x', toolServers: [] },
    });
    let done = false;
    const waiting = handled?.then(() => (done = true));
    await settle();
    expect([calls, done]).toEqual([1, false]);
    await clock.advance(1_000);
    await waiting;
    expect([calls, done]).toEqual([2, true]);
  });
});
