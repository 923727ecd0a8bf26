// A cancellation token for a wait. Most calls never wait, so the abort signal is made only when it is read.
import type { Clock } from '@dormouse/ports';

export interface CancelToken {
  readonly isCancelled: boolean;
  /** Aborts when it is cancelled. */
  readonly signal: AbortSignal;
}

export class CancelTokenSource implements CancelToken {
  #isCancelled = false;
  #controller: AbortController | null = null;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#controller?.abort();
  }
}

/** A token that is also cancelled at a time, for a call that has to wait; the alarm is set when `signal` is read. */
export class TimedCancelToken implements CancelToken {
  readonly #outer: CancelToken;
  readonly #clock: Clock;
  readonly #leftMs: number;
  #dropAlarm: (() => void) | null = null;

  constructor(outer: CancelToken, clock: Clock, leftMs: number) {
    this.#outer = outer;
    this.#clock = clock;
    this.#leftMs = leftMs;
  }

  get isCancelled(): boolean {
    return this.#outer.isCancelled;
  }

  get signal(): AbortSignal {
    const limit = new AbortController();
    this.dropAlarm();
    this.#dropAlarm = this.#clock.alarm(Math.max(0, this.#leftMs), () => limit.abort());
    return AbortSignal.any([this.#outer.signal, limit.signal]);
  }

  /** The wait is over. */
  dropAlarm(): void {
    this.#dropAlarm?.();
    this.#dropAlarm = null;
  }
}
