// The log of a thread without its bodies: for commits that no key seals any more, because they are in the clear, and
// for those of a thread whose family keeps its key.
//
// Invariants:
//   Q1. The chain over the stored commits is made anew: a log that was emptied verifies.
//   Q2. A commit that only says that contents were erased keeps its body.
//   Q3. Emptying again changes nothing, and goes on where it was broken off.
import type { Commit } from '@dormouse/ports';
import { chainHash, openCommit } from '../log/envelope.ts';

/** The commits that change; `kid` names what their bodies are no more sealed with. */
export function emptied(stored: readonly Commit[], kid: string, keepsSealed: boolean): readonly Commit[] {
  const changed: Commit[] = [];
  let prev = '';
  for (const commit of stored) {
    const empty = { ...commit, prev, ...(isKept(commit, keepsSealed) ? {} : { kid: commit.kid ?? kid, body: '' }) };
    const next = { ...empty, hash: chainHash(empty) };
    if (next.hash !== commit.hash || next.prev !== commit.prev) changed.push(next); // (Q3)
    prev = next.hash; // (Q1)
  }
  return changed;
}

/** (Q2) What is sealed with a key that is gone may stay as it is. */
const isKept = (commit: Commit, keepsSealed: boolean): boolean =>
  commit.kid === null ? openCommit(commit).events.every(({ type }) => type === 'ContentErased') : keepsSealed;
