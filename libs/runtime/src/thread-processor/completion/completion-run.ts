// One completion that runs in this process: what it has said so far, what it holds, and how it is stopped.
//
// Invariants:
//   K1. `hold` keeps every delivery that led to this completion, until the input that ends it takes it over. (V1, V2)
//   K2. After `abort` nothing of it becomes an input. After `expire` a failure does, whatever the model does.
//   K3. A run that is taken over by another lane holds nothing of the lane before. (V6)
//   K4. An orphaned run that is held back is over: the lane that owes its completion asks for it itself.
import type { Retrying, ThreadKey } from '@dormouse/ports';
import type { CompletionFailure, CompletionResult, Streamed } from '@dormouse/thread';
import { Hold } from '../pay/held-deliveries.ts';
import { PartialAnswer } from './partial-answer.ts';

/** What a completion becomes: an input of its thread. */
export type CompletionAnswer = CompletionResult | CompletionFailure;

/**
 * It was not asked, or not to its end: its tenant is not active, or its agent is paused; its thread is marked. (holding
 * H1)
 */
export const heldBack = 'held back';
export type CompletionEnd = CompletionAnswer | typeof heldBack;

export type RunState = 'running' | 'answered' | 'aborted' | 'expired';

/** Reasons are shared: making one per completion, with its stack, would cost more than the completion's own slice. */
const aborted = new Error('aborted');
const expired = new Error('expired');

export class CompletionRun {
  readonly key: ThreadKey;
  readonly completionId: string;
  readonly trace: string | null;
  /** Milliseconds since the epoch; waiting for a slot counts. */
  readonly startedAt: number;
  /** When its first attempt began, or `startedAt`. */
  askedAt: number;
  hold = new Hold();
  /** The answer of the shown attempt; a new attempt replaces it. */
  answer = new PartialAnswer(0);
  /** Time of the last part of this attempt, or of its start. */
  lastPartAt: number;
  state: RunState = 'running';
  /** Where the model of the last attempt is; null when it has no address, or was not asked. */
  host: string | null = null;
  /** The agent that asks, by its name; null before the first attempt. */
  agent: string | null = null;
  /** What it has waited for since its last attempt failed. */
  retrying: Retrying | null = null;
  /** Its answer, once there is one. */
  #kept: CompletionEnd | null = null;
  #listener: ((answer: CompletionEnd) => void) | null = null;
  /** Made when it is first needed: thousands of runs wait for a slot, and hold little. */
  #stop: AbortController | null = null;
  #interrupt: ((reason: Error) => void) | null = null;
  #leaveQueue: (() => void) | null = null;

  constructor(key: ThreadKey, completionId: string, trace: string | null, now: number) {
    this.key = key;
    this.completionId = completionId;
    this.trace = trace;
    this.startedAt = now;
    this.askedAt = now;
    this.lastPartAt = now;
  }

  /** Ends whatever the run is doing now: streaming, or waiting for a retry. */
  get signal(): AbortSignal {
    this.#stop ??= new AbortController();
    return this.#stop.signal;
  }

  /** It waits for a slot; `leave` ends that when the run ends. */
  waits(leave: () => void): void {
    this.#leaveQueue = leave;
  }

  /** What has been shown of it. */
  streamed(): Streamed {
    return { completionId: this.completionId, text: this.answer.text, reasoning: this.answer.reasoning };
  }

  abort(): void {
    if (this.state !== 'running') return;
    this.state = 'aborted';
    this.breakOff(aborted);
  }

  /** Orphaned: no lane owes it at the moment. */
  get isLeft(): boolean {
    return this.#listener === null;
  }

  /** True until its first attempt begins: it waits for a slot, and nothing was paid for it. */
  get isWaiting(): boolean {
    return this.answer.attempt === 0;
  }

  /** From now on the answer goes to `listener`; at once, if there is one. With null the run is orphaned. */
  listen(listener: ((answer: CompletionEnd) => void) | null): void {
    this.#listener = listener;
    if (this.#kept !== null) listener?.(this.#kept);
  }

  /** (K3) */
  takeOver(): void {
    this.hold = new Hold();
  }

  answered(answer: CompletionEnd): void {
    if (this.state === 'aborted') return; // an aborted run gives no answer
    if (answer === heldBack && this.isLeft) return void (this.state = 'aborted'); // (K4)
    this.state = 'answered';
    this.#kept = answer;
    this.#listener?.(answer);
  }

  expire(): void {
    if (this.state !== 'running') return;
    this.state = 'expired';
    this.breakOff(expired);
  }

  /** Begins an attempt; `interrupt` settles it from outside, because a model need not obey its signal. */
  begin(now: number, interrupt: (reason: Error) => void): void {
    if (this.isWaiting) this.askedAt = now;
    this.answer = new PartialAnswer(this.answer.attempt + 1);
    this.lastPartAt = now;
    this.#interrupt = interrupt;
    if (this.#stop?.signal.aborted === true && this.state === 'running') this.#stop = null;
  }

  /** The attempt is over: there is nothing to interrupt, and what stopped it does not stop what comes next. */
  end(): void {
    this.#interrupt = null;
    if (this.state === 'running' && this.#stop?.signal.aborted === true) this.#stop = null;
  }

  get isStreaming(): boolean {
    return this.#interrupt !== null;
  }

  /** Ends the attempt, not the run. */
  breakOff(reason: Error): void {
    const interrupt = this.#interrupt;
    const leave = this.#leaveQueue;
    this.#interrupt = null;
    this.#leaveQueue = null;
    this.#stop?.abort(reason);
    interrupt?.(reason);
    leave?.();
  }
}
