// Decides when a short wait pays: a request costs broker and client more than the records in it, and after many records
// came together, more follow. A single record, or one that comes some time after a crowd, does not wait.

/** From this many records in one request on, they are a crowd. */
const crowdMin = 6;
/** Kafka's own producers wait five milliseconds. */
const gatherMs = 6;
/** After a crowd that is older than this, no rest is expected. */
const freshMs = 50;

export class Crowd {
  #cameAt = -Infinity;

  /** This many records came, or were sent, together. */
  came(records: number): void {
    this.#cameAt = records < crowdMin ? -Infinity : performance.now();
  }

  /** Resolves when the rest of the last crowd may be there; at once where there was none. */
  rest(): Promise<void> {
    const isFresh = performance.now() - this.#cameAt < freshMs;
    return isFresh ? new Promise((resolve) => setTimeout(resolve, gatherMs)) : Promise.resolve();
  }
}
