// The histories that children and forks begin with, of the threads used lately, within a budget of estimated bytes.
//
// Invariants:
//   H1. Losing one costs reading its log again, never correctness. One larger than the whole budget is not kept.
//   H2. Children of one thread share one reading of it, whatever their order; a fork may have its own.
//   H3. What a fork inherits may be erased while it goes on: then the first commit of that thread is another one, and
//       what was read before is dropped.
import type { Prompt, ThreadKey, TenantId } from '@dormouse/ports';
import { inherit, type ThreadPosition } from '@dormouse/thread';
import { InheritedTranscript, type Origin, type Place } from './inherited-transcript.ts';
import { joinedPrompts, promptOf, promptOfMessages, type PromptSources } from './prompt.ts';

interface Entry {
  readonly transcript: InheritedTranscript;
  /** The bytes that it weighed last. */
  bytes: number;
  /** Of the thread's first commit; null for one that was not looked at. (H3) */
  firstHash: string | null;
}

interface Found extends Place {
  readonly transcript: InheritedTranscript;
}

export class Histories {
  readonly #kept = new Map<string, Entry>();
  readonly #sources: PromptSources;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(sources: PromptSources, bytesMax: number) {
    this.#sources = sources;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The history that a thread with this origin inherits: the messages of that thread up to there, closed for the heir,
   * after those that it inherits itself.
   * @throws Fault when a log cannot be read.
   */
  async upTo(tenant: TenantId, { at, by }: Origin): Promise<Prompt> {
    if (by === 'fork') await this.#dropErased({ tenant, thread: at.threadId }); // (H3)
    // A fork may begin at a place that the shared reading passed unrecorded: it gets a reading of its own.
    // (inherited-transcript N2)
    const found = (await this.#ask(tenant, at, '')) ?? (await this.#ask(tenant, at, `:${at.position}`));
    if (found === null) throw new Error(`(N2) ${at.threadId} was read to event ${at.position} and is not known there`);
    const { transcript, tail, origin } = found;
    const said = promptOf(this.#sources, transcript.key, transcript.messages, tail.length);
    const whole = joinedPrompts(said, promptOfMessages(this.#sources, transcript.key, inherit(tail, by)));
    return origin === null ? whole : joinedPrompts(await this.upTo(tenant, origin), whole);
  }

  async #ask(tenant: TenantId, { threadId, position }: ThreadPosition, aside: string): Promise<Found | null> {
    const name = `${tenant}:${threadId}${aside}`;
    const entry: Entry = this.#kept.get(name) ?? {
      transcript: new InheritedTranscript(this.#sources, { tenant, thread: threadId }),
      bytes: 0,
      firstHash: null,
    };
    const { transcript } = entry;
    this.#kept.delete(name); // last in the map is the most recently used
    this.#kept.set(name, entry);
    try {
      const place = await transcript.at(position); // (H2)
      return place === null ? null : { transcript, ...place };
    } finally {
      if (this.#kept.get(name) === entry) this.#weigh(name, entry);
    }
  }

  async #dropErased(key: ThreadKey): Promise<void> {
    const name = `${key.tenant}:${key.thread}`;
    const [first] = await this.#sources.log.read(key, 0, 1);
    const hash = first?.hash ?? '';
    for (const [each, entry] of this.#kept) {
      if (each !== name && !each.startsWith(`${name}:`)) continue;
      if (entry.firstHash !== null && entry.firstHash !== hash) this.#drop(each, entry);
      else entry.firstHash = hash;
    }
  }

  #weigh(name: string, entry: Entry): void {
    const { bytes } = entry.transcript;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    if (bytes > this.#bytesMax) return this.#drop(name, entry); // (H1)
    for (const [oldest, each] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest, each);
    }
  }

  #drop(name: string, { bytes }: Entry): void {
    this.#kept.delete(name);
    this.#bytes -= bytes;
  }
}
