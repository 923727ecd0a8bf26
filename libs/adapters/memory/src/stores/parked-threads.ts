// Parked threads in memory. Contract: ports/stores/parked-threads.ts. A thread and its inputs are written in two steps,
// as in a store without transactions: counting detects what came between them.
import {
  decodeCursor,
  encodeCursor,
  type ParkedInput,
  type ParkedThread,
  type ParkedThreads,
  parkedWhileReplayed,
} from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from '../log/thread-log.ts';

interface MarkedThread extends ParkedThread {
  /** How many inputs were put aside since the thread is marked. */
  readonly adds: number;
}

/** The durable part. */
export interface ParkingStore {
  readonly threads: Map<string, MarkedThread>;
  readonly inputs: Map<string, Map<string, ParkedInput>>;
}

export const createParkingStore = (): ParkingStore => ({ threads: new Map(), inputs: new Map() });

export function createParkedThreads({ threads, inputs }: ParkingStore, passage: Passage): ParkedThreads {
  return {
    mark: (key) => passage.read('parked.mark', nameOf(key), () => threads.get(nameOf(key))?.mark ?? null),
    park: (key, reason, at) =>
      passage.write('parked.park', nameOf(key), () => {
        const { tenant, thread } = key;
        const known = threads.get(nameOf(key)) ?? { tenant, thread, reason, parkedAt: at, adds: 0 };
        threads.set(nameOf(key), { ...known, mark: 'parked' });
      }),
    add: async (key, input, trace, at) => {
      await passage.write('parked.add', `${nameOf(key)} ${input.id}`, () => {
        const kept = inputs.get(nameOf(key)) ?? new Map<string, ParkedInput>();
        if (!kept.has(input.id)) kept.set(input.id, { input, trace, droppedAt: null });
        inputs.set(nameOf(key), kept);
      });
      await passage.write('parked.added', nameOf(key), () => {
        const { tenant, thread } = key;
        const missing = { tenant, thread, mark: 'parked', reason: parkedWhileReplayed, parkedAt: at, adds: 0 } as const;
        const known = threads.get(nameOf(key)) ?? missing;
        threads.set(nameOf(key), { ...known, adds: known.adds + 1 });
      });
    },
    inputs: (key) => passage.read('parked.inputs', nameOf(key), () => [...(inputs.get(nameOf(key))?.values() ?? [])]),
    get: (key) => passage.read('parked.get', nameOf(key), () => parkedOf(threads.get(nameOf(key)))),
    list: (tenant, { limit, cursor }) =>
      passage.read('parked.list', tenant, () => {
        const [from = 0] = cursor === null ? [] : decodeCursor(cursor).map(Number);
        const all = [...threads.values()]
          .filter((parked) => parked.tenant === tenant)
          .toSorted((left, right) => left.parkedAt - right.parkedAt);
        const data = all.slice(from, from + limit).flatMap((one) => parkedOf(one) ?? []);
        return { data, nextCursor: from + limit < all.length ? encodeCursor([from + limit]) : null };
      }),
    replay: (key) =>
      passage.write('parked.replay', nameOf(key), () => {
        const known = threads.get(nameOf(key));
        if (known) threads.set(nameOf(key), { ...known, mark: 'replay' });
        return known !== undefined;
      }),
    drop: (key, inputId, at) =>
      passage.write('parked.drop', `${nameOf(key)} ${inputId}`, () => {
        const kept = inputs.get(nameOf(key));
        const input = kept?.get(inputId);
        if (input) kept?.set(inputId, { ...input, droppedAt: at });
        return input !== undefined;
      }),
    remove: (key, inputId) =>
      passage.write('parked.remove', `${nameOf(key)} ${inputId}`, () => void inputs.get(nameOf(key))?.delete(inputId)),
    parkedFor: (why) =>
      passage.read('parked.parkedFor', why, () =>
        [...threads.values()]
          .filter(({ mark, reason }) => mark === 'parked' && reason === why)
          .map(({ tenant, thread }) => ({ tenant, thread })),
      ),
    replays: () =>
      passage.read('parked.replays', '', () =>
        [...threads.values()].filter(({ mark }) => mark === 'replay').map(({ tenant, thread }) => ({ tenant, thread })),
      ),
    unpark: async (key) => {
      const before = await passage.read('parked.get', nameOf(key), () => threads.get(nameOf(key)));
      const waiting = await passage.read('parked.inputs', nameOf(key), () =>
        [...(inputs.get(nameOf(key))?.values() ?? [])].some(({ droppedAt }) => droppedAt === null),
      );
      if (waiting) return false;
      return await passage.write('parked.unpark', nameOf(key), () => {
        const now = threads.get(nameOf(key));
        return now?.mark === 'replay' && now.adds === before?.adds && threads.delete(nameOf(key));
      });
    },
  };
}

function parkedOf(found: MarkedThread | undefined): ParkedThread | null {
  if (found === undefined) return null;
  const { tenant, thread, mark, reason, parkedAt } = found;
  return { tenant, thread, mark, reason, parkedAt };
}
