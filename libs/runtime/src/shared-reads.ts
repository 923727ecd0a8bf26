// Reads of the same thing at the same time: what has just grown old is wanted by everybody at once, and is read once.

export type SharedReads<Answer> = (key: string, read: () => Promise<Answer>) => Promise<Answer>;

/** The answer, or the failure, of the read under this key that is on its way; else of a new one. */
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
