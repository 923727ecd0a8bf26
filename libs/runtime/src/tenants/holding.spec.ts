import { createManualClock, createMemoryWorld, type MemoryPorts, type Topology } from '@dormouse/adapter-memory';
import { newTenant, type TenantState, tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { openCommit } from '../log/envelope.ts';
import { answered, refused } from '../ingress-gateway/refusal.ts';
import {
  type Actor,
  calls,
  inTurn,
  invoked,
  key,
  message,
  opened,
  type Play,
  result,
  says,
  type Rig,
} from '../thread-processor/spec/processor-rig.ts';
import { createHeldWakes } from './holding.ts';

interface Suspended {
  readonly rig: Rig;
  readonly actor: Actor;
}

async function put({ tenants }: MemoryPorts, state: TenantState): Promise<void> {
  const seen = await tenants.get(key.tenant);
  if (seen === null) await tenants.insert(newTenant(key.tenant, 0, { state }));
  else await tenants.replace({ ...seen, state }, seen);
}

/** A thread whose tenant is suspended after its first message has led as far as it goes. */
async function suspended(topology: Topology, ...plays: readonly Play[]): Promise<Suspended> {
  const at = await opened({ topology, hasTenants: true, play: inTurn(...plays) });
  await at.actor.ports.inputs.publish(key, message('first'));
  await at.rig.clock.advance(100);
  await put(at.actor.ports, 'suspended');
  await at.rig.clock.advance(1_000);
  return at;
}

const heldOf = async ({ ports }: Actor): Promise<number> =>
  (await ports.heldThreads.list({ tenant: key.tenant, by: 'tenant' }, null, 9)).length;

describe.each(['standalone', 'durable'] as const)('a suspended tenant, %s', (topology) => {
  it('H1 asks nothing: what it was owed is paid once, when it is resumed', async () => {
    const { rig, actor } = await suspended(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(120_000);
    expect(rig.told().slice(-2)).toEqual(['ToolCallSettled', 'CompletionRequested']); // taken
    expect([rig.asked.length, await heldOf(actor)]).toEqual([1, 1]);
    await put(actor.ports, 'active');
    await rig.clock.advance(5_000);
    expect(rig.told().slice(-2)).toEqual(['CompletionRequested', 'CompletionRecorded']);
    expect([rig.asked.length, await heldOf(actor)]).toEqual([2, 0]); // (H2)
    await actor.service.stop(0);
  });

  it('H1 loses nothing over a restart', async () => {
    const { rig, actor } = await suspended(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(1_000);
    const stopped = actor.service.stop(1_000);
    await rig.clock.advance(5_000);
    await stopped;
    const next = await rig.processor('p2');
    await rig.clock.advance(60_000);
    expect(rig.asked).toHaveLength(1);
    await put(next.ports, 'active');
    await rig.clock.advance(5_000);
    expect([rig.told().at(-1), rig.asked.length, await heldOf(next)]).toEqual(['CompletionRecorded', 2, 0]);
    await next.service.stop(0);
  });

  it('sends no call, and sends it once it is resumed', async () => {
    const { rig, actor } = await suspended(topology, says('hello'), calls('weather', '{}'), says('sunny'));
    await put(actor.ports, 'active');
    await rig.clock.advance(1_000);
    await actor.ports.inputs.publish(key, message('second'));
    await put(actor.ports, 'suspended'); // between the question and its answer, or before: either is held
    await rig.clock.advance(30_000);
    const sent = (): number => rig.dispatched.filter((effect) => effect.do === 'InvokeTool').length;
    const before = sent();
    await put(actor.ports, 'active');
    await rig.clock.advance(5_000);
    expect(sent()).toBe(1);
    expect(before).toBeLessThanOrEqual(1);
    await actor.service.stop(0);
  });

  it('fires its timers late, with the time that they were for', async () => {
    const { rig, actor } = await suspended(topology, calls('sleep', '{"seconds": 60}'), says('awake'));
    await rig.clock.advance(300_000);
    expect(rig.told()).not.toContain('TimerFired');
    expect(await actor.ports.timers.next()).toBeNull(); // it takes no room of others
    await put(actor.ports, 'active');
    await rig.clock.advance(5_000);
    const events = rig
      .commits()
      .flatMap((commit) => openCommit(commit).events.map((event) => ({ event, at: commit.at })));
    const fired = events.find(({ event }) => event.type === 'TimerFired');
    if (fired?.event.type !== 'TimerFired') throw new Error('no timer fired');
    expect(fired.at - fired.event.scheduledFor).toBeGreaterThan(200_000);
    expect(rig.told().at(-1)).toBe('CompletionRecorded');
    await actor.service.stop(0);
  });

  it('H4 that is deleted is never paid for', async () => {
    const { rig, actor } = await suspended(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await put(actor.ports, 'deleting');
    await rig.clock.advance(120_000);
    expect(rig.asked).toHaveLength(1);
    await actor.service.stop(0);
  });
});

describe('a tenant with thousands of held threads that is active again', () => {
  function scene(mayEnter: (sent: number) => boolean) {
    const clock = createManualClock();
    const ports = createMemoryWorld({ clock }).ports('p1');
    const sent: string[] = [];
    const publish = async ({ thread }: { readonly thread: string }): Promise<void> => void sent.push(thread);
    const wakes = createHeldWakes({
      records: { isActive: async () => true },
      agents: ports.agents,
      toolServers: ports.toolServers,
      heldThreads: ports.heldThreads,
      inputs: { publish },
      limits: { mayEnter: () => (mayEnter(sent.length) ? answered(null) : refused('RATE_LIMITED', 'too many wait')) },
      clock,
      logger: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const hold = async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth += 1)
        await ports.heldThreads.hold({ tenant: tenantId('acme'), thread: `thr_${nth}` }, 'tenant');
    };
    return { clock, wakes, sent, hold };
  }

  it('H6 wakes so many per look, and each once', async () => {
    const { clock, wakes, sent, hold } = scene(() => true);
    await hold(1_800);
    wakes.start();
    await clock.advance(0);
    expect(sent).toHaveLength(500);
    await clock.advance(5_000);
    expect([sent.length, new Set(sent).size]).toEqual([1_800, 1_800]);
    await wakes.stop();
  });

  it('H6 wakes none while too much of it waits, and the rest later', async () => {
    let room = 120;
    const { clock, wakes, sent, hold } = scene((count) => count < room);
    await hold(300);
    wakes.start();
    await clock.advance(10_000);
    expect(sent).toHaveLength(120);
    room = 1_000;
    await clock.advance(2_000);
    expect(new Set(sent).size).toBe(300);
    await wakes.stop();
  });
});

/** A thread of an agent that is paused after its first message has led as far as it goes. */
async function paused(topology: Topology, ...plays: readonly Play[]): Promise<Suspended> {
  const at = await opened({ topology, hasTenants: true, play: inTurn(...plays) });
  await at.actor.ports.inputs.publish(key, message('first'));
  await at.rig.clock.advance(100);
  await setAgent(at.actor, true);
  await at.rig.clock.advance(1_000);
  return at;
}

/** The agent of the rig's thread. */
const setAgent = ({ ports }: Actor, isPaused: boolean): Promise<void> =>
  ports.agents.setPaused(key.tenant, 'weather', isPaused);
const groupsOf = async ({ ports }: Actor): Promise<readonly string[]> =>
  (await ports.heldThreads.groups()).map(({ by }) => by.split(':')[0] ?? '').toSorted();
const invocations = (rig: Rig): number => rig.dispatched.filter((effect) => effect.do === 'InvokeTool').length;

describe.each(['standalone', 'durable'] as const)('a paused agent, %s', (topology) => {
  it('H5 asks nothing: results are taken, and what it was owed is paid once, when it goes on', async () => {
    const { rig, actor } = await paused(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(120_000);
    expect(rig.told().slice(-2)).toEqual(['ToolCallSettled', 'CompletionRequested']); // taken
    expect([rig.asked.length, await groupsOf(actor)]).toEqual([1, ['agent']]);
    await setAgent(actor, false);
    await rig.clock.advance(5_000);
    expect(rig.told().slice(-2)).toEqual(['CompletionRequested', 'CompletionRecorded']);
    expect([rig.asked.length, await groupsOf(actor)]).toEqual([2, []]); // (H2)
    await actor.service.stop(0);
  });

  it('H5 hands no call over, and does once it goes on', async () => {
    const { rig, actor } = await paused(topology, says('hello'), calls('weather', '{}'), says('sunny'));
    await setAgent(actor, false);
    await rig.clock.advance(1_000);
    await actor.ports.inputs.publish(key, message('second'));
    await setAgent(actor, true); // between the question and its answer, or before: either is held
    await rig.clock.advance(30_000);
    expect(invocations(rig)).toBeLessThanOrEqual(1);
    await setAgent(actor, false);
    await rig.clock.advance(5_000);
    expect(invocations(rig)).toBe(1);
    await actor.service.stop(0);
  });

  it('H5 can be interrupted: what stops it is no debt that waits', async () => {
    const { rig, actor } = await paused(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, {
      ...{ kind: 'InterruptRequest', id: 'c:stop', requestId: 'req_stop', includeHuman: false },
    });
    await rig.clock.advance(5_000);
    expect(rig.told()).toContain('ToolCallSettled');
    expect(rig.dispatched.map((effect) => effect.do)).toContain('WithdrawCall');
    await setAgent(actor, false);
    await rig.clock.advance(5_000);
    expect([rig.asked.length, await groupsOf(actor)]).toEqual([1, []]);
    await actor.service.stop(0);
  });

  it('H1 loses nothing over a restart', async () => {
    const { rig, actor } = await paused(topology, calls('weather', '{}'), says('sunny'));
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(1_000);
    const stopped = actor.service.stop(1_000);
    await rig.clock.advance(5_000);
    await stopped;
    const next = await rig.processor('p2');
    await rig.clock.advance(60_000);
    expect(rig.asked).toHaveLength(1);
    await setAgent(next, false);
    await rig.clock.advance(5_000);
    expect([rig.told().at(-1), rig.asked.length, await groupsOf(next)]).toEqual(['CompletionRecorded', 2, []]);
    await next.service.stop(0);
  });

  it('of a suspended tenant goes on when both go on, in either order', async () => {
    for (const first of ['tenant', 'agent'] as const) {
      const { rig, actor } = await paused(topology, calls('weather', '{}'), says('sunny'));
      await put(actor.ports, 'suspended');
      await actor.ports.inputs.publish(key, result(invoked(rig)));
      await rig.clock.advance(5_000);
      const tenant = (): Promise<void> => put(actor.ports, 'active');
      const agent = (): Promise<void> => setAgent(actor, false);
      await (first === 'tenant' ? tenant() : agent());
      await rig.clock.advance(5_000);
      expect(rig.asked).toHaveLength(1);
      await (first === 'tenant' ? agent() : tenant());
      await rig.clock.advance(5_000);
      expect([rig.told().at(-1), rig.asked.length, await groupsOf(actor)]).toEqual(['CompletionRecorded', 2, []]);
      await actor.service.stop(0);
    }
  });
});
