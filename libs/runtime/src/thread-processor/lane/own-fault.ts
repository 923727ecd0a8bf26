// Distinguishes a Fault of one thread from an outage. An outage may last for hours and parks nothing; a Fault that one
// thread meets again and again while the slices of others succeed is that thread's own.
//
// Invariants:
//   P1. The time starts when another thread's slice has succeeded since the attempt before; a success of this thread
//       ends it.
//   P2. It starts anew if between two attempts no slice succeeded and other threads began to fail: that is an outage.
//   P3. If no other thread did anything between two attempts, the time goes on as it was.

/** Counts over all threads of one process. */
export interface SliceCounts {
  succeeded: number;
  /** Threads that met their first Fault after a success. */
  startedFailing: number;
}

export class OwnFaultDetector {
  readonly #counts: SliceCounts;
  #seen: SliceCounts;
  /** Milliseconds since the epoch. */
  #othersSucceedSince: number | null = null;

  /** Made when the thread meets its first Fault. */
  constructor(counts: SliceCounts) {
    counts.startedFailing += 1;
    this.#counts = counts;
    this.#seen = { ...counts };
  }

  /** Notes another Fault of this thread; answers for how many milliseconds the others have succeeded meanwhile. */
  noteFault(now: number): number {
    const { succeeded, startedFailing } = this.#counts;
    if (succeeded > this.#seen.succeeded) this.#othersSucceedSince ??= now;
    else if (startedFailing > this.#seen.startedFailing) this.#othersSucceedSince = null; // (P2)
    this.#seen = { succeeded, startedFailing };
    return this.#othersSucceedSince === null ? 0 : now - this.#othersSucceedSince;
  }
}
