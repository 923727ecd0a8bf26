// The messages of one thread in memory: an append-only window over its transcript, shared by reference between the lane and
// the prompts of its completions. Owns what is kept; older messages are read from the log by whoever wants them.
//
// Invariants:
//   T1. Message `ordinal` never changes; appending never moves one. A prompt is the first `length` of them. I-15
//   T2. Appending costs what is appended. Beyond the byte limit the older half is dropped at once, so that the cost per
//       message stays constant and a thread of any age needs bounded memory.
import type { ModelMessage } from '@dormouse/thread';
import { heapBytesOf } from './heap-weight.ts';

export class TranscriptWindow {
  #from: number;
  #messages: ModelMessage[] = [];
  #bytes = 0;
  readonly #bytesMax: number;

  /** An empty window that begins at message `from`. */
  constructor(from: number, bytesMax: number) {
    this.#from = from;
    this.#bytesMax = bytesMax;
  }

  /** Ordinal of the first message kept. */
  get from(): number {
    return this.#from;
  }

  /** Estimated heap bytes of the messages kept. */
  get bytes(): number {
    return this.#bytes;
  }

  append(messages: readonly ModelMessage[]): void {
    for (const message of messages) {
      this.#messages.push(message);
      this.#bytes += heapBytesOf(message);
    }
    if (this.#bytes > this.#bytesMax) this.#dropOlderHalf();
  }

  /** Messages with ordinals in `[from, to)`, or null when some of them are no longer kept, or all: the window may be further on. */
  slice(from: number, to: number): readonly ModelMessage[] | null {
    return from < this.#from || to < from ? null : this.#messages.slice(from - this.#from, to - this.#from);
  }

  /** Puts messages back that were dropped; `older` ends where the window begins. Ignored when they would not fit. */
  restore(older: readonly ModelMessage[]): void {
    const bytes = heapBytesOf(older);
    if (older.length !== this.#from || this.#bytes + bytes > this.#bytesMax) return;
    this.#messages = [...older, ...this.#messages];
    this.#bytes += bytes;
    this.#from = 0;
  }

  #dropOlderHalf(): void {
    const dropped = Math.floor(this.#messages.length / 2); // the newest stays, whatever it weighs
    this.#messages = this.#messages.slice(dropped); // (T2)
    this.#from += dropped;
    this.#bytes = heapBytesOf(this.#messages);
  }
}
