// The contract of `WorkBus` (W1..W3), for every adapter.
import { afterEach, describe, expect, it } from 'vitest';
import type { Place } from '@dormouse/collections';
import type { Subscription, WorkBus, WorkTopics } from '../index.ts';
import { freshKey } from './samples.ts';
import { type Advance, ended, settle, until } from './until.ts';

export interface WorkBusUnderTest {
  readonly work: WorkBus;
  readonly advance?: Advance;
  /** False when a second consumer is always a second process: what was not handled is produced again from the log. */
  readonly handsOver?: boolean;
  close(): Promise<void>;
}

type Dispatch = WorkTopics['dispatches'];

function dispatchOf(id: string): Dispatch {
  return {
    ...freshKey(),
    at: 1_700_000_000_000,
    trace: null,
    effect: { do: 'WithdrawCall', id, toolCallId: `call_${id}` },
  };
}

export function workBusContract(name: string, make: () => Promise<WorkBusUnderTest>): void {
  describe(`WorkBus contract: ${name}`, () => {
    let world: WorkBusUnderTest | null = null;
    const subscriptions: Subscription[] = [];
    const open = async (): Promise<WorkBus> => {
      world = await make();
      return world.work;
    };
    const consume = async (
      work: WorkBus,
      handle: (message: Dispatch, place: Place) => Promise<void>,
    ): Promise<Subscription> => {
      const subscription = await work.consume('dispatches', handle);
      subscriptions.push(subscription);
      return subscription;
    };
    const passed = (condition: () => boolean): Promise<void> => until(condition, world?.advance);
    afterEach(async () => {
      for (const subscription of subscriptions.splice(0)) await ended(subscription.close(50), world?.advance);
      await world?.close();
      world = null;
    });

    it('W1: a message is handled, as it was published', async () => {
      const work = await open();
      const handled: Dispatch[] = [];
      await consume(work, async (message) => void handled.push(message));
      const message: Dispatch = {
        ...dispatchOf('a'),
        trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      };
      await work.publish('dispatches', message);
      await passed(() => handled.length > 0);
      expect(handled).toEqual([message]);
    });

    it('W1: a message published before anybody consumes is handled when somebody does', async () => {
      const work = await open();
      await work.publish('dispatches', dispatchOf('early'));
      const handled: string[] = [];
      await consume(work, async (message) => void handled.push(message.effect.id));
      await passed(() => handled.length > 0);
      expect(handled).toEqual(['early']);
    });

    it('W1: `handled` waits for the handler, or the bus is durable itself', async () => {
      const work = await open();
      const gate = Promise.withResolvers<void>();
      const began = { yet: false };
      await consume(work, async () => {
        began.yet = true;
        await gate.promise;
      });
      const { handled } = await work.publish('dispatches', dispatchOf('slow'));
      if (handled === null) return;
      const seen = { handled: false };
      void handled.then(() => (seen.handled = true));
      await passed(() => began.yet);
      await settle(world?.advance);
      expect(seen.handled).toBe(false);
      gate.resolve();
      await passed(() => seen.handled);
    });

    it('W1: what one consumer did not finish the next one gets', async (context) => {
      const work = await open();
      if (world?.handsOver === false) return context.skip('a second consumer is always a second process');
      const begun: string[] = [];
      const first = await consume(work, async (message) => {
        begun.push(message.effect.id);
        await new Promise<void>(() => undefined);
      });
      await work.publish('dispatches', dispatchOf('unfinished'));
      await passed(() => begun.length === 1);
      await ended(first.close(20), world?.advance);
      const handled: string[] = [];
      await consume(work, async (message) => void handled.push(message.effect.id));
      await passed(() => handled.length > 0);
      expect(handled).toEqual(['unfinished']);
    });

    it('W1: topics do not mix', async () => {
      const work = await open();
      const dispatches: string[] = [];
      const notices: string[] = [];
      await consume(work, async (message) => void dispatches.push(message.effect.id));
      subscriptions.push(await work.consume('notices', async (message) => void notices.push(message.effect.id)));
      await work.publish('dispatches', dispatchOf('d'));
      await work.publish('notices', {
        ...freshKey(),
        at: 1,
        trace: null,
        effect: { do: 'SendCloseNotices', id: 'n', toolServers: ['tools'] },
      });
      await passed(() => dispatches.length === 1 && notices.length === 1);
      expect({ dispatches, notices }).toEqual({ dispatches: ['d'], notices: ['n'] });
    });

    it('W2: a handler that rejects is called again until it resolves, and only then is it handled', async () => {
      const work = await open();
      const calls: string[] = [];
      await consume(work, async (message) => {
        calls.push(message.effect.id);
        if (calls.length < 3) throw new Error('not yet');
      });
      const { handled } = await work.publish('dispatches', dispatchOf('stubborn'));
      const seen = { handled: handled === null };
      void handled?.then(() => (seen.handled = true));
      await passed(() => calls.length === 3 && seen.handled);
      await settle(world?.advance);
      expect(calls).toEqual(['stubborn', 'stubborn', 'stubborn']);
    });

    it('W2: a message that fails for ever and one that never ends hold up nobody else', async () => {
      const work = await open();
      const handled: string[] = [];
      await consume(work, async (message) => {
        if (message.effect.id === 'poison') throw new Error('never');
        if (message.effect.id === 'endless') await new Promise<void>(() => undefined);
        handled.push(message.effect.id);
      });
      await work.publish('dispatches', dispatchOf('poison'));
      await work.publish('dispatches', dispatchOf('endless'));
      const others = Array.from({ length: 50 }, (_, index) => `ok-${index}`);
      for (const id of others) await work.publish('dispatches', dispatchOf(id));
      await passed(() => handled.length === others.length);
      expect([...handled].sort()).toEqual([...others].sort());
    });

    it('W3: messages whose handlers wait hold up nobody, however many they are', async () => {
      const work = await open();
      const waiting: string[] = [];
      const handled: string[] = [];
      await consume(work, async ({ effect }, place) => {
        if (effect.id === 'other') return void handled.push(effect.id);
        await place.releasedDuring(async () => {
          waiting.push(effect.id);
          await new Promise<void>(() => undefined);
        });
      });
      const many = Array.from({ length: 1_152 }, (_, index) => `waits-${index}`);
      await Promise.all(many.map(async (id) => work.publish('dispatches', dispatchOf(id))));
      await passed(() => waiting.length === many.length);
      await work.publish('dispatches', dispatchOf('other'));
      await passed(() => handled.length > 0);
      expect(handled).toEqual(['other']);
    });
  });
}
