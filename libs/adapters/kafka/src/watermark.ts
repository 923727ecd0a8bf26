// Which offsets of one partition are finished: the low watermark that may be committed, and the finished offsets above
// it, which are stored in the metadata of the commit. Pure.
//
// Invariants:
//   W1. The watermark never passes an offset that was delivered and is not finished. (K7 of the memory bus)
//   W2. An offset that the metadata marks as finished is finished; what does not fit is delivered again: no harm.
//   W3. Metadata of another writer, or damaged metadata, is ignored.

/** Bytes of the bitmap; in base64 and with its mark it stays below Kafka's usual 4 KiB of metadata. */
const bitmapBytesMax = 2_950;
const mark = 'd1:';

export class Watermark {
  /** Delivered and not finished, with the times of their records, oldest first. */
  readonly #open = new Map<number, number>();
  /** Finished in an earlier assignment, above the offset where this one began. */
  readonly #before: Set<number>;
  /** The highest offset known to have been delivered in an earlier assignment; every lower offset was delivered too. */
  readonly deliveredBefore: number;
  #next: number;
  /** Finished above the watermark in this assignment. */
  readonly #finished = new Set<number>();

  /** `from`: the committed offset, 0 when there is none. */
  constructor(from: number, metadata: string | null) {
    this.#next = from;
    const finished = finishedIn(from, metadata);
    this.#before = new Set(finished);
    this.deliveredBefore = finished.at(-1) ?? from - 1;
  }

  /**
   * `at`: the time of its record. False when this offset was delivered before, or is known to be finished: then it is
   * not delivered.
   */
  deliver(offset: number, at = 0): boolean {
    if (offset < this.#next) return false;
    this.#next = offset + 1;
    if (this.#before.delete(offset)) {
      this.#note(offset);
      return false;
    }
    this.#open.set(offset, at);
    return true;
  }

  /** False when the offset was not open. */
  finish(offset: number): boolean {
    if (!this.#open.delete(offset)) return false;
    this.#note(offset);
    return true;
  }

  /** The offset that is delivered next. */
  get next(): number {
    return this.#next;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** The first offset that is not finished. (W1) */
  get low(): number {
    const [oldest = this.#next] = this.#open.keys();
    return oldest;
  }

  /** The time of the oldest record that is not finished; null for none. */
  get oldestAt(): number | null {
    const [oldest = null] = this.#open.values();
    return oldest;
  }

  /** What to commit now. (W2) */
  commit(): { readonly offset: number; readonly metadata: string } {
    const { low } = this;
    for (const offset of this.#finished) if (offset < low) this.#finished.delete(offset);
    return { offset: low, metadata: metadataOf(low, this.#finished, this.#before) };
  }

  #note(offset: number): void {
    if (this.#open.size > 0) this.#finished.add(offset);
    else this.#finished.clear();
  }
}

function metadataOf(low: number, ...finished: readonly ReadonlySet<number>[]): string {
  const bytes = Buffer.alloc(bitmapBytesMax);
  let length = 0;
  for (const offsets of finished) {
    for (const offset of offsets) {
      const index = (offset - low) >> 3;
      if (offset < low || index >= bitmapBytesMax) continue;
      bytes[index] = (bytes[index] ?? 0) | (1 << ((offset - low) & 7));
      length = Math.max(length, index + 1);
    }
  }
  return length === 0 ? '' : `${mark}${bytes.toString('base64', 0, length)}`;
}

/** (W3) */
function finishedIn(from: number, metadata: string | null): readonly number[] {
  if (metadata === null || !metadata.startsWith(mark)) return [];
  const bytes = Buffer.from(metadata.slice(mark.length), 'base64');
  const finished: number[] = [];
  for (const [index, byte] of bytes.entries())
    for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) finished.push(from + index * 8 + bit);
  return finished;
}
