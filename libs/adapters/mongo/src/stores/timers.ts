// Durable timers in `timers`. Port: ports/bus/timers.ts.
//
// Invariants:
//   T1. Each timer carries the partition of its thread; a process gets those of the partitions it owns, so that one
//       process fires a timer, not all.
import type { DueTimer, ThreadKey, Timers } from '@dormouse/ports';
import { type QueryFilter, Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

/** The partition of a thread, and the partitions that this process owns now. */
export interface Partitions {
  readonly count: number;
  of(key: ThreadKey): number;
  owned(): ReadonlySet<number>;
}

interface TimerDocument extends DueTimer {
  readonly _id: string;
  readonly partition: number;
}

const timerSchema = new Schema<TimerDocument>(
  { _id: text, tenant: text, thread: text, timerId: text, due: number, partition: number },
  { ...everySchema, collection: 'timers' },
);
timerSchema.index({ partition: 1, due: 1 }, { name: 'by_due' });

export const onePartition: Partitions = { count: 1, of: () => 0, owned: () => new Set([0]) };

export function createTimers(server: MongoServer, partitions: Partitions): Timers {
  const timers = server.connection.model<TimerDocument>('Timer', timerSchema);
  const ours = (): QueryFilter<TimerDocument> => ({ partition: { $in: [...partitions.owned()] } });

  async function insert(timer: DueTimer): Promise<void> {
    const { tenant, thread, timerId, due } = timer;
    const document = { _id: timerIdOf(timer), tenant, thread, timerId, due, partition: partitions.of(timer) };
    await inserted(server, timers, document); // the first due time stays
  }

  return {
    set: async (wanted) => void (await Promise.all(wanted.map(insert))),
    due: async (now, limit, without = []) => {
      const others = without.length === 0 ? {} : { tenant: { $nin: [...without] } };
      const found = await server.read(() =>
        timers
          .find({ ...ours(), due: { $lte: now }, ...others })
          .sort({ due: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(({ tenant, thread, timerId, due }) => ({ tenant, thread, timerId, due }));
    },
    next: async () => {
      const [first] = await server.read(() => timers.find(ours()).sort({ due: 1 }).limit(1).lean());
      return first?.due ?? null;
    },
    drop: async (dropped) => {
      if (dropped.length === 0) return;
      await server.write(() => timers.deleteMany({ _id: { $in: dropped.map(timerIdOf) } }));
    },
  };
}

const timerIdOf = ({ tenant, thread, timerId }: DueTimer): string => idOf(tenant, thread, timerId);
