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
