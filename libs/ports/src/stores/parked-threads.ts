// Threads that an input has poisoned: deciding it, or paying what it leads to, fails every time. The thread waits for
// an operator, with all inputs that were sent to it since; other threads are not affected.
//
// Contract (contracts/parked-threads.contract.ts):
//   P1. A mark is durable before any delivery of its thread is released, and every owner looks for it before it decides
//       an input of a thread it does not know.
//   P2. Inputs keep the order in which they were added, each once by its id, and outlive the process.
//   P3. Marking again keeps the first reason and time; a replay that fails is a mark again.
//   P4. An input that is dropped is not replayed any more, and remains visible.
//   P5. No input waits without a mark: `add` also marks the thread if it has no mark; and a mark is removed only while
//       it is `replay` and no input waits. Two owners, one of which does not know of the mark yet, and an operator may
//       do so in any order.
import type { ThreadInput, TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../registry/registry.ts';
import type { ThreadKey } from '../log/thread-key.ts';

/** `replay`: an operator wants the thread to continue; its owner takes the inputs, in order, before any newer one. */
export type ParkingMark = 'parked' | 'replay';

/** Reason of a thread that had a mark when it was read, and none when an input was put aside. */
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
  /** Adds it behind the others; a known id keeps its place. `at` is for the mark (P5). Resolves when durable. */
  add(key: ThreadKey, input: ThreadInput, trace: string | null, at: number): Promise<void>;
  /** In order, dropped ones too. */
  inputs(key: ThreadKey): Promise<readonly ParkedInput[]>;
  get(key: ThreadKey): Promise<ParkedThread | null>;
  /** Oldest first. */
  list(tenant: TenantId, page: PageRequest): Promise<Page<ParkedThread>>;
  /** Sets the mark `replay`; false when the thread is not parked. */
  replay(key: ThreadKey): Promise<boolean>;
  /** False when there is no such input. */
  drop(key: ThreadKey, inputId: string, at: number): Promise<boolean>;
  /** Threads of any tenant whose mark is `parked`, for exactly this reason. */
  parkedFor(reason: string): Promise<readonly ThreadKey[]>;
  /** Threads of any tenant whose mark is `replay`. */
  replays(): Promise<readonly ThreadKey[]>;
  /** The input is decided, and what it led to is handled: it need not be kept. */
  remove(key: ThreadKey, inputId: string): Promise<void>;
  /** All is decided: removes the mark, keeps dropped inputs. False if it is not `replay`, or an input waits. (P5) */
  unpark(key: ThreadKey): Promise<boolean>;
}
