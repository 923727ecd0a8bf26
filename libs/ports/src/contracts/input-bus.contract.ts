// The contract of `InputBus` (B1..B4), for every adapter: those with a durable queue, and those whose queue is the log.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { InputBus, Subscription, ThreadDelivery, ThreadKey, ThreadLog } from '../index.ts';
import { createInputRecorder, type InputRecorder } from './input-recorder.ts';
import { commitOf, freshKey, messageOf } from './samples.ts';
import { type Advance, ended, settle, until } from './until.ts';

export interface InputBusUnderTest {
  readonly inputs: InputBus;
  /** The log that belongs to this bus. */
  readonly log: ThreadLog;
  readonly advance?: Advance;
  /** False when a second owner is always a second process: its queue died with the first one. */
  readonly handsOver?: boolean;
  close(): Promise<void>;
  /** Ends the process, including its pending releases, and starts another one with what is durable. */
  reopen(): Promise<InputBusUnderTest>;
}

export function inputBusContract(name: string, make: () => Promise<InputBusUnderTest>): void {
  describe(`InputBus contract: ${name}`, () => {
    let world: InputBusUnderTest | null = null;
    const subscriptions: Subscription[] = [];
    const open = async (): Promise<InputBusUnderTest> => (world = await make());
    const consume = async (recorder: InputRecorder): Promise<Subscription> => {
      if (!world) throw new Error('nothing is open');
      const subscription = await world.inputs.consume(recorder);
      subscriptions.push(subscription);
      return subscription;
    };
    /** A publication that is not answered yet must not end the test. */
    const publish = (
      key: ThreadKey,
      id: string,
    ): { readonly done: Promise<void>; state: 'open' | 'accepted' | 'refused' } => {
      if (!world) throw new Error('nothing is open');
      const published = {
        done: world.inputs.publish(key, messageOf(id)),
        state: 'open' as 'open' | 'accepted' | 'refused',
      };
      published.done.then(
        () => (published.state = 'accepted'),
        () => (published.state = 'refused'),
      );
      return published;
    };
    const passed = (condition: () => boolean): Promise<void> => until(condition, world?.advance);
    afterEach(async () => {
      for (const subscription of subscriptions.splice(0)) await ended(subscription.close(100), world?.advance);
      await world?.close();
      world = null;
    });

    describe('B1: a published input is durable, and delivered until it is released', () => {
      it('B1: `publish` resolves once the input is decided and released, at the latest', async () => {
        const { log } = await open();
        const key = freshKey();
        const recorder = createInputRecorder();
        await consume(recorder);
        const published = publish(key, 'hello');
        await passed(() => recorder.inputs(key).length === 1);
        await decideAndRelease(log, recorder.inputs(key)[0]);
        await passed(() => published.state === 'accepted');
      });

      it('B1: an input that is refused without a commit is decided too', async () => {
        await open();
        const key = freshKey();
        const recorder = createInputRecorder((delivery) => {
          delivery.decided(null);
          delivery.release();
        });
        await consume(recorder);
        const published = publish(key, 'nonsense');
        await passed(() => published.state === 'accepted' && recorder.ids(key).length > 0);
        expect(recorder.ids(key)).toEqual(['nonsense']);
      });

      it('B1: what is published while nobody consumes is delivered to whoever comes', async () => {
        await open();
        const key = freshKey();
        publish(key, 'early');
        await settle(world?.advance);
        const recorder = createInputRecorder();
        await consume(recorder);
        await passed(() => recorder.inputs(key).length === 1);
        expect(recorder.inputs(key)[0]).toMatchObject({ ...key, input: messageOf('early') });
      });

      it('B1: the trace context travels with the input', async () => {
        const { inputs } = await open();
        const key = freshKey();
        const recorder = createInputRecorder((delivery) => delivery.decided(null));
        await consume(recorder);
        const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
        await inputs.publish(key, messageOf('traced'), trace);
        await inputs.publish(key, messageOf('untraced'));
        await passed(() => recorder.inputs(key).length === 2);
        expect(recorder.inputs(key).map((delivery) => delivery.trace)).toEqual([trace, null]);
      });

      it('B1: after closing, nothing more is accepted', async () => {
        const { inputs } = await open();
        await world?.close();
        world = null;
        await expect(inputs.publish(freshKey(), messageOf('late'))).rejects.toMatchObject({
          name: 'Fault',
          code: 'UNAVAILABLE',
        });
      });

      it('B1: whatever was accepted and not released is delivered after a crash, as itself or as a recovery', async () => {
        await open();
        const keys = Array.from({ length: 6 }, () => freshKey());
        const published = keys.flatMap((key, thread) =>
          [0, 1, 2].map((index) => ({
            key,
            id: `i-${thread}-${index}`,
            ...{ result: publish(key, `i-${thread}-${index}`) },
          })),
        );
        const recorder = createInputRecorder();
        await consume(recorder);
        await passed(() => recorder.inputs().length === 18);
        // Of each thread the first input is done, the second committed but not released, the third not decided.
        for (const key of keys) {
          await decideAndRelease(world?.log, recorder.inputs(key)[0]);
          await decideOnly(world?.log, recorder.inputs(key)[1]);
        }
        await settle(world?.advance);
        const accepted = published.filter(({ result }) => result.state === 'accepted');
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const next = createInputRecorder();
        await consume(next);
        await passed(() => keys.every((key) => next.recoveries(key).length + next.inputs(key).length >= 1));
        await settle(world?.advance);
        for (const { key, id } of accepted) {
          if (id.endsWith('-0')) continue;
          const again = next.ids(key).includes(id) || next.recoveries(key).some((recovery) => recovery.from <= 1);
          expect({ id, again }).toEqual({ id, again: true });
        }
      });
    });

    describe('B2: in order per thread, again until released', () => {
      it('B2: deliveries of a thread come in the order in which they were published', async () => {
        await open();
        const recorder = createInputRecorder((delivery) => {
          delivery.decided(null);
          delivery.release();
        });
        await consume(recorder);
        await fc.assert(
          fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 }), async (order) => {
            const keys = [freshKey(), freshKey(), freshKey(), freshKey()];
            const sent = order.map((thread, index) => ({ key: keys[thread] ?? freshKey(), id: `n-${index}` }));
            const results = sent.map(({ key, id }) => publish(key, id));
            await passed(() => results.every((result) => result.state === 'accepted'));
            for (const key of keys) {
              await passed(() => recorder.inputs(key).length >= sent.filter((one) => one.key === key).length);
              expect(recorder.ids(key)).toEqual(sent.filter((one) => one.key === key).map((one) => one.id));
            }
          }),
          { numRuns: 15 },
        );
      });

      it('B2: what one owner did not decide the next owner gets, in the same order', async (context) => {
        await open();
        if (world?.handsOver === false) return context.skip('a second owner is always a second process');
        const key = freshKey();
        const first = createInputRecorder();
        const subscription = await consume(first);
        for (const id of ['a', 'b', 'c']) publish(key, id);
        await passed(() => first.inputs(key).length === 3);
        await ended(subscription.close(1_000), world?.advance);
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.inputs(key).length >= 3);
        expect(second.ids(key)).toEqual(['a', 'b', 'c']);
      });

      it('B2: what was decided but not released comes again before anything newer of its thread', async (context) => {
        const { log } = await open();
        if (world?.handsOver === false) return context.skip('a second owner is always a second process');
        const key = freshKey();
        const first = createInputRecorder();
        const subscription = await consume(first);
        publish(key, 'decided');
        publish(key, 'waiting');
        await passed(() => first.inputs(key).length === 2);
        await decideOnly(log, first.inputs(key)[0]);
        await ended(subscription.close(1_000), world?.advance);
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.ids(key).includes('waiting'));
        const [again, next] = second.received.filter(({ delivery }) => delivery.thread === key.thread);
        expect(again?.delivery.what === 'recovery' ? again.delivery.from : second.ids(key)[0]).toBe(
          again?.delivery.what === 'recovery' ? 0 : 'decided',
        );
        expect(next?.delivery).toMatchObject({ what: 'input', input: { id: 'waiting' } });
      });

      it('B2: a commit is recovered from the first that still owes, once per thread', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        for (const id of ['one', 'two', 'three']) publish(key, id);
        await passed(() => first.inputs(key).length === 3);
        await decideAndRelease(log, first.inputs(key)[0]);
        await decideOnly(log, first.inputs(key)[1]);
        await decideOnly(log, first.inputs(key)[2]);
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.recoveries(key).length > 0 || second.inputs(key).length >= 2);
        await settle(world?.advance);
        if (second.recoveries(key).length > 0)
          expect(second.recoveries(key).map((recovery) => recovery.from)).toEqual([1]);
        else expect(second.ids(key)).toEqual(['two', 'three']);
      });

      it('B2: what was released does not come again', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'done');
        await passed(() => first.inputs(key).length === 1);
        await decideAndRelease(log, first.inputs(key)[0]);
        // Releases may be written a little later; an orderly close writes them.
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await settle(world?.advance);
        expect(second.received.filter(({ delivery }) => delivery.thread === key.thread)).toEqual([]);
      });

      it('B2: a recovery that is released owes nothing afterwards', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'owing');
        await passed(() => first.inputs(key).length === 1);
        await decideOnly(log, first.inputs(key)[0]);
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder((delivery) => {
          delivery.decided(0);
          delivery.release();
        });
        await consume(second);
        await passed(() => second.received.some(({ delivery }) => delivery.thread === key.thread));
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const third = createInputRecorder();
        await consume(third);
        await settle(world?.advance);
        expect(third.received.filter(({ delivery }) => delivery.thread === key.thread)).toEqual([]);
      });

      it('B2: a duplicate that is released early does not release what its commit still owes', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'twice');
        publish(key, 'twice');
        await passed(() => first.inputs(key).length === 2);
        const [original, duplicate] = first.inputs(key);
        await decideOnly(log, original);
        duplicate?.decided(0);
        duplicate?.release();
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.received.some(({ delivery }) => delivery.thread === key.thread));
      });

      it('B2: what a delivery led to stays owed while the delivery is held, though no delivery decided it', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'question');
        await passed(() => first.inputs(key).length === 1);
        await decideOnly(log, first.inputs(key)[0]);
        // The answer of its completion comes through memory.
        expect(await log.append([{ commit: commitOf(key, 1, { inputs: ['m:answer'] }), owes: true }])).toEqual([
          'appended',
        ]);
        publish(key, 'later');
        await passed(() => first.inputs(key).length === 2);
        await decideAndRelease(log, first.inputs(key)[1]);
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await passed(
          () => second.recoveries(key).some((recovery) => recovery.from === 0) || second.ids(key).includes('question'),
        );
      });

      it('B2: a commit whose delivery has not been told yet stays owed when an older delivery is released', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'older');
        publish(key, 'newer');
        await passed(() => first.inputs(key).length === 2);
        const [older] = first.inputs(key);
        await decideOnly(log, older);
        const stored = { commit: commitOf(key, 1, { inputs: ['newer'] }), owes: true };
        expect(await log.append([stored])).toEqual(['appended']);
        older?.release();
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.recoveries(key).length > 0 || second.ids(key).includes('newer'));
        for (const recovery of second.recoveries(key)) expect(recovery.from).toBe(1);
      });

      it('B2: when the delivery is released, what it led to is released with it', async () => {
        const { log } = await open();
        const key = freshKey();
        const first = createInputRecorder();
        await consume(first);
        publish(key, 'question');
        await passed(() => first.inputs(key).length === 1);
        const [question] = first.inputs(key);
        await decideOnly(log, question);
        await log.append([{ commit: commitOf(key, 1, { inputs: ['m:answer'] }), owes: true }]);
        question?.release();
        await settle(world?.advance);
        world = (await world?.reopen()) ?? null;
        subscriptions.length = 0;
        const second = createInputRecorder();
        await consume(second);
        await settle(world?.advance);
        expect(second.received.filter(({ delivery }) => delivery.thread === key.thread)).toEqual([]);
      });
    });

    describe('B3: an assignment ends', () => {
      it('B3: after `revoked` nothing is delivered to it, and the next owner has a newer assignment', async (context) => {
        await open();
        if (world?.handsOver === false) return context.skip('a second owner is always a second process');
        const key = freshKey();
        const first = createInputRecorder();
        const subscription = await consume(first);
        await passed(() => first.assignments.length > 0);
        await ended(subscription.close(1_000), world?.advance);
        expect(first.revocations).toEqual(first.assignments);
        publish(key, 'late');
        await settle(world?.advance);
        expect(first.ids(key)).toEqual([]);
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.ids(key).length === 1);
        const before = new Map(first.assignments.map(({ partition, generation }) => [partition, generation]));
        for (const { partition, generation } of second.assignments)
          expect(generation).toBeGreaterThan(before.get(partition) ?? -1);
        for (const { assignment } of second.received) expect(second.assignments).toContainEqual(assignment);
      });

      it('B3: the release of an assignment that is over is ignored', async (context) => {
        const { log } = await open();
        if (world?.handsOver === false) return context.skip('a second owner is always a second process');
        const key = freshKey();
        const first = createInputRecorder();
        const subscription = await consume(first);
        publish(key, 'zombie');
        await passed(() => first.inputs(key).length === 1);
        const [zombie] = first.inputs(key);
        await decideOnly(log, zombie);
        await ended(subscription.close(1_000), world?.advance);
        zombie?.release();
        const second = createInputRecorder();
        await consume(second);
        await passed(() => second.received.some(({ delivery }) => delivery.thread === key.thread));
      });

      it('B3: closing waits for `revoked`, but not for ever', async () => {
        await open();
        const stuck = createInputRecorder();
        const revoked = { begun: false };
        const consumer = {
          ...stuck,
          revoked: () => {
            revoked.begun = true;
            return new Promise<void>(() => undefined);
          },
        };
        const subscription = await consume(consumer);
        const closed = { yet: false };
        void subscription.close(50).then(() => (closed.yet = true));
        await passed(() => closed.yet);
        expect(revoked.begun).toBe(true);
        subscriptions.length = 0;
      });
    });

    describe('B4: a consumer that has enough is left alone', () => {
      it('B4: nothing is delivered while it is busy; what waited comes afterwards, in order', async () => {
        await open();
        const key = freshKey();
        const recorder = createInputRecorder();
        recorder.full = true;
        await consume(recorder);
        for (const id of ['a', 'b', 'c']) publish(key, id);
        await settle(world?.advance);
        expect(recorder.ids(key)).toEqual([]);
        recorder.full = false;
        await passed(() => recorder.ids(key).length === 3);
        expect(recorder.ids(key)).toEqual(['a', 'b', 'c']);
      });

      it('B4: one that becomes busy in the middle gets the rest later', async () => {
        await open();
        const key = freshKey();
        const recorder = createInputRecorder();
        recorder.onDelivery = () => {
          recorder.full ||= recorder.inputs(key).length === 2;
        };
        await consume(recorder);
        for (const id of ['a', 'b']) publish(key, id);
        await passed(() => recorder.ids(key).length === 2);
        for (const id of ['c', 'd']) publish(key, id);
        await settle(world?.advance);
        expect(recorder.ids(key)).toEqual(['a', 'b']);
        recorder.full = false;
        await passed(() => recorder.ids(key).length === 4);
        expect(recorder.ids(key)).toEqual(['a', 'b', 'c', 'd']);
      });
    });
  });
}

/** Commits the delivery's input at the head, as a processor would, and calls `decided`. The commit owes something. */
async function decideOnly(log: ThreadLog | undefined, delivery: ThreadDelivery | undefined): Promise<void> {
  if (!log || delivery?.what !== 'input') throw new Error('there is nothing to decide');
  const head = await log.head(delivery);
  const version = head ? head.version + head.count : 0;
  const key = { tenant: delivery.tenant, thread: delivery.thread };
  const outcomes = await log.append([{ commit: commitOf(key, version, { inputs: [delivery.input.id] }), owes: true }]);
  expect(outcomes).toEqual(['appended']);
  delivery.decided(version);
}

async function decideAndRelease(log: ThreadLog | undefined, delivery: ThreadDelivery | undefined): Promise<void> {
  await decideOnly(log, delivery);
  delivery?.release();
}
