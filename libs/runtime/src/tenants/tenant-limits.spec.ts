import { createManualClock, createMemoryWorld, type MemoryPorts } from '@dormouse/adapter-memory';
import { replayWake, type ThreadRow, tenantId, type TenantId } from '@dormouse/ports';
import { type RecordedEvent, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { limitsOver, setQuotas } from './spec/limits-over.ts';
import {
  countedBlobs,
  countedInputs,
  countLagMsMax,
  enteringInputsMax,
  type TenantLimits,
  unseenInputsMax,
  waitingInputsMax,
} from './tenant-limits.ts';

const acme = tenantId('acme');
const loud = tenantId('loud');

const thread = { ...unopenedThread(acme, 'thr_1'), model: 'large', status: 'open' as const };

const recorded = (inputTokens: number, outputTokens: number): RecordedEvent => ({
  ...{ type: 'CompletionRecorded', completionId: 'cmp_1', message: { text: '' }, finishReason: 'stop' },
  ...{ usage: { inputTokens, outputTokens }, interrupted: false, final: true },
  ...{ turnId: 'msg_1', cause: { kind: 'completion', id: 'cmp_1' } },
});

const prices = new Map([['large', { inputMicros: 1_000_000, outputMicros: 5_000_000 }]]);

const spend = (limits: TenantLimits, tokens: number, characters = 10): void =>
  limits.committed(acme, { events: [recorded(tokens - 1, 1)], characters, before: thread, after: thread, prices });

let made = 0;
async function insertThread({ directory }: Pick<MemoryPorts, 'directory'>): Promise<ThreadRow> {
  made += 1;
  const name = `thr_${made}`;
  const row: ThreadRow = {
    ...{ tenant: acme, thread: name, status: 'idle', agent: 'a', agentVersion: 1, parent: null, family: name },
    ...{ userId: null, externalId: null, title: null, metadata: {}, createdAt: made, updatedAt: made, position: 1 },
    opening: null,
  };
  await directory.insert(row);
  return row;
}

function rig() {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const ports = world.ports('one');
  const limits = (node: string) => limitsOver(world.ports(node), clock, node);
  return { clock, ports, limits };
}

const codeOf = (answer: { readonly ok: boolean; readonly refusal?: { readonly detail: string } }): string =>
  answer.ok ? 'ok' : (answer.refusal?.detail ?? '');

describe('the quotas of a tenant', () => {
  it('Q1 tokens and money of the day: refused once used up, in every process, until raised or the day is over', async () => {
    const { clock, ports, limits } = rig();
    const [one, two] = [limits('one'), limits('two')];
    await setQuotas(ports, acme, { tokensPerDayMax: 100, costMicrosPerDayMax: 1_000 });
    spend(one, 60);
    expect(codeOf(await one.mayAsk(acme))).toBe('ok');
    spend(two, 50);
    await clock.advance(countLagMsMax);
    for (const each of [one, two])
      expect(codeOf(await each.mayAsk(acme))).toBe("The tenant's quota tokens_per_day_max is used up: 110 of 100.");
    expect(codeOf(await one.mayStore(acme))).toBe('ok');
    expect(one.quotaOf(acme).spent()).toEqual({ budget: 'tokens_per_day_tenant', used: 110, limit: 100 });
    await setQuotas(ports, acme, { tokensPerDayMax: 1_000, costMicrosPerDayMax: 100 });
    await clock.advance(1_000);
    // 59 + 5 and 49 + 5 micros
    expect(codeOf(await two.mayAsk(acme))).toBe("The tenant's quota cost_micros_per_day_max is used up: 118 of 100.");
    expect(two.quotaOf(acme).spent()).toMatchObject({ budget: 'cost_per_day_tenant' });
    await clock.advance(86_400_000);
    expect([codeOf(await one.mayAsk(acme)), one.quotaOf(acme).spent()]).toEqual(['ok', null]);
  });

  it('Q2 of a tenant without them nothing is asked of the stores', async () => {
    const { clock, ports } = rig();
    const refuse = (): never => expect.fail('nothing is read');
    const limits = limitsOver(
      {
        tenants: ports.tenants,
        tenantTallies: { ...ports.tenantTallies, sums: refuse },
        directory: { ...ports.directory, openOf: refuse },
      },
      clock,
      'one',
    );
    await setQuotas(ports, acme, {});
    expect([codeOf(await limits.mayAsk(acme)), codeOf(await limits.openThread(acme))]).toEqual(['ok', 'ok']);
    expect([limits.quotaOf(acme).spent(), limits.quotaOf(acme).isFull('threads')]).toEqual([null, false]);
  });

  it('Q3 threads: a thousand requests at once open no more than there is room for', async () => {
    const { ports, limits } = rig();
    const one = limits('one');
    await setQuotas(ports, acme, { threadsMax: 7 });
    await insertThread(ports);
    const open = async (): Promise<boolean> => {
      const room = await one.openThread(acme);
      if (!room.ok) return false;
      await insertThread(ports);
      room.value.ended(true);
      return true;
    };
    const opened = await Promise.all(Array.from({ length: 1_000 }, open));
    expect(opened.filter(Boolean)).toHaveLength(6);
    expect(codeOf(await one.openThread(acme))).toBe("The tenant's quota threads_max is used up: 7 of 7.");
  });

  it('Q1 threads: a quota below what is open refuses new ones, and a thread that ends makes room', async () => {
    const { clock, ports, limits } = rig();
    const one = limits('one');
    await setQuotas(ports, acme, { threadsMax: 2, subscriptionsMax: 3 });
    const rows = await Promise.all([insertThread(ports), insertThread(ports), insertThread(ports)]);
    await one.learn(acme);
    one.quotaOf(acme).isFull('threads');
    await clock.advance(1);
    expect(one.quotaOf(acme).isFull('threads')).toBe(true);
    const close = (row: ThreadRow, subscriptions = 0) =>
      ports.directory.project([
        { ...row, status: subscriptions > 0 ? 'waiting' : 'closed', position: 9, waits: { oldest: {}, subscriptions } },
      ]);
    for (const row of rows.slice(0, 2)) await close(row);
    await close(rows[2], 3);
    await clock.advance(1_000);
    expect(codeOf(await one.openThread(acme))).toBe('ok');
    one.quotaOf(acme).isFull('subscriptions');
    await clock.advance(1);
    expect([one.quotaOf(acme).isFull('subscriptions'), one.quotaOf(acme).isFull('threads')]).toEqual([true, false]);
  });

  it('stored bytes: those of commits, and of payloads that were not there before', async () => {
    const { ports, limits } = rig();
    const one = limits('one');
    await setQuotas(ports, acme, { storedBytesMax: 150 });
    const blobs = countedBlobs(ports.blobs, one);
    for (let time = 0; time < 3; time += 1) await blobs.put(acme, 'h1', new Uint8Array(100), 'text/plain');
    spend(one, 1, 40);
    expect(codeOf(await one.mayStore(acme))).toBe('ok');
    await blobs.put(acme, 'h2', new Uint8Array(10), 'text/plain');
    expect(codeOf(await one.mayAsk(acme))).toBe("The tenant's quota stored_bytes_max is used up: 150 of 150.");
  });

  it('streams and completions: those of all processes together', async () => {
    const { clock, ports, limits } = rig();
    const [one, two] = [limits('one'), limits('two')];
    await setQuotas(ports, acme, { streamsMax: 3, completionsInFlightMax: 3 });
    await Promise.all([one.learn(acme), two.learn(acme)]);
    one.streamsHere(acme, 2);
    one.completionsHere(acme, 2);
    await clock.advance(countLagMsMax);
    await two.learn(acme);
    expect([two.streamsFull(acme, 0), two.streamsFull(acme, 1)]).toEqual([null, 3]);
    expect([two.completionsLeft(acme, 0), two.completionsLeft(acme, 1)]).toEqual([1, 0]);
  });

  it('in front of the partitions: while much of it waits for its threads, the tenant sends no more', async () => {
    const { clock, limits } = rig();
    const [processor, gateway] = [limits('one'), limits('two')];
    processor.waitingHere(acme, waitingInputsMax);
    gateway.mayEnter(acme);
    await clock.advance(countLagMsMax);
    gateway.mayEnter(acme);
    await clock.advance(1);
    expect([codeOf(gateway.mayEnter(acme)), codeOf(gateway.mayEnter(tenantId('zenith')))]).toEqual([
      expect.stringContaining('wait for their threads'),
      'ok',
    ]);
    processor.waitingHere(acme, 3);
    await clock.advance(countLagMsMax);
    gateway.mayEnter(acme);
    await clock.advance(1);
    expect(codeOf(gateway.mayEnter(acme))).toBe('ok');
  });

  /** The thread, with so many inputs that its model has not seen. */
  const unseen = (limits: TenantLimits, count: number): void =>
    limits.committed(acme, {
      events: [],
      characters: 1,
      before: thread,
      after: { ...thread, unseen: count },
      prices,
    });

  async function fullIn(limits: TenantLimits, clock: { advance(ms: number): Promise<void> }, ms = countLagMsMax) {
    await clock.advance(ms);
    limits.isFull(acme, thread.id); // begins to read
    await clock.advance(1);
    return [limits.isFull(acme, thread.id), limits.isFull(acme, 'thr_2'), limits.isFull(tenantId('zenith'), thread.id)];
  }

  it('Q6 a thread is full in every process while its model has a thousand inputs to see, and no other thread is', async () => {
    const { clock, limits } = rig();
    const [processor, gateway] = [limits('one'), limits('two')];
    unseen(processor, unseenInputsMax - 1);
    expect(await fullIn(gateway, clock)).toEqual([false, false, false]);
    unseen(processor, unseenInputsMax);
    expect(processor.isFull(acme, thread.id)).toBe(true);
    expect(await fullIn(gateway, clock)).toEqual([true, false, false]);
    expect(await fullIn(gateway, clock, 3_600_000)).toEqual([true, false, false]); // its owner lives
    unseen(processor, 0);
    expect(await fullIn(gateway, clock)).toEqual([false, false, false]);
  });

  it('Q6 events that wait for a child, or for their subscription, count too', () => {
    const processor = rig().limits('one');
    const held = { toolCallId: 'c', eventId: null, content: [], associative: true, final: false };
    const queued = { ...held, operation: 'o', arguments: {}, merged: false, size: 1 };
    const after = { ...thread, unseen: unseenInputsMax - 2, held: [held], queuedEvents: [queued] };
    processor.committed(acme, { events: [], characters: 1, before: thread, after, prices });
    expect(processor.isFull(acme, thread.id)).toBe(true);
  });

  it('Q6 it is so no more once its owner has died, or has lost its partition; the next owner says it again', async () => {
    const { clock, ports, limits } = rig();
    const gateway = limits('two');
    const died = {
      tenant: acme,
      name: `full.${thread.id}`,
      amount: 1,
      reporter: 'dead',
      until: clock.now() + 15_000,
    };
    await ports.tenantTallies.put([died]);
    expect(await fullIn(gateway, clock)).toEqual([true, false, false]);
    expect(await fullIn(gateway, clock, 15_000)).toEqual([false, false, false]);
    const before = limits('one');
    unseen(before, unseenInputsMax);
    expect(await fullIn(gateway, clock)).toEqual([true, false, false]);
    before.forgetThreads();
    expect(await fullIn(gateway, clock)).toEqual([false, false, false]);
    unseen(before, unseenInputsMax + 1);
    expect(await fullIn(gateway, clock)).toEqual([true, false, false]);
  });

  it('Q5 in front of the partitions: before the processors have said what waits, a gateway takes so many and no more', async () => {
    const { clock, ports, limits } = rig();
    const gateway = limits('one');
    const bus = countedInputs({ ...ports.inputs, publish: () => Promise.resolve() }, gateway);
    const send = async (tenant: TenantId, count: number): Promise<number> => {
      let taken = 0;
      for (let nth = 0; nth < count; nth += 1) {
        if (!gateway.mayEnter(tenant).ok) continue;
        await bus.publish({ tenant, thread: 'thr_1' }, replayWake);
        taken += 1;
      }
      return taken;
    };
    await clock.advance(countLagMsMax - (clock.now() % countLagMsMax)); // a period begins
    expect(await send(loud, 20_000)).toBe(enteringInputsMax);
    expect(codeOf(gateway.mayEnter(loud))).toContain('have come within');
    expect(await send(tenantId('quiet'), 100)).toBe(100);
    await clock.advance(countLagMsMax / 2);
    expect(await send(loud, 20_000)).toBe(0);
    await clock.advance(countLagMsMax);
    const half = await send(loud, 20_000); // half of them have come longer ago than that
    expect(Math.abs(half - enteringInputsMax / 2)).toBeLessThan(5);
    await clock.advance(2 * countLagMsMax);
    expect(codeOf(gateway.mayEnter(loud))).toBe('ok');
  });
});
