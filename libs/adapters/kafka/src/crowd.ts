// When a moment's wait pays: a request costs broker and client more than the records in it, and where many have just come
// together, more are on their way. Whoever comes alone never waits.

/** Records in one request from which on they are a crowd. */
const crowdMin = 6;
/** Kafka's own producers wait five. */
const gatherMs = 6;

/** Resolves when the next request should leave, after one that carried so many records. */
export const gathered = (recordsBefore: number): Promise<void> =>
  recordsBefore < crowdMin ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, gatherMs));
