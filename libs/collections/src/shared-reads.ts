// Shares concurrent reads of one key: when a cached value expires, its many readers cause one read.

export type SharedReads<Answer> = (key: string, read: () => Promise<Answer>) => Promise<Answer>;

/** The answer, or the failure, of the read under this key that is under way; else of a new one. */
export function createSharedReads<Answer>(): SharedReads<Answer> {
  const reading = new Map<string, Promise<Answer>>();
  return (key, read) => {
    const known = reading.get(key);
    if (known !== undefined) return known;
    const answer = read().finally(() => reading.delete(key));
    reading.set(key, answer);
    return answer;
  };
}
