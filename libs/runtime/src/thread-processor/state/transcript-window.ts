// The messages of one thread in memory: an append-only window over its transcript, shared by reference between the lane
// and the prompts of its completions. Owns what is kept; a prompt that needs older messages reads them from the log.
//
// Invariants:
//   T1. Message `ordinal` never changes; appending never moves one. A prompt is the first `length` of them. I-15
//   T2. Appending costs what is appended. Beyond the byte limit the older half is dropped at once, so that the cost per
//       message stays constant and a thread of any age needs bounded memory.
//   T3. What a message weighs is found once, when it is appended.
import type { ModelMessage } from '@dormouse/thread';
import { heapBytesOf } from './heap-weight.ts';

interface Kept {
  readonly message: ModelMessage;
  /** Estimated heap bytes. */
  readonly bytes: number;
}

const keptOf = (message: ModelMessage): Kept => ({ message, bytes: heapBytesOf(message) });
const messageOf = ({ message }: Kept): ModelMessage => message;
const sum = (kept: readonly Kept[]): number => kept.reduce((bytes, each) => bytes + each.bytes, 0);

export class TranscriptWindow {
  #from: number;
  #kept: Kept[] = [];
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
      const kept = keptOf(message);
      this.#kept.push(kept);
      this.#bytes += kept.bytes;
    }
    if (this.#bytes > this.#bytesMax) this.#dropOlderHalf();
  }

  /** Messages with ordinals in `[from, to)`; null when some or all are no longer kept: the window may be further on. */
  slice(from: number, to: number): readonly ModelMessage[] | null {
    if (from < this.#from || to < from) return null;
    return this.#kept.slice(from - this.#from, to - this.#from).map(messageOf);
  }

  /**
   * The newest messages before `to` that are kept: `countMax` at most, and as many as weigh no more than `bytesMax`
   * together.
   */
  newest(to: number, countMax: number, bytesMax: number): readonly ModelMessage[] {
    const end = Math.min(Math.max(0, to - this.#from), this.#kept.length);
    let begin = end;
    for (let bytes = 0; begin > 0 && end - begin < countMax; begin--) {
      bytes += this.#kept[begin - 1]?.bytes ?? 0;
      if (bytes > bytesMax) break;
    }
    return this.#kept.slice(begin, end).map(messageOf);
  }

  /** Puts messages back that were dropped; `older` ends where the window begins. Ignored when they would not fit. */
  restore(older: readonly ModelMessage[]): void {
    if (older.length !== this.#from) return;
    const kept = older.map(keptOf);
    const bytes = sum(kept);
    if (this.#bytes + bytes > this.#bytesMax) return;
    this.#kept = [...kept, ...this.#kept];
    this.#bytes += bytes;
    this.#from = 0;
  }

  #dropOlderHalf(): void {
    const dropped = Math.floor(this.#kept.length / 2); // the newest stays, whatever it weighs
    this.#kept = this.#kept.slice(dropped); // (T2)
    this.#from += dropped;
    this.#bytes = sum(this.#kept);
  }
}
