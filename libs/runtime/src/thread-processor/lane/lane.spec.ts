import { Fault, type InputBus, type InputConsumer } from '@dormouse/ports';
import { decide } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import type { ProcessorProtocol } from '../rules/protocol.ts';
import type { ProcessorSettings } from '../settings.ts';
import { type Actor, createRig, key, message, opening, type Rig } from '../spec/processor-rig.ts';

interface Told {
  readonly rig: Rig;
  readonly actor: Actor;
  /** Ids of inputs that were reported to their senders as not taken. */
  readonly withdrawn: Set<string>;
  /** Names of operations that fail. */
  readonly away: Set<string>;
  /** Names of operations that happen, whose answer is lost, and after which the log cannot be read. */
  readonly unsure: Set<string>;
  /** Names of operations that happen but report a failure, with what happens meanwhile. */
  readonly lying: Map<string, () => unknown>;
  /** Names of operations whose answer is lost once; they happen when they are called for. */
  readonly late: Map<string, () => unknown>;
  readonly consumer: () => InputConsumer;
}

async function told(
  options: { readonly protocol?: Partial<ProcessorProtocol>; readonly settings?: Partial<ProcessorSettings> } = {},
): Promise<Told> {
  const [withdrawn, away, unsure] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [lying, late] = [new Map<string, () => unknown>(), new Map<string, () => unknown>()];
  const consumers: InputConsumer[] = [];
  const rig = createRig({
    topology: 'durable',
    gate: {
      pass: async (_node, { name }, apply) => {
        if (unsure.has(name)) {
          apply();
          away.add('log.read');
          throw new Error('connection reset');
        }
        if (late.has(name) && !away.has(name)) {
          late.set(name, apply);
          away.add(name);
          throw new Error('connection reset');
        }
        if (lying.has(name)) {
          apply();
          lying.get(name)?.();
          throw new Fault('UNAVAILABLE', `${name} says that it is away`);
        }
        if (away.has(name)) throw new Fault('UNAVAILABLE', `${name} is away`);
        return apply();
      },
    },
  });
  const inputs = (bus: InputBus): InputBus => ({
    publish: (...input) => bus.publish(...input),
    consume: (consumer) => {
      consumers.push(consumer);
      const deliver: InputConsumer['deliver'] = (assignment, delivery) =>
        consumer.deliver(
          assignment,
          delivery.what === 'input' ? { ...delivery, isWithdrawn: () => withdrawn.has(delivery.input.id) } : delivery,
        );
      return bus.consume({ ...consumer, deliver });
    },
  });
  const actor = await rig.processor('p1', { ...options, inputs });
  const consumer = (): InputConsumer => {
    const [first] = consumers;
    if (first === undefined) throw new Error('nobody consumes');
    return first;
  };
  return { rig, actor, withdrawn, away, unsure, lying, late, consumer };
}

const decided = (rig: Rig): readonly string[] =>
  rig
    .commits()
    .flatMap((commit) => commit.inputs)
    .filter((id) => id.startsWith('c:'));

describe('L5 an input whose sender was told that it was not taken', () => {
  it('is not decided any more', async () => {
    const { rig, actor, withdrawn, away } = await told();
    await actor.ports.inputs.publish(key, opening());
    await rig.clock.advance(1_000);
    away.add('log.append');
    for (const name of ['first', 'second']) await actor.ports.inputs.publish(key, message(name));
    await rig.clock.advance(1_000);
    withdrawn.add('c:first');
    away.clear();
    await rig.clock.advance(10_000);
    expect(decided(rig)).toEqual(['c:second']);
  });

  it('is paid when it is in the log all the same', async () => {
    const { rig, actor, withdrawn, away } = await told();
    const input = opening();
    away.add('dispatches.publish');
    await actor.ports.inputs.publish(key, input);
    await rig.clock.advance(1_000);
    expect(rig.told()).toContain('ThreadOpened');
    withdrawn.add(input.id);
    away.clear();
    await rig.clock.advance(10_000);
    expect(rig.dispatched.map((effect) => effect.do)).toEqual(['LoadToolsets']);
  });

  it('is paid when it may be in the log, which cannot be read back', async () => {
    const { rig, actor, withdrawn, away, unsure } = await told();
    const input = opening();
    unsure.add('log.append');
    await actor.ports.inputs.publish(key, input);
    await rig.clock.advance(1_000);
    expect(rig.told()).toContain('ThreadOpened');
    withdrawn.add(input.id);
    away.clear();
    unsure.clear();
    await rig.clock.advance(10_000);
    expect(rig.dispatched.map((effect) => effect.do)).toEqual(['LoadToolsets']);
  });

  it.each([true, false])(
    'is paid when it is in the log although the append threw; it can be read: %s',
    async (isRead) => {
      const { rig, actor, withdrawn, away, lying } = await told();
      const input = opening();
      lying.set('log.append', () => {
        withdrawn.add(input.id);
        if (!isRead) away.add('log.read');
      });
      await actor.ports.inputs.publish(key, input);
      await rig.clock.advance(1_000);
      away.clear();
      lying.clear();
      await rig.clock.advance(10_000);
      expect(rig.told()).toContain('ThreadOpened');
      expect(rig.dispatched.map((effect) => effect.do)).toEqual(['LoadToolsets']);
    },
  );

  it('is paid when it may still come into the log, whatever the next attempt shows', async () => {
    const { rig, actor, withdrawn, away, late } = await told();
    const input = opening();
    late.set('log.append', () => undefined);
    await actor.ports.inputs.publish(key, input);
    await rig.clock.advance(1_000); // one whose answer was lost, others that threw; none is there
    withdrawn.add(input.id);
    late.get('log.append')?.();
    late.clear();
    await rig.clock.advance(10_000);
    away.clear();
    await rig.clock.advance(10_000);
    expect(rig.dispatched.map((effect) => effect.do)).toEqual(['LoadToolsets']);
  });

  it('is decided when it waits in the store, and came through the bus only to wake its thread', async () => {
    const code = { isBroken: true };
    const { rig, actor, withdrawn, away } = await told({
      protocol: {
        decide: (...about) => {
          if (code.isBroken && about[1].id === 'c:poison') throw new Error('cannot decide');
          return decide(...about);
        },
      },
    });
    await actor.ports.inputs.publish(key, opening());
    await rig.clock.advance(1_000);
    for (const name of ['poison', 'after']) await actor.ports.inputs.publish(key, message(name));
    await rig.clock.advance(60_000);
    expect(await actor.ports.parked.mark(key)).toBe('parked');
    code.isBroken = false;
    away.add('log.append');
    await actor.ports.parked.replay(key);
    await actor.ports.inputs.publish(key, message('poison'));
    await rig.clock.advance(1_000);
    withdrawn.add('c:poison');
    away.clear();
    await rig.clock.advance(60_000);
    expect(decided(rig)).toEqual(['c:poison', 'c:after']);
    expect(await actor.ports.parked.mark(key)).toBeNull();
  });

  it('takes no room behind one that cannot be decided', async () => {
    const { rig, actor, withdrawn, away, consumer } = await told({ settings: { queuedInputsMax: 3 } });
    await actor.ports.inputs.publish(key, opening());
    await rig.clock.advance(1_000);
    away.add('log.append');
    for (const name of ['head', 'second', 'third', 'fourth']) {
      await actor.ports.inputs.publish(key, message(name));
      await rig.clock.advance(1_000);
    }
    expect(consumer().busy()).toBe(true);
    for (const name of ['second', 'third', 'fourth']) withdrawn.add(`c:${name}`);
    await rig.clock.advance(20_000);
    expect(consumer().busy()).toBe(false);
    away.clear();
    await rig.clock.advance(20_000);
    expect(decided(rig)).toEqual(['c:head']);
    expect(rig.world.durable.broker.lag('inputs')).toBe(0);
  });
});
