// Threads that an input has poisoned: deciding it, or paying what it leads to, fails every time. The thread waits for an
// operator, with everything that was sent to it since; no other thread notices.
//
// Contract (contracts/parked-threads.contract.ts):
//   P1. A mark is durable before anything of its thread is released, and every owner looks for it before it decides
//       anything of a thread it does not know.
//   P2. Inputs keep the order in which they were added, each once by its id, and outlive the process.
//   P3. Marking again keeps the first reason and time; a replay that fails is a mark again.
//   P4. An input that is dropped is not replayed any more, and stays to be seen.
//   P5. Nothing waits without a mark: who puts an input aside marks its thread too, if it is not; and a mark goes only while it
//       is `replay` and nothing waits. Two owners of whom one does not know it yet, and an operator, may do so in any order.
import type { ThreadInput } from '@dormouse/thread';
import type { Page, PageRequest } from './registry.ts';
import type { ThreadKey } from './thread-key.ts';

/** `replay`: an operator wants it to go on; its owner takes the inputs, in order, before anything newer. */
export type ParkingMark = 'parked' | 'replay';

/** Of a thread that had a mark when it was looked at, and none when an input was put aside. */
export const parkedWhileReplayed = 'More was put aside while its replay ended.';

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
  /** Behind those that are there; when its id is there, it stays where it is. `at` is for the mark (P5). Resolves when durable. */
  add(key: ThreadKey, input: ThreadInput, trace: string | null, at: number): Promise<void>;
  /** In order, dropped ones too. */
  inputs(key: ThreadKey): Promise<readonly ParkedInput[]>;
  get(key: ThreadKey): Promise<ParkedThread | null>;
  /** Oldest first. */
  list(tenant: string, page: PageRequest): Promise<Page<ParkedThread>>;
  /** Sets the mark `replay`; false when the thread is not parked. */
  replay(key: ThreadKey): Promise<boolean>;
  /** False when there is no such input. */
  drop(key: ThreadKey, inputId: string, at: number): Promise<boolean>;
  /** Threads of any tenant whose mark is `parked`, for exactly this reason. */
  parkedFor(reason: string): Promise<readonly ThreadKey[]>;
  /** Threads of any tenant whose mark is `replay`. */
  replays(): Promise<readonly ThreadKey[]>;
  /** The input is decided, and what it led to is handled: it needs no keeping. */
  remove(key: ThreadKey, inputId: string): Promise<void>;
  /** Everything is decided: the mark goes, dropped inputs stay. False when it is not `replay`, or something waits. (P5) */
  unpark(key: ThreadKey): Promise<boolean>;
}
