// A cancellation token for a wait. Most calls never wait, so the abort signal is made only when it is read.
import type { Clock } from '@dormouse/ports';

export interface Patience {
  readonly isOver: boolean;
  /** Aborts when the patience is over. */
  readonly signal: AbortSignal;
}

export class EndablePatience implements Patience {
  #isOver = false;
  #controller: AbortController | null = null;

  get isOver(): boolean {
    return this.#isOver;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  end(): void {
    this.#isOver = true;
    this.#controller?.abort();
  }
}

/** A patience that also ends at a time, for a call that has to wait; the alarm is set when `signal` is read. */
export class LimitedPatience implements Patience {
  readonly #outer: Patience;
  readonly #clock: Clock;
  readonly #leftMs: number;
  #dropAlarm: (() => void) | null = null;

  constructor(outer: Patience, clock: Clock, leftMs: number) {
    this.#outer = outer;
    this.#clock = clock;
    this.#leftMs = leftMs;
  }

  get isOver(): boolean {
    return this.#outer.isOver;
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
