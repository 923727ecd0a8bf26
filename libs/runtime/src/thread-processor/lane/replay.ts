// Brings inputs of a parked thread that were put aside back into its lane. Owns which may be forgotten, and when.
//
// Invariants:
//   Y1. The store keeps an input until what it led to is handled: its row serves as its delivery, so that the next
//       owner of the thread decides it, or pays again what it owes. (V1)
//   Y2. The mark goes with the last row, unless the thread was parked again meanwhile. Until then the sweeper of inputs
//       wakes the thread's owner to look for the mark.
import type { InputDelivery, ParkedInput, ThreadKey } from '@dormouse/ports';
import { Hold } from '../pay/held-deliveries.ts';
import type { Parking } from './parking.ts';
import { type InputItem, undelivered } from '../slice/slice-item.ts';

export class Replay {
  readonly #key: ThreadKey;
  readonly #handled: () => void;
  /** Inputs of the last replay whose rows are still there. */
  readonly #kept = new Set<string>();
  /** Inputs whose rows are no longer needed. */
  readonly #done: string[] = [];
  #goesOn = false;

  /** `handled` is called when there is something to `forget`. */
  constructor(key: ThreadKey, handled: () => void) {
    this.#key = key;
    this.#handled = handled;
  }

  /** The items of these inputs, in order; the replay before is over or given up. */
  begin(inputs: readonly ParkedInput[]): readonly InputItem[] {
    this.#goesOn = true;
    this.#kept.clear();
    for (const { input } of inputs) this.#kept.add(input.id);
    return inputs.map((parked) => this.#item(parked));
  }

  get goesOn(): boolean {
    return this.#goesOn;
  }

  get hasHandled(): boolean {
    return this.#done.length > 0;
  }

  /**
   * Removes the rows that are no longer needed, and the mark with the last of them. (Y1, Y2) False when more inputs
   * wait than this replay holds: the lane has to look for the mark again. Can be repeated.
   */
  async forget(parking: Pick<Parking, 'remove' | 'end'>): Promise<boolean> {
    for (let id = this.#done[0]; id !== undefined; id = this.#done[0]) {
      await parking.remove(this.#key, id);
      this.#done.shift();
      this.#kept.delete(id);
    }
    if (!this.#goesOn || this.#kept.size > 0) return true;
    const ended = await parking.end(this.#key);
    this.#goesOn = false;
    return ended;
  }

  /** The thread is parked again: what is handled later still loses its row. */
  giveUp(): void {
    this.#goesOn = false;
  }

  /** Held by its row. (Y1) */
  #item({ input, trace }: ParkedInput): InputItem {
    let isPutBack = false;
    const release = (): void => {
      if (isPutBack) return;
      this.#done.push(input.id);
      this.#handled();
    };
    const putBack = (): void => {
      isPutBack = true;
    };
    const row: InputDelivery = { what: 'input', ...this.#key, input, trace, decided: () => {}, release };
    return { ...undelivered(input, trace), parkedRows: [{ putBack }], hold: new Hold([row]) };
  }
}
