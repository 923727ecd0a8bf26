// The pure part of a slice: several inputs folded into the content of one commit.
//
// Invariants:
//   S1. Each input is decided on the state after the ones before it, all at one moment.
//   S2. A refusal without a commit is never part of a larger slice: the slice stops before it, and it is decided alone
//       next time, on the state that is then stored. (V8, V4)
//   S3. A commit is bounded: above `commitBytesMax` it takes no further input.
//   S4. An input whose decision throws is isolated the same way: the ones before it are committed, it is decided alone.
import type {
  decide,
  extendTranscript,
  ModelMessage,
  Moment,
  RecordedEvent,
  StableRefusal,
  Thread,
  ThreadEffect,
  TranscriptTail,
} from '@dormouse/thread';
import { heapBytesOf } from '../state/heap-weight.ts';
import { foldTranscript } from '../state/thread-state.ts';
import type { InputItem } from './slice-item.ts';

/** The content of a commit, and the thread after it. */
export interface DecidedSlice {
  readonly outcome: 'commit';
  readonly items: readonly InputItem[];
  readonly events: readonly RecordedEvent[];
  readonly effects: readonly ThreadEffect[];
  readonly thread: Thread;
  readonly tail: TranscriptTail;
  /** Transcript messages that the events made final. */
  readonly messages: readonly ModelMessage[];
}

export interface RefusedInput {
  readonly outcome: 'refused';
  readonly item: InputItem;
  readonly refusal: StableRefusal;
}

export interface Heart {
  readonly decide: typeof decide;
  readonly extendTranscript: typeof extendTranscript;
}

/** @throws what `decide` throws about the first item; the others are left for the next slice. */
export function decideSlice(
  heart: Heart,
  before: { readonly thread: Thread; readonly tail: TranscriptTail },
  items: readonly InputItem[],
  moment: Moment,
  commitBytesMax: number,
): DecidedSlice | RefusedInput {
  let { thread, tail } = before;
  const taken: InputItem[] = [];
  const events: RecordedEvent[] = [];
  const effects: ThreadEffect[] = [];
  const messages: ModelMessage[] = [];
  let bytes = 0;
  for (const item of items) {
    if (bytes > commitBytesMax) break; // (S3)
    const decision = decideNext(heart, thread, item, moment, taken.length === 0);
    if (decision === null) break; // (S4)
    if (!decision.committed) {
      if (taken.length === 0) return { outcome: 'refused', item, refusal: decision.refusal };
      break; // (S2)
    }
    thread = decision.thread;
    taken.push(item);
    for (const effect of decision.effects) effects.push(effect);
    if (items.length > 1) bytes += heapBytesOf(decision.events);
    for (const event of decision.events) events.push(event);
    const folded = foldTranscript(heart, tail, decision.events);
    tail = folded.tail;
    for (const message of folded.messages) messages.push(message);
  }
  return { outcome: 'commit', items: taken, events, effects, thread, tail, messages };
}

function decideNext(
  heart: Heart,
  thread: Thread,
  item: InputItem,
  moment: Moment,
  first: boolean,
): ReturnType<typeof decide> | null {
  try {
    return heart.decide(thread, item.input, moment);
  } catch (error) {
    if (first) throw error;
    return null;
  }
}
