// Adaptive linger: after a batch of `batchMin` records or more, the next request waits `lingerMs` for what follows,
// because a request costs broker and client more than its records. A single record is never delayed.

const batchMin = 6;
/** Kafka's own producers wait five milliseconds. */
const lingerMs = 6;
/** After a batch that is older than this, nothing is expected to follow. */
const freshMs = 50;

export class Linger {
  #batchAt = -Infinity;

  /** So many records were sent, or came, in one request. */
  batch(records: number): void {
    this.#batchAt = records < batchMin ? -Infinity : performance.now();
  }

  /** Resolves after `lingerMs` where a batch has just gone before; at once otherwise. */
  wait(): Promise<void> {
    const isFresh = performance.now() - this.#batchAt < freshMs;
    return isFresh ? new Promise((resolve) => setTimeout(resolve, lingerMs)) : Promise.resolve();
  }
}
