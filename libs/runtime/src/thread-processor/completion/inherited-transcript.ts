// The transcript of one thread as its children and forks inherit it: up to where each of them was spawned or forked.
// Read from the log, never copied. (transcript M6)
//
// Invariants:
//   N1. No event is read twice: a later request reads on from where the reading before ended.
//   N2. Of the passed places, those of spawned children and the requested ones are recorded, the newest of them.
//   N3. A log that ends before the requested place throws, and so does one with a gap after the last event read: an
//       unknown history is never an empty one. R54
import { Fault, type ThreadKey } from '@dormouse/ports';
import {
  emptyTail,
  GrowingLists,
  type RecordedEvent,
  type ThreadPosition,
  type TranscriptTail,
} from '@dormouse/thread';
import { openCommit } from '../../log/envelope.ts';
import { heapBytesOf } from '../state/heap-weight.ts';
import { commitsFrom } from '../state/thread-state.ts';
import { TranscriptWindow } from '../state/transcript-window.ts';
import type { PromptSources } from './prompt.ts';

/** Where a thread inherits from another one. */
export interface Origin {
  readonly at: ThreadPosition;
  readonly by: 'child' | 'fork';
}

/** How the transcript stood after some event. */
export interface Place {
  readonly tail: TranscriptTail;
  readonly origin: Origin | null;
}

const placesMax = 1_000;
const placeBytes = 200;
/** Of an empty transcript. */
const baseBytes = 1_000;

export class InheritedTranscript {
  /** All messages of the thread itself that were read; shared by the prompts that begin with them. */
  readonly messages = new TranscriptWindow(0, Number.POSITIVE_INFINITY);
  readonly key: ThreadKey;
  readonly #sources: PromptSources;
  readonly #places = new Map<number, Place>([[0, { tail: emptyTail, origin: null }]]);
  /** Positions that are requested, and not reached yet. */
  readonly #wanted = new Set<number>();
  #placesBytes = 0;
  #tailBytes = 0;
  #origin: Origin | null = null;
  #position = 0;
  #tail = emptyTail;
  #lists = new GrowingLists();
  #reading: Promise<void> | null = null;

  constructor(sources: PromptSources, key: ThreadKey) {
    this.#sources = sources;
    this.key = key;
  }

  /** Estimated heap bytes. */
  get bytes(): number {
    return baseBytes + this.messages.bytes + this.#placesBytes + this.#tailBytes;
  }

  /**
   * The transcript at `position`; null when the reading has passed it unrecorded. (N2)
   * @throws Fault when the log cannot be read, or ends before. The next call reads on from there.
   */
  async at(position: number): Promise<Place | null> {
    for (;;) {
      const place = this.#places.get(position);
      if (place !== undefined) return place;
      if (this.#reading === null && this.#position >= position) return null;
      this.#wanted.add(position);
      this.#reading ??= this.#read();
      try {
        await this.#reading;
      } catch (error) {
        if (!this.#places.has(position)) throw error;
      }
    }
  }

  /** As far as any position is requested. */
  async #read(): Promise<void> {
    try {
      await this.#readTo(Math.max(...this.#wanted));
    } catch (error) {
      this.#wanted.clear(); // the waiting requests fail with this error
      throw error;
    } finally {
      this.#reading = null;
      this.#tailBytes = heapBytesOf(this.#tail);
    }
  }

  /** To the end of the commit that holds the event. (N1) */
  async #readTo(position: number): Promise<void> {
    for await (const commit of commitsFrom(this.#sources, this.key, this.#position, position)) {
      if (commit.version !== this.#position) throw this.#isMissing(this.#position + 1); // (N3)
      for (const event of openCommit(commit).events) this.#fold(event);
    }
    if (this.#position < position) throw this.#isMissing(position);
  }

  #isMissing(position: number): Fault {
    return new Fault('STATE_UNAVAILABLE', `event ${position} of ${this.key.thread} is missing`);
  }

  #fold(event: RecordedEvent): void {
    if (event.type === 'ThreadOpened' && event.parent !== undefined) this.#origin = { at: event.parent, by: 'child' };
    if (event.type === 'ThreadForked') this.#origin = { at: event.from, by: 'fork' };
    const { tail, messages } = this.#sources.folds.extendTranscript(this.#tail, event, this.#lists);
    this.messages.append(messages);
    this.#tail = tail;
    this.#position += 1;
    if (this.#wanted.delete(this.#position) || event.type === 'ChildSpawned') this.#remember();
  }

  /** (N2) */
  #remember(): void {
    const place = { tail: this.#tail, origin: this.#origin };
    this.#lists = new GrowingLists(); // what is remembered does not change
    this.#places.set(this.#position, place);
    this.#placesBytes += bytesOf(place);
    for (const [oldest, each] of this.#places) {
      if (this.#places.size <= placesMax) break;
      this.#places.delete(oldest);
      this.#placesBytes -= bytesOf(each);
    }
  }
}

/** Its own lists; what they hold is the thread's. */
const bytesOf = ({ tail: { behind, round } }: Place): number =>
  placeBytes + 8 * behind.length + 24 * (round?.calls.length ?? 0);
