// What one commit says for the metrics: turns that ended, completions, calls that were settled, refusals. A projection
// of the commit and of its thread before and after; it keeps nothing.
//
// Invariants:
//   F1. A turn counts when nothing of it runs any more: no completion, no call that blocks the model. A turn that goes
//       on in the same commit has not ended.
//   F2. A call counts when it is settled, once; a late or a repeated result is no fact.
//   F3. Times come from the log: they are right in a process that has just taken the thread over, too.
import type { Outcome, RecordedEvent, Thread } from '@dormouse/thread';
import { blockingCalls, callOf, timerOf } from '@dormouse/thread';
import type { completionOutcomes, FoldedCommit, turnOutcomes } from '@dormouse/ports';

export type TurnOutcome = (typeof turnOutcomes)[number];
export type CompletionOutcome = (typeof completionOutcomes)[number];

/** Takes the facts one by one; times in milliseconds. */
export interface CommitFacts {
  turnEnded(outcome: TurnOutcome, tookMs: number): void;
  /** `model`: its name for people. */
  completionEnded(completionId: string, model: string, outcome: CompletionOutcome): void;
  /** `toolServer` is null for a built-in or unknown tool. */
  callSettled(toolServer: string | null, operation: string, outcome: Outcome, tookMs: number): void;
  refused(code: string): void;
}

/** `at`: time of the commit. */
export function readCommit({ before, events, thread }: FoldedCommit, at: number, facts: CommitFacts): void {
  const turns = new Turns(before, at, facts);
  for (const event of events) {
    turns.take(event);
    switch (event.type) {
      case 'CompletionRecorded':
        facts.completionEnded(event.completionId, before.model, event.interrupted ? 'interrupted' : 'recorded');
        break;
      case 'CompletionFailed':
        facts.completionEnded(event.completionId, before.model, 'failed');
        break;
      case 'ToolCallSettled':
        settled(event, before, events, at, facts); // (F2)
        break;
      case 'MessageRefused':
      case 'RequestRefused':
        facts.refused(event.code);
        break;
      default: // nothing that is counted
    }
  }
  turns.close(thread);
}

/** A call that this commit requested took no time. */
function settled(
  { toolCallId, outcome }: Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>,
  before: Thread,
  events: readonly RecordedEvent[],
  at: number,
  facts: CommitFacts,
): void {
  const open = callOf(before, toolCallId);
  if (open !== undefined) return facts.callSettled(open.toolServer, open.operation, outcome, at - open.since);
  for (const event of events)
    if (event.type === 'ToolCallRequested' && event.toolCallId === toolCallId)
      return facts.callSettled(event.toolServer, event.operation, outcome, 0);
}

/** The turns of one commit, event by event. (F1) */
class Turns {
  readonly #before: Thread;
  readonly #at: number;
  readonly #facts: CommitFacts;
  #turnId: string | null;
  #isRunning: boolean;
  /** How the turn ended, unless it goes on in this commit. */
  #ended: TurnOutcome | null = null;

  constructor(before: Thread, at: number, facts: CommitFacts) {
    this.#before = before;
    this.#at = at;
    this.#facts = facts;
    this.#turnId = before.turnId;
    this.#isRunning = runs(before);
  }

  take(event: RecordedEvent): void {
    switch (event.type) {
      case 'MessageAccepted':
      case 'CompletionRequested':
        return this.#goOn(event.turnId);
      case 'CompletionRecorded':
        return event.final ? this.#end('completed') : undefined;
      case 'CompletionFailed':
        return this.#end('failed');
      case 'TurnInterrupted':
        return this.#end('interrupted');
      case 'BudgetExceeded':
        return event.budget === 'repeated_call' ? undefined : this.#end('budget_exceeded');
      case 'ThreadClosed':
        return this.#isRunning ? this.#end('closed') : undefined;
      default:
        return undefined;
    }
  }

  /** After the last event. */
  close(after: Thread): void {
    if (this.#ended !== null) return this.#count(this.#ended);
    if (this.#isRunning && !runs(after)) this.#count(timerOf(after, 'sleep') === undefined ? 'completed' : 'asleep');
  }

  #end(outcome: TurnOutcome): void {
    this.#ended = outcome;
    this.#isRunning = false;
  }

  #goOn(turnId: string): void {
    if (turnId !== this.#turnId) {
      if (this.#ended !== null) this.#count(this.#ended);
      else if (this.#isRunning) this.#count('interrupted'); // a message took its place
    }
    this.#turnId = turnId;
    this.#isRunning = true;
    this.#ended = null;
  }

  /** Only the turn that ran before this commit has taken time. (F3) */
  #count(outcome: TurnOutcome): void {
    const isOld = this.#turnId === this.#before.turnId && this.#before.turnId !== null;
    this.#facts.turnEnded(outcome, isOld ? this.#at - this.#before.countSince : 0);
  }
}

/** Whether something of a turn runs, or waits for the tools of its thread. */
const runs = (thread: Thread): boolean =>
  thread.completion !== null || blockingCalls(thread).length > 0 || (thread.loading !== null && thread.unseen > 0);
