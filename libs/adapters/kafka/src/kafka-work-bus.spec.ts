import type { Assignment, Logger, WorkTopics } from '@dormouse/ports';
import { expect, it } from 'vitest';
import type { GroupHandlers } from './group-consumer.ts';
import { createWorkBus } from './kafka-work-bus.ts';

const logger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
type Dispatch = WorkTopics['dispatches'];

it('W2 an assignment that was revoked takes none with it that bears the same numbers: a group may count anew', async () => {
  const joined = Promise.withResolvers<GroupHandlers>();
  const bus = createWorkBus({
    topicOf: (name) => name,
    sender: { send: async () => {}, close: async () => {} },
    partitionOf: () => 0,
    join: async (_name, handlers) => {
      joined.resolve(handlers);
      const idle = { owned: () => new Set<number>(), load: async () => [], problem: () => null, stalled: () => null };
      return { ...idle, close: async () => {} };
    },
    inFlightMax: 10,
    heldMax: 10,
    logger,
  });
  const handled: string[] = [];
  await bus.consume('dispatches', async ({ effect }: Dispatch) => void handled.push(effect.id));
  const handlers = await joined.promise;
  const deliver = (assignment: Assignment, id: string): void => {
    const value = Buffer.from(JSON.stringify({ effect: { do: 'InvokeTool', id } }));
    handlers.record(assignment, { value, offset: '0' } as never, () => {}, false);
  };
  const [before, after] = [1, 1].map((generation): Assignment => ({ partition: 0, generation }));
  if (before === undefined || after === undefined) throw new Error('two assignments');
  handlers.assigned(before);
  await handlers.revoked(before);
  handlers.assigned(after);
  deliver(before, 'old');
  deliver(after, 'new');
  await expect.poll(() => handled).toEqual(['new']);
});

it('W4 a tenant whose calls wait for hours does not keep the bus from taking those of others', async () => {
  const joined = Promise.withResolvers<GroupHandlers>();
  const bus = createWorkBus({
    topicOf: (name) => name,
    sender: { send: async () => {}, close: async () => {} },
    partitionOf: () => 0,
    join: async (_name, handlers) => {
      joined.resolve(handlers);
      const idle = { owned: () => new Set<number>(), load: async () => [], problem: () => null, stalled: () => null };
      return { ...idle, close: async () => {} };
    },
    inFlightMax: 16,
    heldMax: 200,
    logger,
  });
  const seen = { waiting: 0, refused: 0, quiet: 0 };
  await bus.consume('dispatches', async ({ tenant }: Dispatch, place) => {
    if (tenant === 'quiet') seen.quiet += 1;
    else if (place.isCrowded) seen.refused += 1;
    else {
      seen.waiting += 1;
      await place.releasedDuring(() => new Promise<void>(() => {}));
    }
  });
  const handlers = await joined.promise;
  const assignment = { partition: 0, generation: 1 };
  let finished = 0;
  const deliver = (tenant: string, nth: number): void => {
    const effect = { do: 'InvokeTool', id: `${tenant}${nth}`, toolServer: `server-${nth % 30}` };
    const value = Buffer.from(JSON.stringify({ tenant, effect }));
    handlers.record(assignment, { value, offset: String(nth) } as never, () => (finished += 1), false);
  };
  for (let nth = 0; nth < 3_000; nth += 1) {
    while (handlers.busy()) await new Promise((resolve) => setImmediate(resolve));
    deliver('loud', nth);
  }
  await expect.poll(() => seen.refused).toBe(2_900);
  expect([seen.waiting, finished, handlers.busy()]).toEqual([100, 2_900, false]);
  for (let nth = 0; nth < 50; nth += 1) deliver('quiet', nth);
  await expect.poll(() => seen.quiet).toBe(50);
});
