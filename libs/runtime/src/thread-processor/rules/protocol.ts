// The functions of the four steps that the simulator can replace by a broken variant, to prove that its checkers notice
// (mutation check). Production always runs `soundProtocol`; nothing here is a setting, and no operator can reach it.
//
// How to break it: `createThreadProcessor({...deps, protocol: { confirmRefusal: async () => ({ refusal: 'final' })
// }})`. A broken variant replaces a whole function; it may call the sound one, and close over state of its own. What is
// not here is broken at a port: no unique index, a timer dropped twice, a claim that is not kept.
import type { Assignment } from '@dormouse/ports';
import { decide, evolve, extendTranscript, inputIds, isOwed } from '@dormouse/thread';
import type { CompletionAnswer } from '../completion/completion-run.ts';
import { createCompletionSlots } from '../completion/completion-slots.ts';
import { pay } from '../pay/payment.ts';
import { commitSlice } from '../slice/commit-slice.ts';
import { confirmRefusal } from '../slice/confirm-refusal.ts';
import { mergeInputs } from '../slice/merge-inputs.ts';
import { payForeign } from '../slice/run-slice.ts';
import { payAgain, repayFrom } from '../slice/settle.ts';
import type { SliceProtocol } from '../slice/slice-deps.ts';
import { readThread } from '../state/thread-state.ts';

export interface ProcessorProtocol extends SliceProtocol {
  /** Broken: two deliveries of one input are not merged. (V8) */
  readonly mergeInputs: typeof mergeInputs;
  /** Input id of a completion's answer. Broken: random, or different for result and failure. (V2) */
  readonly answerId: (completionId: string, kind: CompletionAnswer['kind']) => string;
  /** How completions of tenants share what may run at once. Broken: first come, first served. (completion-slots L2) */
  readonly createSlots: typeof createCompletionSlots;
  /** Lanes and caches belong to this. Broken: the partition alone. (V6) */
  readonly assignmentId: (assignment: Assignment) => string;
}

export const soundProtocol: ProcessorProtocol = {
  decide,
  evolve,
  extendTranscript,
  isOwed,
  mergeInputs,
  commitSlice,
  wasAppended: (ours, stored) => stored !== null && stored.nonce === ours.nonce,
  confirmRefusal,
  readThread,
  pay,
  payForeign,
  repayFrom,
  payAgain,
  createSlots: createCompletionSlots,
  answerId: (completionId) => inputIds.completion(completionId),
  assignmentId: ({ partition, generation }) => `${partition}.${generation}`,
};
