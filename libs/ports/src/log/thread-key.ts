// The name of a thread everywhere outside the heart. The tenant comes first, in every key, index and topic key.
export interface ThreadKey {
  readonly tenant: string;
  readonly thread: string;
}
