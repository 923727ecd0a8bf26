// The transcript of one thread as its children and forks begin with it: up to where each of them was spawned or forked. Read from
// the log, never copied. (M6)
//
// Invariants:
//   N1. No event is read twice: who begins later reads on from where the one before began.
//   N2. What was passed is known where children were spawned and where somebody asked, the newest such places; elsewhere it is not.
//   N3. A log that ends before the place asked for throws: an unknown history is never an empty one. R54
import { Fault, type ThreadKey } from '@dormouse/ports';
import { emptyTail, type RecordedEvent, type ThreadPosition, type TranscriptTail } from '@dormouse/thread';
import { openCommit } from '../../envelope.ts';
import { heapBytesOf } from '../heap-weight.ts';
import { commitsFrom } from '../thread-state.ts';
import { TranscriptWindow } from '../transcript-window.ts';
import type { PromptSources } from './prompt.ts';

/** Where a thread goes on from another one. */
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
const placeBytes = 150;
/** Of an empty one. */
const baseBytes = 1_000;

export class InheritedTranscript {
  /** Messages of the thread itself, as far as it was read; shared by the prompts of all who begin with it. */
  readonly messages: TranscriptWindow;
  readonly key: ThreadKey;
  readonly #sources: PromptSources;
  readonly #places = new Map<number, Place>([[0, { tail: emptyTail, origin: null }]]);
  #placesBytes = 0;
  #tailBytes = 0;
  #origin: Origin | null = null;
  #position = 0;
  /** Version of the commit that the next event is in. */
  #commit = 0;
  #tail = emptyTail;
  #reading: Promise<void> | null = null;

  /** More than `bytesMax` of messages are not kept in memory: the older ones are read by the prompts that want them. */
  constructor(sources: PromptSources, key: ThreadKey, bytesMax: number) {
    this.#sources = sources;
    this.key = key;
    this.messages = new TranscriptWindow(0, bytesMax);
  }

  /** Estimated heap bytes. */
  get bytes(): number {
    return baseBytes + this.messages.bytes + this.#placesBytes + this.#tailBytes;
  }

  /**
   * How it stood there; null when that was passed without a look. (N2)
   * @throws Fault when the log cannot be read, or ends before. The next one reads on from there.
   */
  async at(position: number): Promise<Place | null> {
    for (;;) {
      const place = this.#places.get(position);
      if (place !== undefined) return place;
      if (this.#reading === null && this.#position >= position) return null;
      this.#reading ??= this.#readTo(position).finally(() => {
        this.#tailBytes = heapBytesOf(this.#tail);
        this.#reading = null;
      });
      await this.#reading;
    }
  }

  /** (N1) */
  async #readTo(position: number): Promise<void> {
    for await (const commit of commitsFrom(this.#sources, this.key, this.#commit, position)) {
      this.#commit = commit.version;
      for (const event of openCommit(commit).events.slice(this.#position - commit.version)) {
        if (this.#position === position) return this.#remember();
        this.#fold(event);
      }
      this.#commit = commit.version + commit.count;
    }
    if (this.#position < position)
      throw new Fault('STATE_UNAVAILABLE', `${this.key.thread} ends before event ${position}`); // (N3)
    this.#remember();
  }

  #fold(event: RecordedEvent): void {
    if (event.type === 'ThreadOpened' && event.parent !== undefined) this.#origin = { at: event.parent, by: 'child' };
    if (event.type === 'ThreadForked') this.#origin = { at: event.from, by: 'fork' };
    const { tail, messages } = this.#sources.folds.extendTranscript(this.#tail, event);
    this.messages.append(messages);
    this.#tail = tail;
    this.#position += 1;
    if (event.type === 'ChildSpawned') this.#remember();
  }

  /** (N2) */
  #remember(): void {
    if (this.#places.has(this.#position)) return;
    const place = { tail: this.#tail, origin: this.#origin };
    this.#places.set(this.#position, place);
    this.#placesBytes += bytesOf(place);
    for (const [oldest, each] of this.#places) {
      if (this.#places.size <= placesMax) break;
      this.#places.delete(oldest);
      this.#placesBytes -= bytesOf(each);
    }
  }
}

/** What is not shared with the places beside it. */
const bytesOf = ({ tail: { behind, round } }: Place): number =>
  placeBytes + 8 * (behind.length + (round?.calls.length ?? 0));
