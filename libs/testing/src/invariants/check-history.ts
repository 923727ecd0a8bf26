// All invariants of docs/invariants.md that apply to what exists, each one function; one call judges a history.
import { callsAreSettledOnce, closingCloses } from './call-invariants.ts';
import {
  idsAreUnique,
  noPostAfterRecordedRefusal,
  noSilentDrop,
  onceIsOnce,
  postsAreCommitted,
  resultsAreLegitimate,
} from './dispatch-invariants.ts';
import type { History, InvariantId, Violation } from './history.ts';
import { foldIsDeterministic, logIsAChain, wipingLosesNothing } from './log-invariants.ts';
import { oneAnswerPerCompletion, promptsArePrefixes } from './model-invariants.ts';
import { childrenAreOpenedOnce, eventsNeedASubscription, identifiedEventsAreOnce } from './reactive-invariants.ts';
import { type Reading, readHistory } from './reading.ts';
import { comesToRest } from './rest-invariants.ts';
import { secretsAreNotStored, tenantsStayApart } from './secrecy-invariants.ts';
import {
  acknowledgedIsDecidedOnce,
  nothingIsDecidedTwice,
  orderIsKept,
  refusalsAreFinal,
} from './sender-invariants.ts';
import { slotsAreShared } from './share-invariants.ts';
import { streamsAreGapless } from './stream-invariants.ts';

/** Sentences about violations; empty when the invariant holds. */
export type Checker = (reading: Reading) => readonly string[];

/** I-22 and I-25 are judged by other suites. */
export const checkers: Readonly<Record<InvariantId, Checker>> = {
  'I-01': acknowledgedIsDecidedOnce,
  'I-02': nothingIsDecidedTwice,
  'I-03': logIsAChain,
  'I-04': orderIsKept,
  'I-05': postsAreCommitted,
  'I-06': idsAreUnique,
  'I-07': onceIsOnce,
  'I-08': noPostAfterRecordedRefusal,
  'I-09': noSilentDrop,
  'I-10': callsAreSettledOnce,
  'I-11': resultsAreLegitimate,
  'I-12': eventsNeedASubscription,
  'I-13': identifiedEventsAreOnce,
  'I-14': oneAnswerPerCompletion,
  'I-15': promptsArePrefixes,
  'I-16': foldIsDeterministic,
  'I-17': wipingLosesNothing,
  'I-18': childrenAreOpenedOnce,
  'I-19': streamsAreGapless,
  'I-20': closingCloses,
  'I-21': tenantsStayApart,
  'I-23': secretsAreNotStored,
  'I-24': comesToRest,
  'I-26': slotsAreShared,
  V3: refusalsAreFinal,
};

/** Every violation in a history, those that the run witnessed first. */
export function checkHistory(history: History): readonly Violation[] {
  const reading = readHistory(history);
  const found = Object.entries(checkers).flatMap(([id, check]) =>
    check(reading).map((text): Violation => ({ id: id as InvariantId, text })),
  );
  return [...history.witnessed, ...found];
}
