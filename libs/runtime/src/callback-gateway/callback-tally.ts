// Callbacks of known calls that had no effect, counted in memory and written in batches off the path: those that were
// accepted before, and those that were refused.
//
// Invariants:
//   L1. Counting is synchronous: no callback waits for the store, and none fails because of it.
//   L2. A crash loses what was not written: at most the last `writeEveryMs`, as long as the store answers. `flush`
//       writes what is left.
//   L3. At most `callsMax` calls are kept. To make room those that are written are forgotten; a call that is counted
//       again has a row of its own, so that nothing written is replaced. A call without room is not counted.
import type { CallbackCountRow, CallbackCounts, Clock, Entropy, Logger } from '@dormouse/ports';
import { createLateWrites } from '../late-writes.ts';
import type { CallbackScope } from './callback-token.ts';

export type TalliedCall = Pick<CallbackScope, 'tenant' | 'thread' | 'toolCallId'>;

export interface CallbackTally {
  /** It had been accepted before. */
  duplicate(call: TalliedCall): void;
  refused(call: TalliedCall): void;
  /** Writes what is left; one attempt. */
  flush(): Promise<void>;
}

export interface CallbackTallyDeps {
  readonly counts: CallbackCounts;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
}

type Cell = { -readonly [Name in keyof CallbackCountRow]: CallbackCountRow[Name] } & { isChanged: boolean };

const writeEveryMs = 1_000;
const callsMax = 10_000;

export function createCallbackTally({ counts, clock, entropy, logger }: CallbackTallyDeps): CallbackTally {
  const process = entropy.nonce();
  const cells = new Map<string, Cell>();
  let generation = 0;
  const warn = (code: string): void => logger.warn('callback_counts_unwritten', { code });
  const { schedule, write } = createLateWrites({ clock, everyMs: writeEveryMs, writeAll, warn });

  /** (L3) */
  function makeRoom(): boolean {
    if (cells.size < callsMax) return true;
    for (const [name, { isChanged }] of cells) if (!isChanged) cells.delete(name);
    generation += 1;
    return cells.size < callsMax;
  }

  function count({ tenant, thread, toolCallId }: TalliedCall, what: 'duplicates' | 'refused'): void {
    const name = JSON.stringify([tenant, thread, toolCallId]);
    let cell = cells.get(name);
    if (cell === undefined) {
      if (!makeRoom()) return;
      const reporter = `${process}.${generation}`;
      cell = { ...{ tenant, thread, toolCallId, reporter, duplicates: 0, refused: 0 }, isChanged: false };
      cells.set(name, cell);
    }
    cell[what] += 1;
    cell.isChanged = true;
    schedule();
  }

  async function writeAll(): Promise<void> {
    const changed = [...cells.values()].filter(({ isChanged }) => isChanged);
    if (changed.length === 0) return;
    for (const cell of changed) cell.isChanged = false;
    try {
      await counts.put(changed.map(({ isChanged: _changed, ...row }) => row));
    } catch (error) {
      for (const cell of changed) cell.isChanged = true;
      throw error;
    }
  }

  return {
    duplicate: (call) => count(call, 'duplicates'),
    refused: (call) => count(call, 'refused'),
    flush: write,
  };
}

/** Keeps no counts. */
export const noTally: CallbackTally = { duplicate: () => {}, refused: () => {}, flush: async () => {} };
