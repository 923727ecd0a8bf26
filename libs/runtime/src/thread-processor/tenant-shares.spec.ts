// What tenants get of one processor: the budgets of their quotas, and their shares beside each other.
import type { Gate } from '@dormouse/adapter-memory';
import { type TenantId, tenantId, type InputBus } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { setQuotas } from '../tenants/spec/limits-over.ts';
import {
  calls,
  createRig,
  inTurn,
  invoked,
  key,
  message,
  opened,
  opening,
  type Play,
  result,
  says,
} from './spec/processor-rig.ts';

/** An answer that costs so many tokens. */
const costing = (tokens: number, play: Play): Play =>
  async function* (request) {
    for await (const part of play(request))
      yield part.part === 'finish' ? { ...part, usage: { inputTokens: tokens, outputTokens: 0 } } : part;
  };

describe.each(['standalone', 'durable'] as const)('the quotas of a tenant, %s', (topology) => {
  it('tokens of the day: its running threads ask nothing more, and go on with a retry once it is raised', async () => {
    const play = inTurn(costing(60, calls('weather', '{}')), costing(60, says('sunny')), says('again'));
    const { rig, actor } = await opened({ topology, hasTenants: true, play });
    await setQuotas(actor.ports, key.tenant, { tokensPerDayMax: 100 });
    await rig.clock.advance(1_000);
    await actor.ports.inputs.publish(key, message('first'));
    await rig.clock.advance(1_000);
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(1_000);
    expect(rig.told().slice(-1)).toEqual(['CompletionRecorded']); // 120 are spent, within one count
    await actor.ports.inputs.publish(key, message('second'));
    await rig.clock.advance(5_000);
    expect([rig.told().slice(-2), rig.asked.length]).toEqual([['MessageAccepted', 'BudgetExceeded'], 2]);
    await setQuotas(actor.ports, key.tenant, { tokensPerDayMax: 1_000 });
    await rig.clock.advance(1_000);
    await actor.ports.inputs.publish(key, { kind: 'RetryRequest', id: 'c:req_1', requestId: 'req_1' });
    await rig.clock.advance(5_000);
    expect([rig.told().slice(-2), rig.asked.length]).toEqual([['CompletionRequested', 'CompletionRecorded'], 3]);
    await actor.service.stop(0);
    // A process that has counted nothing itself knows what was spent, from its first decision on.
    const next = await rig.processor('p2');
    await setQuotas(next.ports, key.tenant, { tokensPerDayMax: 100 });
    await rig.clock.advance(1_000);
    await next.ports.inputs.publish(key, message('third'));
    await rig.clock.advance(5_000);
    expect(rig.told().slice(-1)).toEqual(['BudgetExceeded']);
    await next.service.stop(0);
  });
});

describe('inputs that wait for a slice', () => {
  it('L6 are reported as waiting, also where each of them is of another thread', async () => {
    const gate: Gate = {
      pass: (_node, { name }, apply) => (name === 'log.append' ? new Promise(() => {}) : Promise.resolve().then(apply)),
    };
    const rig = createRig({ topology: 'durable', hasTenants: true, gate });
    const actor = await rig.processor('p1', { settings: { slicesInFlightMax: 8 } });
    for (let nth = 0; nth < 300; nth += 1)
      await actor.ports.inputs.publish({ tenant: tenantId('loud'), thread: `thr_${nth}` }, opening());
    await rig.clock.advance(5_000);
    const sums = await actor.ports.tenantTallies.sums([tenantId('loud')], 'another', rig.clock.now());
    expect(sums).toContainEqual({ tenant: 'loud', name: 'inputs_waiting', amount: 300 });
    const stopped = actor.service.stop(0);
    await rig.clock.advance(1_000);
    void stopped;
  });
});

describe('a processor with few places', () => {
  it('L7 decides for a tenant with one thread beside one with hundreds, after as many slices as tenants wait', async () => {
    const rig = createRig({ hasTenants: true });
    const actor = await rig.processor('p1', { settings: { slicesInFlightMax: 8 } });
    const order: string[] = [];
    const open = (tenant: TenantId, thread: string): void => {
      void actor.ports.inputs.publish({ tenant, thread }, opening()).then(() => order.push(tenant));
    };
    for (let nth = 0; nth < 300; nth += 1) open(tenantId('storm'), `thr_${nth}`);
    for (let nth = 0; nth < 3; nth += 1) open(tenantId('quiet'), `thr_${nth}`);
    await rig.clock.advance(1_000);
    expect(order.filter((tenant) => tenant === 'storm')).toHaveLength(300);
    const last = order.lastIndexOf('quiet');
    expect(last).toBeLessThan(30);
    await actor.service.stop(0);
  });

  it('L6 L7 decides for a tenant behind all that another may have in its partitions after few slices', async () => {
    const loud = 1_900;
    const settings = { slicesInFlightMax: 8, queuedInputsMax: 1_000, queuedInputsPerTenantMax: 500 };
    const rig = createRig({ topology: 'durable', hasTenants: true });
    const { inputs } = rig.world.ports('gateway');
    const open = (tenant: TenantId, thread: string): Promise<void> => inputs.publish({ tenant, thread }, opening());
    for (let nth = 0; nth < loud; nth += 1) await open(tenantId('loud'), `thr_${nth}`);
    for (let nth = 0; nth < 6; nth += 1) await open(tenantId('quiet'), `thr_${nth}`); // in both partitions
    const order: string[] = [];
    const watched = (bus: InputBus): InputBus => ({
      ...bus,
      consume: (consumer) =>
        bus.consume({
          ...consumer,
          deliver: (assignment, delivery) =>
            consumer.deliver(assignment, {
              ...delivery,
              decided: (version) => {
                order.push(delivery.tenant);
                delivery.decided(version);
              },
            }),
        }),
    });
    const actor = await rig.processor('p1', { settings, inputs: watched });
    for (let passed = 0; order.length < loud + 6 && passed < 1_000; passed += 1) await rig.clock.advance(100);
    expect(order).toHaveLength(loud + 6);
    expect(order.lastIndexOf('quiet')).toBeLessThan(100);
    await actor.service.stop(0);
  });
});
