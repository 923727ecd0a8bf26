// How many threads are paid again at once after a takeover. Inputs given to an earlier owner are redelivered, for
// thousands of threads together, each to be read from the log; new inputs do not wait behind them.
//
// Invariants:
//   R1. At most `max` lanes repay at once, in the order of their arrival; a lane that fails gives its place back.
//   R2. A lane that gets a new input waits no longer, nor does one whose assignment ends.

/** One lane's place, or its wait for one. */
export interface Repayment {
  /** Resolves when it may begin; null when it may at once. */
  readonly begun: Promise<void> | null;
  /** (R2) */
  hurry(): void;
  /** Gives the place to the next lane. May be called again. */
  leave(): void;
}

export interface Repayments {
  enter(): Repayment;
  readonly waiting: number;
}

export function createRepayments(max: number): Repayments {
  const waiting = new Set<() => void>();
  let taken = 0;

  function serveNext(): void {
    for (const serve of waiting) {
      if (taken >= max) return;
      serve();
    }
  }

  function enter(): Repayment {
    let holds = false;
    let begin = (): void => {};
    const leave = (): void => {
      if (!holds) return;
      holds = false;
      taken -= 1;
      serveNext();
    };
    if (taken < max) {
      taken += 1;
      holds = true;
      return { begun: null, hurry: () => {}, leave };
    }
    const serve = (): void => {
      waiting.delete(serve);
      taken += 1;
      holds = true;
      begin();
    };
    const hurry = (): void => void (waiting.delete(serve) && begin());
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    waiting.add(serve);
    return { begun, hurry, leave };
  }

  return {
    enter,
    get waiting() {
      return waiting.size;
    },
  };
}
