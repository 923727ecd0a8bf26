// Removes repeats from what a stream shows of a running completion: a late reader's "so far" overlaps the live deltas.
//
// Invariants:
//   D1. Of one attempt, completion, kind and index, every character is given at most once, in order.
//   D2. A new attempt or completion starts over; an old attempt is never shown again.
//   D3. A completion that has ended is not shown: its record has the whole text. Deltas come on another way than
//       commits, and later. The last `endedMax` are known.
import type { Delta } from '@dormouse/ports';

const endedMax = 100;

export class DeltaCutter {
  private completionId = '';
  private attempt = 0;
  private readonly shown = new Map<string, number>();

  private readonly ended = new Set<string>();

  /** (D3) */
  end(completionId: string): void {
    this.ended.add(completionId);
    const [oldest] = this.ended;
    if (this.ended.size > endedMax && oldest !== undefined) this.ended.delete(oldest);
  }

  /** The part of a delta that is new, or null. */
  cut(delta: Delta): Delta | null {
    if (this.ended.has(delta.completionId)) return null; // (D3)
    if (delta.completionId !== this.completionId || delta.attempt > this.attempt) this.restart(delta);
    if (delta.attempt < this.attempt) return null; // (D2)
    const name = `${delta.kind}:${delta.index}`;
    const shown = this.shown.get(name) ?? 0;
    const end = delta.offset + delta.text.length;
    if (end <= shown) return null; // (D1)
    this.shown.set(name, end);
    if (delta.offset >= shown) return delta;
    return { ...delta, offset: shown, text: delta.text.slice(shown - delta.offset) };
  }

  private restart(delta: Delta): void {
    this.completionId = delta.completionId;
    this.attempt = delta.attempt;
    this.shown.clear();
  }
}
