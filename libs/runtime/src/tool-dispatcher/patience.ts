// Whether somebody may still wait for something. Nearly nobody does wait: the signal is made for whoever does.
export interface Patience {
  readonly isOver: boolean;
  /** Aborts when it is over. */
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
