// One page of a list, as every part of the client API answers it.
//
// Invariants:
//   Q1. A cursor into a log is a position: what is listed next comes from later events, or from earlier ones in a list
//       that goes backwards. It stays valid for ever.
//   Q2. `nextCursor` is null when the list was read to its end.

export interface ListPage<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** Of a list that follows a log: `asc` is oldest first. */
export type ListOrder = 'asc' | 'desc';
