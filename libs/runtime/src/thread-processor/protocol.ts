// The rules of the four steps, each as one small function. Production always runs `soundProtocol`; it is a parameter so that
// the simulator can put a broken rule in place of a sound one and prove that its checkers notice (guarantees §2, mutation
// check). Nothing here is a setting: an operator cannot reach it.
//
// How to break it: `createThreadProcessor({...deps, protocol: { confirmRefusal: async () => ({ refusal: 'final' }) }})`.
// A broken rule may close over its own state; it gets what the sound one gets. What is not here is broken at a port: no
// unique index, a timer dropped twice, a claim that is not kept.
import type { AppendOutcome, Assignment, Commit, ThreadKey, ThreadLog } from '@dormouse/ports';
import { decide, evolve, extendTranscript, inputIds, isOwed } from '@dormouse/thread';
import type { CompletionAnswer } from './completion/completion-run.ts';
import type { Hold } from './held-deliveries.ts';
import { type Confirmation, confirmRefusal } from './slice/confirm-refusal.ts';
import { mergeInputs } from './slice/merge-inputs.ts';
import type { InputItem } from './slice/slice-item.ts';
import { type Debt, readThread, type ReadThread, type ThreadSources } from './thread-state.ts';

export type KnownOutcome = Exclude<AppendOutcome, 'unknown' | 'too_large'>;

/** What happens to one slice after it was decided. It goes no further when its commit is not in the log. */
export type SliceStep =
  | 'append'
  | 'pay'
  /** The slice's own hold on its deliveries ends. */
  | 'release';

/** What is known when a list of commits is about to be paid again. */
export interface Repayment {
  /** Version of the commit that decided the redelivered input, or where a recovery begins. */
  readonly from: number;
  /** Stretch of the log that this lane has paid itself. */
  readonly stretch: Stretch | null;
}

/** Commits with versions in `[from, to)` were paid by this lane. (V1) */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface ProcessorProtocol {
  // The heart. Broken: late completions accepted, unstable refusals, a closed thread that leaves calls pending.
  readonly decide: typeof decide;
  readonly evolve: typeof evolve;
  readonly extendTranscript: typeof extendTranscript;

  /** Judged with the state at the end of the list being paid. Broken: unfiltered, or a detached call owes nothing. (V5, V9) */
  readonly isOwed: typeof isOwed;
  /** Broken: two deliveries of one input are not merged. (V8) */
  readonly mergeInputs: (items: readonly InputItem[]) => readonly InputItem[];
  /** Steps 3 and 4. Broken: paid before the append, released before the payment. */
  readonly sliceSteps: readonly SliceStep[];
  /** Whether our append with an unknown outcome happened; `stored` is what the log holds at its version. Broken: always no. */
  readonly wasAppended: (ours: Commit, stored: Commit | null) => boolean;
  /** Somebody moved the thread: which inputs of the slice are finished? None. Broken: all of them. */
  readonly finishedByConflict: (items: readonly InputItem[]) => readonly InputItem[];
  /** Some inputs were decided before: which are finished, once those found were paid? Those. Broken: all of them. (V8) */
  readonly finishedByDuplicate: (found: readonly InputItem[], items: readonly InputItem[]) => readonly InputItem[];
  /** The slice failed: which inputs are given up? None: it is tried again at the head of its lane. Broken: the first. (V6) */
  readonly finishedByFault: (items: readonly InputItem[]) => readonly InputItem[];
  /** Broken: head not read, input not looked up, neither, or looked up once for all reloads. (V4) */
  readonly confirmRefusal: (
    log: ThreadLog,
    key: ThreadKey,
    decidedOn: number,
    inputId: string,
  ) => Promise<Confirmation>;
  /** Commits met on a reload that this lane did not pay: which of them does it pay now? All. Broken: none. (V1) */
  readonly learnedDebts: (debts: readonly Debt[]) => readonly Debt[];
  /** From which version a redelivery is paid; null when everything is paid. Broken: its own version always. (V1, V5) */
  readonly repayFrom: (repayment: Repayment) => number | null;
  /** List and state from one reading. Broken: state from the cache, from another head, a list cut by the snapshot. (V5) */
  readonly readThread: (sources: ThreadSources, key: ThreadKey, debtsFrom: number | null) => Promise<ReadThread>;
  /** Which of the debts read on a redelivery are paid. Broken: none, own commit only, new ids. */
  readonly repaidDebts: (debts: readonly Debt[], repayment: Repayment) => readonly Debt[];
  /** Pays, then takes over what an ended completion held; null when there was nothing to wait for. Broken: its deliveries are
   * released first. (V1) */
  readonly passOn: (hold: Hold, ended: Hold | null, pay: () => Promise<void> | null) => Promise<void> | null;
  /** The completion keeps the deliveries that led to it. Broken: it does not. */
  readonly holdForCompletion: (completion: Hold, slice: Hold) => void;
  /** Input id of a completion's answer. Broken: random, or different for result and failure. (V2) */
  readonly answerId: (completionId: string, kind: CompletionAnswer['kind']) => string;
  /** Lanes and caches belong to this. Broken: the partition alone. (V6) */
  readonly assignmentId: (assignment: Assignment) => string;
  /** A due timer becomes an input, then it is dropped. Broken: the other way round. */
  readonly fireTimer: (publish: () => Promise<void>, drop: () => Promise<void>) => Promise<void>;
}

export const soundProtocol: ProcessorProtocol = {
  decide,
  evolve,
  extendTranscript,
  isOwed,
  mergeInputs,
  sliceSteps: ['append', 'pay', 'release'],
  wasAppended: (ours, stored) => stored !== null && stored.nonce === ours.nonce,
  finishedByConflict: () => [],
  finishedByDuplicate: (found) => found,
  finishedByFault: () => [],
  confirmRefusal,
  learnedDebts: (debts) => debts,
  repayFrom: ({ from, stretch }) => {
    if (stretch === null || from < stretch.from) return from;
    return from < stretch.to ? null : stretch.to;
  },
  readThread,
  repaidDebts: (debts) => debts,
  passOn: (hold, ended, pay) => {
    const paid = pay();
    if (ended === null) return paid;
    const takeOver = (): void => hold.absorb(ended);
    if (paid !== null) return paid.then(takeOver);
    takeOver();
    return null;
  },
  holdForCompletion: (completion, slice) => completion.absorb(slice.retain()),
  answerId: (completionId) => inputIds.completion(completionId),
  assignmentId: ({ partition, generation }) => `${partition}.${generation}`,
  fireTimer: async (publish, drop) => {
    await publish();
    await drop();
  },
};
