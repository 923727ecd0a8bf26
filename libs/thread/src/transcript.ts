// What the model sees, as an incremental fold. Fragments are only ever appended; a prompt is a prefix of them.
import type { RecordedEvent } from './event.ts';
import type { ModelMessage } from './model-message.ts';

/** What has been folded and not yet shown: plain JSON, part of a snapshot, bounded by one round and its messages. */
export interface TranscriptTail {
  /** Messages shown so far; a prompt is the first `length` messages. */
  readonly length: number;
}

export const emptyTail: TranscriptTail = { length: 0 };

/** Folds one event: messages become final when a completion is requested, and never change after. */
export function extendTranscript(tail: TranscriptTail, event: RecordedEvent): { readonly tail: TranscriptTail; readonly messages: readonly ModelMessage[] } {
  throw new Error(`not yet: ${tail.length} ${event.type}`);
}

/** The whole transcript of some events, from the first on. */
export function transcript(events: readonly RecordedEvent[]): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  let tail = emptyTail;
  for (const event of events) {
    const step = extendTranscript(tail, event);
    tail = step.tail;
    messages.push(...step.messages);
  }
  return messages;
}
