// The pure part of a slice: several inputs folded into what one commit will say.
//
// Invariants:
//   S1. Each input is decided on the state after the ones before it, all at one moment.
//   S2. A refusal without a commit never rides along: the slice stops before it, and it is decided alone next time, on the
//       state that is then stored. (V8, V4)
//   S3. An input whose decision throws is isolated the same way: the ones before it are committed, it is met alone.
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
import type { InputItem } from './slice-item.ts';

export interface DecidedSlice {
  readonly outcome: 'commit';
  readonly items: readonly InputItem[];
  readonly events: readonly RecordedEvent[];
  readonly effects: readonly ThreadEffect[];
  readonly thread: Thread;
  readonly tail: TranscriptTail;
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
): DecidedSlice | RefusedInput {
  let { thread, tail } = before;
  const taken: InputItem[] = [];
  const events: RecordedEvent[] = [];
  const effects: ThreadEffect[] = [];
  const messages: ModelMessage[] = [];
  for (const item of items) {
    const decision = decideNext(heart, thread, item, moment, taken.length === 0);
    if (decision === null) break; // (S3)
    if (!decision.committed) {
      if (taken.length === 0) return { outcome: 'refused', item, refusal: decision.refusal };
      break; // (S2)
    }
    thread = decision.thread;
    taken.push(item);
    effects.push(...decision.effects);
    for (const event of decision.events) {
      const step = heart.extendTranscript(tail, event);
      tail = step.tail;
      messages.push(...step.messages);
      events.push(event);
    }
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
