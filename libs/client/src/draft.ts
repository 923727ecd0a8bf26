// What a model has said so far, from the deltas of the stream. Pure.
//
// Invariants:
//   D1. A new attempt replaces the draft of the one before; a delta of an older attempt changes nothing.
//   D2. A delta that repeats what is there, or begins before its end, adds nothing twice.
import type { Delta } from './follow.ts';

export interface Draft {
  readonly completionId: string;
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  /** By index of the call. */
  readonly toolInputs: readonly string[];
}

/** (D1, D2) */
export function withDelta(drafts: readonly Draft[], delta: Delta): readonly Draft[] {
  const { completion_id: completionId, attempt, kind, index, offset, text } = delta;
  const known = drafts.find((draft) => draft.completionId === completionId);
  if (known !== undefined && known.attempt > attempt) return drafts;
  const empty: Draft = { completionId, attempt, text: '', reasoning: '', toolInputs: [] };
  const before = known?.attempt === attempt ? known : empty;
  const spliced = (so: string): string => so.slice(0, offset) + text;
  const next: Draft =
    kind === 'tool_input'
      ? { ...before, toolInputs: withInput(before.toolInputs, index, spliced(before.toolInputs[index] ?? '')) }
      : { ...before, [kind]: spliced(before[kind]) };
  return known === undefined ? [...drafts, next] : drafts.map((draft) => (draft === known ? next : draft));
}

const withInput = (inputs: readonly string[], index: number, text: string): readonly string[] =>
  Array.from({ length: Math.max(inputs.length, index + 1) }, (_, place) =>
    place === index ? text : (inputs[place] ?? ''),
  );
