// How a lane parks a thread, and reads one that is parked. Owns the steps and their order; the lane decides when.
//
// Invariants:
//   Q1. The mark is durable before any input is put aside, and an input before its delivery is released: the next owner
//       finds the mark first. (protocol-verification)
//   Q2. The row of the thread says `parked`; it is a hint, written after the mark, and after pending row updates.
//   Q3. When the mark is gone the row says what the thread is, also of a replay that had nothing to decide.
import type { Clock, Logger, ParkedInput, ParkingMark, Stores, ThreadKey } from '@dormouse/ports';
import { Fault } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';

export interface Parking {
  /** The mark, and for a replay the inputs that wait and were not dropped, in order. */
  look(key: ThreadKey): Promise<{ readonly mark: ParkingMark | null; readonly inputs: readonly ParkedInput[] }>;
  park(key: ThreadKey, reason: string): Promise<void>;
  add(key: ThreadKey, input: ThreadInput, trace: string | null): Promise<void>;
  remove(key: ThreadKey, inputId: string): Promise<void>;
  /** Removes the mark when every waiting input is decided; false when more inputs wait. */
  end(key: ThreadKey): Promise<boolean>;
}

const reasonCharactersMax = 500;

export interface ParkingDeps extends Pick<Stores, 'parked' | 'directory'> {
  /** Writes the pending updates of the thread's row. */
  readonly flushRow: (key: ThreadKey) => Promise<void>;
  /** Updates the thread's row from its log. */
  readonly updateRow: (key: ThreadKey) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createParking(deps: ParkingDeps): Parking {
  const { parked, directory, flushRow, updateRow, clock, logger } = deps;

  /** (Q2) */
  async function showParked(key: ThreadKey): Promise<void> {
    await flushRow(key);
    const row = await directory.get(key);
    if (row === null) return;
    const { title, position } = row;
    const { tenant, thread } = key;
    await directory.project([{ tenant, thread, status: 'parked', title, updatedAt: clock.now(), position }]);
  }

  const notShown =
    (key: ThreadKey) =>
    (error: unknown): void => {
      if (!(error instanceof Fault)) throw error;
      logger.warn('parked_not_shown', { ...key, code: error.code });
    };

  return {
    look: async (key) => {
      const mark = await parked.mark(key);
      if (mark !== 'replay') return { mark, inputs: [] };
      return { mark, inputs: (await parked.inputs(key)).filter(({ droppedAt }) => droppedAt === null) };
    },
    park: async (key, reason) => {
      await parked.park(key, reason.slice(0, reasonCharactersMax), clock.now());
      logger.error('thread_parked', { ...key });
      await showParked(key).catch(notShown(key));
    },
    add: (key, input, trace) => parked.add(key, input, trace, clock.now()),
    remove: (key, inputId) => parked.remove(key, inputId),
    end: async (key) => {
      const ended = await parked.unpark(key);
      if (!ended) return false;
      logger.info('thread_resumed', { ...key });
      await updateRow(key).catch(notShown(key)); // (Q3)
      return true;
    },
  };
}
