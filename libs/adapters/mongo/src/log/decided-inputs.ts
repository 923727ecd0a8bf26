// The inputs that a commit decides, as names that are unique in the whole database: the document's field `decided`.
// An input is decided in its thread alone, so its name is looked for in one shard.
//
// Invariants:
//   N1. One string for each input, which contains its tenant and thread: the index that makes an input count once has
//       one key per input and no more. (Over tenant, thread and inputs it cost PostgreSQL 7 % more for a commit.)
//       `shard` is in that index because MongoDB shards a collection only where each unique index begins with its key.
//   N2. The last name is no input's: the commit's place (commit-places.ts), which ends in two numbers.
import type { ThreadKey } from '@dormouse/ports';
import { idOf } from '../id-of.ts';

export const decidedName = ({ tenant, thread }: ThreadKey, input: string): string => idOf(tenant, thread, input);

/** The names of all. */
export const decidedNames = (key: ThreadKey, inputs: readonly string[]): readonly string[] =>
  inputs.map((input) => decidedName(key, input));
