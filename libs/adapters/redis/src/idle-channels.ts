// Channels without a listener, kept until it is time to leave them.
//
// Invariants:
//   I1. A channel is left `keptMs` after its last listener, or earlier when there are more than `channelsMax`: the
//       oldest first.
//   I2. No timer while there is no such channel.

const keptMs = 5_000;
const channelsMax = 10_000;

export class IdleChannels {
  /** When each channel became idle, oldest first. */
  readonly #since = new Map<string, number>();
  readonly #leave: (channels: readonly string[]) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(leave: (channels: readonly string[]) => void) {
    this.#leave = leave;
  }

  wanted(channel: string): void {
    this.#since.delete(channel);
  }

  unwanted(channel: string): void {
    this.#since.delete(channel);
    this.#since.set(channel, performance.now());
    const [oldest] = this.#since.keys();
    if (this.#since.size > channelsMax && oldest !== undefined) this.#drop([oldest]);
    if (this.#timer === null) this.#startTimer();
  }

  #sweep(): void {
    this.#timer = null;
    const before = performance.now() - keptMs;
    const due: string[] = [];
    for (const [channel, since] of this.#since) {
      if (since > before) break;
      due.push(channel);
    }
    if (due.length > 0) this.#drop(due);
    if (this.#since.size > 0) this.#startTimer(); // (I2)
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.#sweep(), keptMs).unref();
  }

  #drop(channels: readonly string[]): void {
    for (const channel of channels) this.#since.delete(channel);
    this.#leave(channels);
  }
}
