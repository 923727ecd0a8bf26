// What was put aside of a parked thread, on its way back into it. Owns what of it may be forgotten, and when.
//
// Invariants:
//   Y1. The store keeps an input until what it led to is handled: its row is what a delivery is to others, so that whoever owns
//       the thread next decides it, or pays again what it owes. (V1)
//   Y2. The delivery that led to a replay is held until no row of it is left: somebody will look again.
//   Y3. The mark goes with the last row, unless the thread was parked again meanwhile.
import type { InputDelivery, ParkedInput, ThreadKey } from '@dormouse/ports';
import { Hold } from './held-deliveries.ts';
import type { Parking } from './parking.ts';
import { type InputItem, itemAtHand } from './slice/slice-item.ts';

/** An input that the store keeps, as the delivery that its item is held by. */
interface Row extends InputDelivery {
  /** It was put aside again before it was decided. */
  isPutBack: boolean;
}

export class Replay {
  readonly #key: ThreadKey;
  readonly #handled: () => void;
  /** Those of the last replay that are still there, by the id of their input. */
  readonly #rows = new Map<string, Row>();
  /** Inputs whose rows nobody needs any more. */
  readonly #done: string[] = [];
  /** (Y2) Null while no replay goes on. */
  #cause: Hold | null = null;

  /** `handled` is called when there is something to `forget`. */
  constructor(key: ThreadKey, handled: () => void) {
    this.#key = key;
    this.#handled = handled;
  }

  /** The items of these inputs, in order; the replay before is over or given up. `cause` holds the delivery that led here. */
  begin(inputs: readonly ParkedInput[], cause: Hold): readonly InputItem[] {
    this.#rows.clear();
    this.#cause = new Hold();
    this.#cause.absorb(cause.retain());
    return inputs.map(({ input, trace }) => {
      const row = this.#row(input, trace);
      this.#rows.set(input.id, row);
      return itemAtHand(input, trace, new Hold([row]));
    });
  }

  keeps(inputId: string): boolean {
    return this.#rows.has(inputId);
  }

  /** The input was not decided: its row stays for the next replay. */
  putBack(inputId: string): void {
    const row = this.#rows.get(inputId);
    if (row !== undefined) row.isPutBack = true;
  }

  get hasHandled(): boolean {
    return this.#done.length > 0;
  }

  /** Takes the rows away that nobody needs, and the mark with the last of them. (Y1, Y3) Can be repeated. */
  async forget(parking: Pick<Parking, 'remove' | 'end'>): Promise<void> {
    for (let id = this.#done[0]; id !== undefined; id = this.#done[0]) {
      await parking.remove(this.#key, id);
      this.#done.shift();
      this.#rows.delete(id);
    }
    if (this.#cause === null || this.#rows.size > 0) return;
    await parking.end(this.#key);
    this.giveUp();
  }

  /** It is over, or the thread is parked again: what is handled later still loses its row. */
  giveUp(): void {
    this.#cause?.drop();
    this.#cause = null;
  }

  /** (Y1) */
  #row(input: ParkedInput['input'], trace: string | null): Row {
    const { tenant, thread } = this.#key;
    const row: Row = {
      what: 'input',
      tenant,
      thread,
      input,
      trace,
      isPutBack: false,
      decided: () => {},
      release: () => {},
    };
    row.release = (): void => {
      if (row.isPutBack) return;
      this.#done.push(input.id);
      this.#handled();
    };
    return row;
  }
}
