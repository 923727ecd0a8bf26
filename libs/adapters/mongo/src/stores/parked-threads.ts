// Parked threads in `parked`, and their waiting inputs in `parked_inputs`. Contract: ports/stores/parked-threads.ts.
//
// Invariants:
//   K1. Only the owner of the thread adds inputs (or a zombie beside it): the place of an input is one behind the last.
//   K2. The mark counts the inputs that were put aside, after each is stored: a mark is not removed when an input came
//       between reading the waiting inputs and the removal. (parked-threads P5)
import { readJson } from '@dormouse/json';
import { pageOf, type ParkedThread, type ParkedThreads, parkedWhileReplayed, type ThreadKey } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { Schema } from 'mongoose';
import { everySchema, number, numberOrNull, text, textOrNull } from '../document-shape.ts';
import { findById } from '../find-by-id.ts';
import { idOf } from '../id-of.ts';
import { inserted, isDuplicate, type MongoServer, removed, updated } from '../mongo-server.ts';
import { behindCursor } from '../behind-cursor.ts';

interface ThreadDocument extends ParkedThread {
  readonly _id: string;
  /** Absent while no input was put aside. (K2) */
  readonly adds?: number;
}

interface InputDocument extends ThreadKey {
  readonly _id: string;
  readonly place: number;
  /** JSON: names that users chose never become names of fields. */
  readonly input: string;
  readonly trace: string | null;
  readonly droppedAt: number | null;
}

const threadSchema = new Schema<ThreadDocument>(
  { _id: text, tenant: text, thread: text, mark: text, reason: text, parkedAt: number, adds: Number },
  { ...everySchema, collection: 'parked' },
);
threadSchema.index({ tenant: 1, parkedAt: 1, thread: 1 }, { name: 'oldest' });
threadSchema.index({ mark: 1 }, { name: 'replays' });

const inputSchema = new Schema<InputDocument>(
  { _id: text, tenant: text, thread: text, place: number, input: text, trace: textOrNull, droppedAt: numberOrNull },
  { ...everySchema, collection: 'parked_inputs' },
);
inputSchema.index({ tenant: 1, thread: 1, place: 1 }, { name: 'in_order' });

const threadsAtOnceMax = 256;

export function createParkedThreads(server: MongoServer): ParkedThreads {
  const threads = server.connection.model<ThreadDocument>('ParkedThread', threadSchema);
  const inputs = server.connection.model<InputDocument>('ParkedInput', inputSchema);
  const threadId = ({ tenant, thread }: ThreadKey): string => idOf(tenant, thread);
  const inputId = ({ tenant, thread }: ThreadKey, id: string): string => idOf(tenant, thread, id);

  const find = findById(server, threads, threadsAtOnceMax);
  const get = async (key: ThreadKey): Promise<ParkedThread | null> => {
    const found = await find(threadId(key));
    return found && parkedOf(found);
  };

  /** (K1) */
  async function nextPlace({ tenant, thread }: ThreadKey): Promise<number> {
    const [last] = await server.read(() => inputs.find({ tenant, thread }).sort({ place: -1 }).limit(1).lean());
    return (last?.place ?? 0) + 1;
  }

  /** (K2) */
  async function countAdded(key: ThreadKey, at: number): Promise<void> {
    const { tenant, thread } = key;
    const missing = { tenant, thread, mark: 'parked', reason: parkedWhileReplayed, parkedAt: at } as const;
    const count = () =>
      threads.updateOne({ _id: threadId(key) }, { $inc: { adds: 1 }, $setOnInsert: missing }, { upsert: true });
    try {
      await server.write(count);
    } catch (error) {
      if (!isDuplicate(error)) throw error; // marked by another process meanwhile
      await server.write(count);
    }
  }

  return {
    mark: async (key) => (await get(key))?.mark ?? null,
    park: async (key, reason, at) => {
      const { tenant, thread } = key;
      const _id = threadId(key);
      if (!(await inserted(server, threads, { _id, tenant, thread, mark: 'parked', reason, parkedAt: at })))
        await server.write(() => threads.updateOne({ _id }, { $set: { mark: 'parked' } }));
    },
    add: async (key, input, trace, at) => {
      const { tenant, thread } = key;
      const place = await nextPlace(key);
      const document = { _id: inputId(key, input.id), tenant, thread, place, input: JSON.stringify(input) };
      await inserted(server, inputs, { ...document, trace, droppedAt: null }); // or it was stored before
      await countAdded(key, at);
    },
    inputs: async ({ tenant, thread }) => {
      const found = await server.read(() => inputs.find({ tenant, thread }).sort({ place: 1 }).lean());
      return found.map(({ input, trace, droppedAt }) => ({
        input: readJson(input) as ThreadInput,
        trace,
        droppedAt,
      }));
    },
    get,
    list: async (tenant, page) => {
      const found = await server.read(() =>
        threads
          .find({ tenant, ...behindCursor(page, ['parkedAt', 'thread'], '$gt') })
          .sort({ parkedAt: 1, thread: 1 })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(parkedOf), page, ({ parkedAt, thread }) => [parkedAt, thread]);
    },
    replay: (key) => updated(server, threads, { _id: threadId(key) }, { $set: { mark: 'replay' } }),
    drop: (key, id, at) => updated(server, inputs, { _id: inputId(key, id) }, { $set: { droppedAt: at } }),
    remove: async (key, id) => void (await server.write(() => inputs.deleteOne({ _id: inputId(key, id) }))),
    parkedFor: async (reason) => {
      const found = await server.read(() => threads.find({ mark: 'parked', reason }).lean());
      return found.map(({ tenant, thread }) => ({ tenant, thread }));
    },
    replays: async () => {
      const found = await server.read(() => threads.find({ mark: 'replay' }).lean());
      return found.map(({ tenant, thread }) => ({ tenant, thread }));
    },
    unpark: async (key) => {
      const { tenant, thread } = key;
      const _id = threadId(key);
      const before = await server.read(() => threads.findOne({ _id }).lean());
      if (before?.mark !== 'replay') return false;
      if ((await server.read(() => inputs.findOne({ tenant, thread, droppedAt: null }).lean())) !== null) return false;
      const { adds } = before;
      return removed(server, threads, { _id, mark: 'replay', adds: adds ?? { $exists: false } });
    },
  };
}

const parkedOf = ({ tenant, thread, mark, reason, parkedAt }: ThreadDocument): ParkedThread => ({
  ...{ tenant, thread, mark, reason, parkedAt },
});
