// One thread's queue: first in, first out, one slice at a time. Owns order and patience; what a slice does is not its business.
//
// Invariants:
//   L1. A failing slice is tried again at the head of its lane, never skipped and never overtaken. (V6)
//   L2. A lane keeps no timer while nothing waits; with nothing queued, running or held it is forgotten (`retire`).
//   L3. An answer counts only while its run is the lane's run: whoever ended that run has taken over what it held. (V2)
//   L4. Poison (a slice that throws anything but a Fault) blocks its own thread only, tried again slowly and said aloud. It
//       cannot be parked yet: that needs a durable flag that every owner checks, and comes with the cluster.
import { type Clock, type Entropy, Fault, type Logger, type ThreadDelivery, type ThreadKey } from '@dormouse/ports';
import { backoffMs } from './backoff.ts';
import type { CompletionAnswer } from './completion/completion-runner.ts';
import type { CompletionRun } from './completion/completion-run.ts';
import type { Hold } from './held-deliveries.ts';
import type { ProcessorProtocol, Stretch } from './protocol.ts';
import type { ProcessorSettings } from './settings.ts';
import { runSlice } from './slice/run-slice.ts';
import { finish } from './slice/settle.ts';
import type { LaneMemory, SliceDeps } from './slice/slice-deps.ts';
import { answerItem, deliveredItem, type InputItem, type SliceItem } from './slice/slice-item.ts';

/** What a lane gets from the assignment it belongs to. */
export interface LaneHome {
  readonly slices: SliceDeps;
  readonly protocol: ProcessorProtocol;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings: ProcessorSettings;
  /** Aborted when the assignment ends. */
  readonly revoked: AbortSignal;
  /** True when nothing new may begin, but what runs may end. */
  isClosing(): boolean;
  /** Items of this lane that entered or left the queue. */
  queued(change: number): void;
  retire(lane: Lane): void;
}

export class Lane implements LaneMemory {
  readonly key: ThreadKey;
  readonly cacheKey: string;
  run: CompletionRun | null = null;
  stretch: Stretch | null = null;
  openHolds: Hold[] = [];
  readonly #home: LaneHome;
  #queue: SliceItem[] = [];
  #working: Promise<void> | null = null;
  #failures = 0;
  #fault: string | null = null;

  constructor(home: LaneHome, key: ThreadKey, cacheKey: string) {
    this.#home = home;
    this.key = key;
    this.cacheKey = cacheKey;
  }

  get isClosing(): boolean {
    return this.#home.isClosing() || this.#home.revoked.aborted;
  }

  get isBusy(): boolean {
    return this.#working !== null || this.run !== null;
  }

  deliver(delivery: ThreadDelivery): void {
    this.#push(deliveredItem(delivery));
  }

  answered(run: CompletionRun, answer: CompletionAnswer): void {
    if (this.run === run) this.#push(answerItem(answer, run)); // (L3)
  }

  /** Something may have been released: a lane that holds nothing any more is forgotten. */
  settled(): void {
    if (this.openHolds.length > 0) this.openHolds = this.openHolds.filter((hold) => hold.isOpen);
    this.#retireIfIdle();
  }

  /** Resolves when no slice is running; nothing new is begun once the assignment is revoked. */
  async stopped(): Promise<void> {
    await this.#working;
    this.run?.abort();
    this.#home.queued(-this.#queue.length);
    this.#queue = [];
  }

  #push(item: SliceItem): void {
    this.#queue.push(item);
    this.#home.queued(1);
    this.#working ??= this.#work();
  }

  async #work(): Promise<void> {
    await Promise.resolve(); // what is delivered in this same turn of the loop is decided together
    while (this.#queue.length > 0 && !this.#home.revoked.aborted) await this.#workHead();
    this.#working = null;
    this.settled();
  }

  /** Runs slices until the items at the head are finished. */
  async #workHead(): Promise<void> {
    let items = this.#takeHead().filter((item) => !this.#isOvertaken(item));
    while (items.length > 0 && !this.#home.revoked.aborted) {
      const finished = await this.#trySlice(items);
      items = items.filter((item) => !finished.includes(item) && !this.#isOvertaken(item));
    }
  }

  /** As many inputs as one commit may decide, or one recovery. */
  #takeHead(): readonly SliceItem[] {
    const inputs: InputItem[] = [];
    for (const item of this.#queue) {
      if (item.what === 'recovery' || inputs.length === this.#home.settings.inputsPerSliceMax) break;
      inputs.push(item);
    }
    const taken = this.#queue.splice(0, Math.max(1, inputs.length));
    this.#home.queued(-taken.length);
    return inputs.length === 0 ? taken : this.#home.protocol.mergeInputs(inputs);
  }

  /** An answer whose completion another input has ended meanwhile. (L3) */
  #isOvertaken(item: SliceItem): boolean {
    return (
      item.what === 'input' && item.answerOf !== null && item.answerOf !== this.run && item.deliveries.length === 0
    );
  }

  async #trySlice(items: readonly SliceItem[]): Promise<readonly SliceItem[]> {
    try {
      const finished = await runSlice(this.#home.slices, this, items);
      if (finished.length > 0) this.#progressed();
      else await this.#pause();
      return finished;
    } catch (error) {
      this.#home.slices.cache.drop(this.cacheKey);
      await this.#failed(error);
      return this.#giveUp(items);
    }
  }

  #progressed(): void {
    if (this.#fault !== null) this.#home.logger.info('lane_recovered', { ...this.key, failures: this.#failures });
    this.#failures = 0;
    this.#fault = null;
  }

  /** A reload that decided nothing: at once the first time, then with growing patience. */
  async #pause(): Promise<void> {
    this.#failures += 1;
    if (this.#failures > 1) await this.#sleep(this.#failures - 1);
  }

  async #failed(error: unknown): Promise<void> {
    this.#failures += 1;
    const { settings, clock, revoked } = this.#home;
    const isPoison = !(error instanceof Fault) && this.#failures >= settings.poisonAttempts;
    this.#report(error, isPoison);
    if (isPoison)
      await clock.sleep(settings.poisonDelayMs, revoked); // (L4)
    else await this.#sleep(this.#failures);
  }

  /** Once per change, however often it is tried. */
  #report(error: unknown, isPoison: boolean): void {
    const code = error instanceof Fault ? error.code : isPoison ? 'POISON' : 'SLICE_THREW';
    if (code === this.#fault) return;
    this.#fault = code;
    const fields = {
      ...this.key,
      code,
      attempt: this.#failures,
      error: error instanceof Error ? (isPoison ? error.stack : error.message) : String(error),
    };
    if (isPoison) this.#home.logger.error('lane_blocked', fields);
    else this.#home.logger.warn('lane_failing', fields);
  }

  async #sleep(failures: number): Promise<void> {
    const { settings, clock, entropy, revoked } = this.#home;
    await clock.sleep(backoffMs(failures, settings.retryDelayMsFirst, settings.retryDelayMsMax, entropy), revoked);
  }

  /** None, in a sound protocol. (L1) */
  #giveUp(items: readonly SliceItem[]): readonly SliceItem[] {
    const inputs = items.filter((item) => item.what === 'input');
    const given = this.#home.protocol.finishedByFault(inputs);
    for (const item of given) finish(this, item, null);
    return given;
  }

  #retireIfIdle(): void {
    if (!this.isBusy && this.#queue.length === 0 && this.openHolds.length === 0) this.#home.retire(this); // (L2)
  }
}
