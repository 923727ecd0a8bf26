// The histories that children and forks begin with, those used lately, within a budget of estimated bytes.
//
// Invariants:
//   H1. Losing one costs reading logs again, never correctness. One that is larger than the whole budget is not kept.
//   H2. Who asks for one that is being read waits for that reading; a reading that fails is not remembered.
import type { ModelMessage } from '@dormouse/thread';
import { heapBytesOf } from '../heap-weight.ts';

type History = readonly ModelMessage[];

export class Histories {
  readonly #kept = new Map<string, { readonly history: History; readonly bytes: number }>();
  readonly #reading = new Map<string, Promise<History>>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws what `read` throws. */
  async get(name: string, read: () => Promise<History>): Promise<History> {
    const kept = this.#kept.get(name);
    if (kept === undefined) return this.#reading.get(name) ?? this.#read(name, read); // (H2)
    this.#kept.delete(name); // last in the map is the most recently used
    this.#kept.set(name, kept);
    return kept.history;
  }

  #read(name: string, read: () => Promise<History>): Promise<History> {
    const reading = read()
      .then((history) => this.#keep(name, history))
      .finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  }

  #keep(name: string, history: History): History {
    const bytes = heapBytesOf(history);
    if (bytes > this.#bytesMax) return history; // (H1)
    this.#kept.set(name, { history, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#kept.delete(oldest);
      this.#bytes -= entry.bytes;
    }
    return history;
  }
}
