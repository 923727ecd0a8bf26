import { afterEach, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import type { CallbackDelivery, DeliveryAnswer } from './callback-delivery.ts';
import { createOutbox, deliverySettings, type Outbox } from './outbox.ts';

afterEach(() => void vi.useRealTimers());

/** Posts that are answered by the test, in the order in which they were begun: what a request's end leaves hanging. */
function opened(): { readonly outbox: Outbox; readonly begun: [string, (answer: DeliveryAnswer) => void][] } {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const begun: [string, (answer: DeliveryAnswer) => void][] = [];
  const delivery: CallbackDelivery = {
    post: ({ body }) => new Promise((resolve) => begun.push([body, resolve])),
    close() {},
  };
  const settings = { ...deliverySettings, timeoutMs: 1_000 };
  const store = createMemoryStore();
  const outbox = createOutbox({ store, delivery, settings, log: () => {}, onRefusedEvent: () => {} });
  outbox.start();
  return { outbox, begun };
}
const add = (outbox: Outbox, body: string): void =>
  outbox.add({ callbackUrl: 'http://127.0.0.1/c', threadId: 't', body });
const bodies = (begun: readonly [string, unknown][]): readonly string[] => begun.map(([body]) => body);
const accepted: DeliveryAnswer = { kind: 'accepted', status: 200 };

it('T15 a lane whose request has ended is taken up by a later one, in order', async () => {
  const { outbox, begun } = opened();
  add(outbox, 'one');
  add(outbox, 'two');
  await vi.advanceTimersByTimeAsync(5_999);
  outbox.takeUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(bodies(begun)).toEqual(['one']); // its answer may still come
  vi.setSystemTime(Date.now() + 10);
  outbox.takeUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(bodies(begun)).toEqual(['one', 'one']);
  begun[1]?.[1](accepted);
  await vi.advanceTimersByTimeAsync(0);
  expect(bodies(begun)).toEqual(['one', 'one', 'two']);
  begun[0]?.[1](accepted); // the first lane is alive after all: it goes on with nothing
  begun[2]?.[1](accepted);
  await vi.advanceTimersByTimeAsync(0);
  expect([bodies(begun).length, outbox.size()]).toEqual([3, 0]);
});

it('T15 a lane that rests until its next attempt is left alone until then', async () => {
  const { outbox, begun } = opened();
  add(outbox, 'one');
  await vi.advanceTimersByTimeAsync(0);
  begun[0]?.[1]({ kind: 'again', reason: 'status 503', afterMs: 60_000 });
  await vi.advanceTimersByTimeAsync(0);
  vi.setSystemTime(Date.now() + 64_000); // its timer has ended with its request
  outbox.takeUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.length).toBe(1);
  vi.setSystemTime(Date.now() + 2_000);
  outbox.takeUp();
  await vi.advanceTimersByTimeAsync(0);
  expect(bodies(begun)).toEqual(['one', 'one']);
});
