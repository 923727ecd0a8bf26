// A refusal that leaves no commit becomes final only when the log agrees. (V4)
//
// Invariants:
//   Q1. First: the head of the log equals the version that was decided on. Then: the input is not in the log. Both
//       reads are repeated after every reload, in this order: in the other order, or with one read alone, a stale
//       state could refuse an input for ever.
import type { Commit, ThreadKey, ThreadLog } from '@dormouse/ports';

export type Confirmation =
  /** No state of the thread can accept this input any more. */
  | { readonly refusal: 'final' }
  /** Decided on a state that is not the head: load again, decide again. */
  | { readonly refusal: 'stale' }
  /** Not refused at all: this commit decided the input before. */
  | { readonly refusal: 'decided_before'; readonly commit: Commit };

export async function confirmRefusal(
  log: ThreadLog,
  key: ThreadKey,
  decidedOn: number,
  inputId: string,
): Promise<Confirmation> {
  const newer = await log.read(key, decidedOn, 1);
  if (newer.length > 0) return { refusal: 'stale' };
  const [commit = null] = await log.findByInputs(key, [inputId]);
  return commit === null ? { refusal: 'final' } : { refusal: 'decided_before', commit };
}
