// When a moment's wait pays: a request costs broker and client more than the records in it, and where many have just come
// together, more are on their way. Whoever comes alone, or some time after a crowd, does not wait.

/** Records in one request from which on they are a crowd. */
const crowdMin = 6;
/** Kafka's own producers wait five. */
const gatherMs = 6;
/** A crowd that is longer gone has no rest. */
const freshMs = 50;

export class Crowd {
  #cameAt = -Infinity;

  /** So many records came, or left, together. */
  came(records: number): void {
    this.#cameAt = records < crowdMin ? -Infinity : performance.now();
  }

  /** Resolves when the rest of the last crowd may be there; at once where there was none. */
  rest(): Promise<void> {
    const isFresh = performance.now() - this.#cameAt < freshMs;
    return isFresh ? new Promise((resolve) => setTimeout(resolve, gatherMs)) : Promise.resolve();
  }
}
