// The inputs that a commit decides, as names that are unique in the whole database: the document's field `decided`.
//
// Invariants:
//   N1. One string for each input, which contains its tenant and thread: the index that makes an input count once has
//       one key per input and no more. (Over tenant, thread and inputs it cost PostgreSQL 7 % more for a commit.)
//   N2. A commit that decides nothing has no such field, and no entry in the index.
import type { ThreadKey } from '@dormouse/ports';
import { idOf } from '../id-of.ts';

export const decidedName = ({ tenant, thread }: ThreadKey, input: string): string => idOf(tenant, thread, input);

/** The part of a commit's document that this file owns. (N2) */
export const decidedPart = (key: ThreadKey, inputs: readonly string[]) =>
  inputs.length === 0 ? {} : { decided: inputs.map((input) => decidedName(key, input)) };
