// Threads that an input has poisoned: deciding it, or paying what it leads to, fails every time. The thread waits for an
// operator, with everything that was sent to it since; no other thread notices.
//
// Contract (contracts/parked-threads.contract.ts):
//   P1. A mark is durable before anything of its thread is released, and every owner looks for it before it decides
//       anything of a thread it does not know.
//   P2. Inputs keep the order in which they were added, each once by its id, and outlive the process.
//   P3. Marking again keeps the first reason and time; a replay that fails is a mark again.
//   P4. An input that is dropped is not replayed any more, and stays to be seen.
//   P5. A mark goes only while it is `replay`: who ends a replay may be late, and the thread be parked again.
import type { ThreadInput } from '@dormouse/thread';
import type { Page, PageRequest } from './registry.ts';
import type { ThreadKey } from './thread-key.ts';

/** `replay`: an operator wants it to go on; its owner takes the inputs, in order, before anything newer. */
export type ParkingMark = 'parked' | 'replay';

export interface ParkedThread extends ThreadKey {
  readonly mark: ParkingMark;
  readonly reason: string;
  readonly parkedAt: number;
}

export interface ParkedInput {
  readonly input: ThreadInput;
  /** W3C trace context of its sender, if any. */
  readonly trace: string | null;
  readonly droppedAt: number | null;
}

export interface ParkedThreads {
  mark(key: ThreadKey): Promise<ParkingMark | null>;
  /** Sets the mark `parked`. Resolves when durable. */
  park(key: ThreadKey, reason: string, at: number): Promise<void>;
  /** Behind those that are there; nothing when its id is there. Resolves when durable. */
  add(key: ThreadKey, input: ThreadInput, trace: string | null): Promise<void>;
  /** In order, dropped ones too. */
  inputs(key: ThreadKey): Promise<readonly ParkedInput[]>;
  get(key: ThreadKey): Promise<ParkedThread | null>;
  /** Oldest first. */
  list(tenant: string, page: PageRequest): Promise<Page<ParkedThread>>;
  /** Sets the mark `replay`; false when the thread is not parked. */
  replay(key: ThreadKey): Promise<boolean>;
  /** False when there is no such input. */
  drop(key: ThreadKey, inputId: string, at: number): Promise<boolean>;
  /** Threads of any tenant whose mark is `replay`. */
  replays(): Promise<readonly ThreadKey[]>;
  /** The input is decided, and what it led to is handled: it needs no keeping. */
  remove(key: ThreadKey, inputId: string): Promise<void>;
  /** Everything is decided: the mark goes (P5), dropped inputs stay. */
  unpark(key: ThreadKey): Promise<void>;
}
