// A rolling upgrade: two processes of different versions, one world. What the older one does not know is hand-written.
import type { ThreadKey } from '@dormouse/ports';
import { decide, evolve, extendTranscript, type RecordedEvent, type ThreadInput } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { sealCommit } from '../../log/envelope.ts';
import type { ProcessorProtocol } from '../rules/protocol.ts';
import { createRig, key, message, opening, type Rig } from '../spec/processor-rig.ts';

const other: ThreadKey = { ...key, thread: 'thr_2' };
const unknownInput = { kind: 'SomethingNew', id: 'new:1' } as unknown as ThreadInput;
const unknownEvent = { type: 'SomethingNew', turnId: 'c:1', cause: { kind: 'operator', id: 'x' } };

/** A version that knows both: the input is decided as a message, the event changes nothing. */
const newer: Partial<ProcessorProtocol> = {
  decide: (thread, input, moment) =>
    decide(thread, input.id === 'new:1' ? { ...message('new'), id: 'new:1' } : input, moment),
  evolve: (thread, event, at) =>
    (event.type as string) === 'SomethingNew'
      ? { ...thread, position: thread.position + 1, updatedAt: at }
      : evolve(thread, event, at),
  extendTranscript: (tail, event, lists) =>
    (event.type as string) === 'SomethingNew' ? { tail, messages: [] } : extendTranscript(tail, event, lists),
};

async function older(): Promise<{ rig: Rig; actor: Awaited<ReturnType<Rig['processor']>> }> {
  const rig = createRig({ topology: 'durable' });
  const actor = await rig.processor('old');
  for (const thread of [key, other]) void actor.ports.inputs.publish(thread, opening());
  await rig.clock.advance(1_000);
  return { rig, actor };
}

const decided = (rig: Rig, thread: ThreadKey = key): readonly string[] =>
  rig.commits(thread).flatMap(({ inputs }) => inputs);

async function upgraded(rig: Rig, actor: Awaited<ReturnType<Rig['processor']>>): Promise<void> {
  const stopped = actor.service.stop(0);
  await rig.clock.advance(1);
  await stopped;
  rig.world.durable.broker.expire('old');
  await rig.processor('new', { protocol: newer });
  await rig.clock.advance(60_000);
}

describe('what an older process does not know', () => {
  it('an event: its thread is parked at once, the partition goes on, and the next process that knows it goes on by itself', async () => {
    const { rig, actor } = await older();
    const last = rig.commits().at(-1);
    if (last === undefined) throw new Error('nothing was decided');
    const foreign = sealCommit({
      key,
      version: last.version + last.count,
      inputs: ['c:newer'],
      at: rig.clock.now(),
      nonce: 'newer',
      trace: null,
      prev: last.hash,
      events: [unknownEvent as unknown as RecordedEvent],
      effects: [],
    });
    await rig.world.ports('newer').log.append([{ commit: foreign, owes: false }]);
    for (const thread of [key, other]) void actor.ports.inputs.publish(thread, message('m1'));
    await rig.clock.advance(5_000);
    expect(await actor.ports.parked.get(key)).toMatchObject({ mark: 'parked', reason: 'NEEDS_NEWER_VERSION' });
    expect(decided(rig, other)).toContain('c:m1');
    await rig.clock.advance(60_000); // it does not replay what it does not know
    expect(await actor.ports.parked.mark(key)).toBe('parked');
    await upgraded(rig, actor);
    expect(decided(rig)).toContain('c:m1');
    expect(await actor.ports.parked.mark(key)).toBeNull();
  });

  it('an input: the same', async () => {
    const { rig, actor } = await older();
    void actor.ports.inputs.publish(key, unknownInput);
    void actor.ports.inputs.publish(key, message('behind'));
    void actor.ports.inputs.publish(other, message('m1'));
    await rig.clock.advance(1_000);
    expect(await actor.ports.parked.get(key)).toMatchObject({ mark: 'parked', reason: 'NEEDS_NEWER_VERSION' });
    expect((await actor.ports.parked.inputs(key)).map(({ input }) => input.id)).toEqual(['new:1', 'c:behind']);
    expect(decided(rig, other)).toContain('c:m1');
    expect(rig.world.durable.broker.lag('inputs')).toBe(0);
    await rig.clock.advance(60_000);
    expect(await actor.ports.parked.mark(key)).toBe('parked');
    await upgraded(rig, actor);
    expect(decided(rig).slice(-2)).toEqual(['new:1', 'c:behind']);
    expect(await actor.ports.parked.mark(key)).toBeNull();
  });
});
