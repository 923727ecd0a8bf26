// One completion that runs in this process: what it has said so far, what it holds, and how it is stopped.
//
// Invariants:
//   K1. `hold` keeps every delivery that led to this completion, until whoever ends it takes the hold over. (V1, V2)
//   K2. After `abort` nothing of it becomes an input. After `expire` a failure does, whatever the model does.
//   K3. A run that is taken over by another lane holds nothing of the lane before. (V6)
import type { ThreadKey } from '@dormouse/ports';
import type { CompletionFailure, CompletionResult, Streamed } from '@dormouse/thread';
import { Hold } from '../held-deliveries.ts';
import { PartialAnswer } from './partial-answer.ts';

/** What a completion becomes: an input of its thread. */
export type CompletionAnswer = CompletionResult | CompletionFailure;

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
  hold = new Hold();
  /** Of the attempt that is shown; a new attempt replaces it. */
  answer = new PartialAnswer(0);
  /** Time of the last part of this attempt, or of its start. */
  lastPartAt: number;
  state: RunState = 'running';
  /** Its answer, once there is one. */
  #kept: CompletionAnswer | null = null;
  #listener: ((answer: CompletionAnswer) => void) | null = null;
  #stop = new AbortController();
  #interrupt: ((reason: Error) => void) | null = null;

  constructor(key: ThreadKey, completionId: string, trace: string | null, now: number) {
    this.key = key;
    this.completionId = completionId;
    this.trace = trace;
    this.startedAt = now;
    this.lastPartAt = now;
  }

  /** Ends whatever the run is doing: streaming, waiting for a retry, waiting for a slot. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What people have seen of it. */
  streamed(): Streamed {
    return { completionId: this.completionId, text: this.answer.text, reasoning: this.answer.reasoning };
  }

  abort(): void {
    if (this.state !== 'running') return;
    this.state = 'aborted';
    this.breakOff(aborted);
  }

  /** Nobody owes it at the moment. */
  get isLeft(): boolean {
    return this.#listener === null;
  }

  /** True until its first attempt begins: it waits for a slot, and nothing was paid for it. */
  get isWaiting(): boolean {
    return this.answer.attempt === 0;
  }

  /** From now on its answer goes here; at once, if there is one. Null: to nobody, until somebody takes it over. */
  listen(listener: ((answer: CompletionAnswer) => void) | null): void {
    this.#listener = listener;
    if (this.#kept !== null) listener?.(this.#kept);
  }

  /** (K3) */
  takeOver(): void {
    this.hold = new Hold();
  }

  answered(answer: CompletionAnswer): void {
    if (this.state === 'aborted') return; // nobody waits for one any more
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
    this.answer = new PartialAnswer(this.answer.attempt + 1);
    this.lastPartAt = now;
    this.#interrupt = interrupt;
    if (this.#stop.signal.aborted && this.state === 'running') this.#stop = new AbortController();
  }

  /** The attempt is over by itself; from now on there is nothing to interrupt. */
  end(): void {
    this.#interrupt = null;
  }

  get isStreaming(): boolean {
    return this.#interrupt !== null;
  }

  /** Ends the attempt, not the run. */
  breakOff(reason: Error): void {
    const interrupt = this.#interrupt;
    this.#interrupt = null;
    this.#stop.abort(reason);
    interrupt?.(reason);
  }
}
