// The states of threads that were active lately, within a budget of estimated bytes. Eviction is by second chance: an
// entry that was used since the last pass is spared once, any other is dropped.
//
// Invariants:
//   C1. Losing an entry costs a read, never correctness. I-17
//   C2. Entries belong to one assignment, and are dropped when it ends. (V6)
//   C3. The estimate covers state and messages; one entry larger than the whole budget is not kept. A state is weighed
//       again after a few KiB of commits; until then each byte of them counts as several.
//   C4. Using an entry moves nothing: a map whose members move all the time keeps its collector busy (`TransientMap`).
//       Only eviction moves the entries that it spares.
import type { LoadedToolset } from '@dormouse/thread';
import { heapBytesOf } from './heap-weight.ts';
import type { ThreadState } from './thread-state.ts';

/** A thread without calls, queue and tools. */
const threadBytes = 3_072;

/** Committed bytes after which a state is weighed again, and what one of them may weigh on the heap. */
const unweighedBytesMax = 4_096;
const heapPerCommittedByte = 4;

interface Entry {
  readonly state: ThreadState;
  readonly bytes: number;
  readonly weighed: Weight;
  /** Since eviction last passed it. */
  isUsed: boolean;
}

interface Weight {
  /** Bytes of everything but the messages. */
  readonly bytes: number;
  /** How much had been committed since the snapshot. */
  readonly at: number;
}

/** Whether so little was committed since the entry was weighed that its weight is still usable. */
function isNearly({ state: before, weighed }: Entry, state: ThreadState): boolean {
  if (before.snapshot.version !== state.snapshot.version) return false; // what was committed is counted from there
  const grown = state.snapshot.bytesSince - weighed.at;
  return before.thread.toolsets === state.thread.toolsets && grown >= 0 && grown <= unweighedBytesMax;
}

export class StateCache {
  readonly #entries = new Map<string, Entry>();
  /** Toolsets are the same object for as long as the state lives. */
  readonly #weights = new WeakMap<readonly LoadedToolset[], number>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): ThreadState | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    entry.isUsed = true; // (C4)
    return entry.state;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  put(key: string, state: ThreadState): void {
    const before = this.#entries.get(key);
    const weighed = before !== undefined && isNearly(before, state) ? before.weighed : this.#weigh(state);
    const grown = state.snapshot.bytesSince - weighed.at;
    const bytes = state.messages.bytes + weighed.bytes + grown * heapPerCommittedByte;
    if (bytes > this.#bytesMax) return this.drop(key); // (C3)
    this.#entries.set(key, { state, bytes, weighed, isUsed: before !== undefined });
    this.#bytes += bytes - (before?.bytes ?? 0);
    this.#makeRoomFor(key);
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** Drops every entry whose key begins with `prefix`. (C2) */
  dropAll(prefix: string): void {
    for (const key of [...this.#entries.keys()]) if (key.startsWith(prefix)) this.drop(key);
  }

  /** Only what grows is weighed. */
  #weigh({ thread, tail, snapshot }: ThreadState): Weight {
    const { calls, choices, queue, problems } = thread;
    const grows = heapBytesOf([calls, choices, queue, problems, tail]);
    return { bytes: threadBytes + this.#toolsetBytes(thread.toolsets) + grows, at: snapshot.bytesSince };
  }

  #toolsetBytes(toolsets: readonly LoadedToolset[]): number {
    const known = this.#weights.get(toolsets);
    if (known !== undefined) return known;
    const bytes = heapBytesOf(toolsets);
    this.#weights.set(toolsets, bytes);
    return bytes;
  }

  /** Moves the entry behind all others: it is met again when none of them could be dropped. */
  #giveAnotherTurn(key: string, entry: Entry): void {
    entry.isUsed = false;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #makeRoomFor(newcomer: string): void {
    if (this.#bytes <= this.#bytesMax) return;
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      if (key === newcomer) continue;
      if (entry.isUsed) this.#giveAnotherTurn(key, entry);
      else this.drop(key);
    }
  }
}
