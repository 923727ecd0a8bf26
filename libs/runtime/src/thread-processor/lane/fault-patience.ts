// Distinguishes a Fault of one thread from an outage. An outage may last for hours and parks nothing; a Fault that one
// thread meets again and again while others pass is that thread's own.
//
// Invariants:
//   P1. The time starts when another thread has passed since the attempt before, and is reset when this thread passes.
//   P2. It starts anew when between two attempts no thread passed and others began to fail: that is an outage.
//   P3. Where nothing else happens between two attempts, nothing is known, and nothing changes.

/** What the threads of one process met, counted. */
export interface Crowd {
  /** Slices that ended well. */
  passed: number;
  /** Threads that began to meet Faults. */
  fell: number;
}

export class FaultPatience {
  readonly #crowd: Crowd;
  #seen: Crowd;
  /** Milliseconds since the epoch. */
  #othersPassSince: number | null = null;

  /** The thread meets its first Fault. */
  constructor(crowd: Crowd) {
    crowd.fell += 1;
    this.#crowd = crowd;
    this.#seen = { ...crowd };
  }

  /** This thread meets another Fault; answers for how many milliseconds others have passed meanwhile. */
  meetsAnother(now: number): number {
    const { passed, fell } = this.#crowd;
    if (passed > this.#seen.passed) this.#othersPassSince ??= now;
    else if (fell > this.#seen.fell) this.#othersPassSince = null; // (P2)
    this.#seen = { passed, fell };
    return this.#othersPassSince === null ? 0 : now - this.#othersPassSince;
  }
}
