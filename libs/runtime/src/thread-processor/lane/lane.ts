// One thread's queue: first in, first out, one slice at a time. Owns order, retries and parking; slices are opaque to
// it.
//
// Invariants:
//   L1. A failing slice is tried again at the head of its lane, never skipped and never overtaken. (V6)
//   L2. A lane keeps no timer while nothing waits; with nothing queued, running or held it is forgotten (`retire`).
//   L3. An answer counts only while its run is the lane's run: the input that ended that run took its hold over. (V2)
//   L4. Poison (a slice that throws anything but a Fault, however often it is tried) parks its own thread and no other:
//       the mark first, then each input behind it in order, and only then are they released (`parking.ts`). A lane that
//       does not know a thread looks for the mark first, also before a recovery: its answer would be decided. A
//       recovery has no input to put aside: it is tried again slowly, and said aloud. So does a kind that this version
//       does not know, at once (`known-again.ts`); and a Fault that only this thread meets, for longer than a server
//       takes to come back (`own-fault.ts`).
//   L5. An input whose sender was told that it was not taken is not decided later. An attempt that is under way ends,
//       and what is in the log then, or may be, is paid like everything else.
//   L6. Of what waits here a share counts for the process: however much one thread is sent, others' inputs are taken.
//       What was taken from the queue and waits for its slice counts as well: of many threads it is most of all.
//   L7. A slice begins with a place, which tenants share by their weights: however many threads of one tenant are at
//       work, those of another are decided after as many slices as tenants wait. A lane that rests holds none.
import { backoffMs, type FairSemaphore } from '@dormouse/collections';
import { type Entropy, Fault, type ThreadDelivery, type ThreadKey, type TenantId } from '@dormouse/ports';
import { NeedsNewerVersion } from '@dormouse/thread';
import { type CompletionEnd, type CompletionRun, heldBack } from '../completion/completion-run.ts';
import { OwnFaultDetector, type SliceCounts } from './own-fault.ts';
import type { Hold } from '../pay/held-deliveries.ts';
import { needsNewerVersion } from './known-again.ts';
import type { Parking } from './parking.ts';
import type { ProcessorProtocol } from '../rules/protocol.ts';
import type { Repayment, Repayments } from '../pay/repayments.ts';
import { Replay } from './replay.ts';
import type { ProcessorSettings } from '../settings.ts';
import { runSlice } from '../slice/run-slice.ts';
import { finish } from '../slice/settle.ts';
import type { LaneMemory, SliceDeps, Stretch } from '../slice/slice-deps.ts';
import {
  answerItem,
  deliveredItem,
  type InputItem,
  isWithdrawn,
  type LaneItem,
  type SliceItem,
  type WakeItem,
} from '../slice/slice-item.ts';

/** What a lane gets from the assignment it belongs to. */
export interface LaneHome extends SliceDeps {
  readonly protocol: ProcessorProtocol;
  readonly entropy: Entropy;
  readonly settings: ProcessorSettings;
  readonly parking: Parking;
  readonly sliceCounts: SliceCounts;
  readonly repayments: Repayments;
  /** Of slices, by `placeName`. (L7) */
  readonly places: FairSemaphore;
  /** Aborted when the assignment ends. */
  readonly revoked: AbortSignal;
  /** True when nothing new may begin, but what runs may end. */
  isClosing(): boolean;
  /** Items that entered or left a queue of the tenant, and those of them that count. (L6) */
  queued(tenant: TenantId, change: number, counted: number): void;
  retire(lane: Lane): void;
}

export class Lane implements LaneMemory {
  readonly key: ThreadKey;
  readonly cacheKey: string;
  run: CompletionRun | null = null;
  stretch: Stretch | null = null;
  openHolds: Hold[] = [];
  readonly #home: LaneHome;
  #queue: LaneItem[] = [];
  #working: Promise<void> | null = null;
  #failures = 0;
  /** Whether this thread is parked; unknown until it is looked up. */
  #parked: boolean | null = null;
  /** Null while no replay of this thread was ever requested. */
  #replay: Replay | null = null;
  #fault: string | null = null;
  /** Null while no Fault is met. */
  #ownFault: OwnFaultDetector | null = null;
  /** Set while deliveries of an earlier owner are paid again, or wait for that. */
  #repayment: Repayment | null = null;
  #waitsToRepay = false;
  /** Items that were taken from the queue, and whose slice waits for a place or runs. */
  #taken = 0;
  /** Items as they were last counted. (L6) */
  #queued = 0;

  constructor(home: LaneHome, key: ThreadKey, cacheKey: string) {
    this.#home = home;
    this.key = key;
    this.cacheKey = cacheKey;
  }

  get isClosing(): boolean {
    return this.#home.isClosing() || this.#home.revoked.aborted;
  }

  /** Whether something of it is under way; a completion that waits for a slot is not: it stays owed. */
  get isBusy(): boolean {
    return (this.#working !== null && !this.#waitsToRepay) || this.run?.isWaiting === false;
  }

  deliver(delivery: ThreadDelivery): void {
    this.#push(deliveredItem(delivery));
    if (!isRedelivery(delivery)) this.#repayment?.hurry();
  }

  answered(run: CompletionRun, answer: CompletionEnd): void {
    if (this.run !== run) return; // (L3)
    if (answer !== heldBack) return this.#push(answerItem(answer, run));
    this.#endRun(run);
    this.settled();
  }

  /** Something may have been released: a lane that holds nothing any more is forgotten. */
  settled(): void {
    if (this.#parked === true) this.#home.cache.drop(this.cacheKey);
    if (this.openHolds.length > 0) this.openHolds = this.openHolds.filter((hold) => hold.isOpen);
    if (this.#working === null && this.run === null && this.#queue.length === 0 && this.openHolds.length === 0)
      this.#home.retire(this); // (L2)
  }

  /** Resolves when no slice is running; nothing new is begun once the assignment is revoked. */
  async stopped(): Promise<void> {
    this.#repayment?.hurry();
    await this.#working;
    if (this.run !== null) this.#home.payment.completions.leave(this.run);
    this.#queue = [];
    this.#recount();
  }

  #push(item: LaneItem): void {
    this.#queue.push(item);
    this.#recount();
    this.#working ??= this.#work();
  }

  /** (L6) */
  #recount(): void {
    const before = this.#queued;
    this.#queued = this.#queue.length + this.#taken;
    const share = (queued: number): number => Math.min(queued, this.#home.settings.queuedInputsPerThreadMax);
    this.#home.queued(this.key.tenant, this.#queued - before, share(this.#queued) - share(before));
  }

  async #work(): Promise<void> {
    await Promise.resolve(); // the rest of this tick: what is delivered in it is decided together
    if (this.#isRepayment) await this.#beginRepayment();
    while (this.#hasWork && !this.#home.revoked.aborted) {
      if (this.#replay?.hasHandled === true) await this.#patiently(() => this.#forgetHandled());
      else await this.#workHead();
      this.#endRepayment();
    }
    this.#endRepayment();
    this.#working = null;
    this.settled();
  }

  /** Whether no state of the thread is known here and all its deliveries are redeliveries, of an earlier owner. */
  get #isRepayment(): boolean {
    return (
      this.#parked === null &&
      this.#queue.length > 0 &&
      this.#queue.every(({ deliveries }) => deliveries.length > 0 && deliveries.every(isRedelivery))
    );
  }

  async #beginRepayment(): Promise<void> {
    this.#repayment = this.#home.repayments.enter(this.key.tenant);
    if (this.#repayment.begun === null) return;
    this.#waitsToRepay = true;
    await this.#repayment.begun;
    this.#waitsToRepay = false;
  }

  #endRepayment(): void {
    this.#repayment?.leave();
    this.#repayment = null;
  }

  get #hasWork(): boolean {
    return this.#queue.length > 0 || this.#replay?.hasHandled === true;
  }

  /** Runs slices until the items at the head are finished. */
  async #workHead(): Promise<void> {
    const [head] = this.#queue;
    if (head?.what === 'wake') return this.#patiently(() => this.#wake(head));
    // A cached state was loaded and found unmarked: a warm slice does not look for the mark.
    if (this.#parked === null && this.#home.cache.has(this.cacheKey)) this.#parked = false;
    if (this.#parked === null || this.#waitsParked(this.#queue[0])) await this.#patiently(() => this.#lookForMark());
    if (this.#waitsParked(this.#queue[0])) return this.#patiently(() => this.#putAside());
    await this.#workItems(this.#stillWanted(this.#takeHead()));
  }

  async #workItems(given: SliceItem[]): Promise<void> {
    let items = given;
    this.#count(items);
    while (items.length > 0 && !this.#home.revoked.aborted && !this.#waitsParked(items[0])) {
      let finished: readonly SliceItem[] = [];
      if (!this.#home.places.enterNow(this.#placeName)) items = await this.#waitForPlace(items);
      if (items.length === 0) return this.#count([]);
      try {
        finished = await this.#runInPlace(items);
        if (finished.length > 0) this.#passed();
        else await this.#pause();
      } catch (error) {
        await this.#sliceFailed(items, error);
      }
      items = this.#stillWanted(items.filter((item) => !finished.includes(item)));
      this.#count(items);
    }
    this.#queue.unshift(...items); // of a thread that has just been parked
    this.#count([]);
  }

  /** Those that were taken and are not finished. (L6) */
  #count(taken: readonly SliceItem[]): void {
    this.#taken = taken.length;
    this.#recount();
  }

  /** Answers the items that are still to be decided: with none of them there is no place. (L5, L7) */
  async #waitForPlace(items: readonly SliceItem[]): Promise<SliceItem[]> {
    const { places, revoked } = this.#home;
    await places.enter(this.#placeName);
    const wanted = this.#stillWanted(items);
    if (wanted.length > 0 && !revoked.aborted) return wanted;
    places.leave(this.#placeName);
    return [];
  }

  async #runInPlace(items: readonly SliceItem[]): Promise<readonly SliceItem[]> {
    try {
      return await runSlice(this.#home, this, items);
    } finally {
      this.#home.places.leave(this.#placeName);
    }
  }

  get #placeName(): string {
    return `${this.key.tenant} ${this.key.thread}`;
  }

  #waitsParked(item: LaneItem | undefined): boolean {
    return this.#parked === true && item?.what === 'input';
  }

  /** A warm lane looks too: an earlier owner may have put inputs aside after this one took over. */
  async #wake(item: WakeItem): Promise<void> {
    if (this.#replay?.goesOn !== true) await this.#lookForMark();
    this.#queue.splice(this.#queue.indexOf(item), 1);
    this.#recount();
    finish(this, item, null);
  }

  /** Inputs that were put aside come first when an operator has requested a replay. */
  async #lookForMark(): Promise<void> {
    const { mark, inputs } = await this.#home.parking.look(this.key);
    this.#parked = mark === 'parked';
    if (mark !== 'replay') return;
    this.#replay ??= new Replay(this.key, () => {
      this.#working ??= this.#work();
    });
    const items = this.#replay.begin(inputs);
    this.#queue.unshift(...items);
    this.#recount();
    if (items.length === 0 && !(await this.#replay.forget(this.#home.parking))) await this.#lookForMark();
  }

  async #forgetHandled(): Promise<void> {
    if ((await this.#replay?.forget(this.#home.parking)) !== false) return;
    this.#parked = null;
    this.#home.cache.drop(this.cacheKey);
  }

  /** (L4) */
  async #putAside(): Promise<void> {
    while (this.#parked === true) {
      const [item] = this.#queue;
      if (item?.what !== 'input') return;
      if (!isWithdrawn(item)) await this.#home.parking.add(this.key, item.input, item.trace);
      for (const row of item.parkedRows) row.putBack();
      this.#queue.shift();
      this.#recount();
      if (item.answerOf !== null && item.answerOf === this.run) this.#endRun(item.answerOf);
      finish(this, item, null);
      await this.#lookForMark(); // an operator may have requested a replay
    }
  }

  /** Its answer is put aside, or its thread marked, durably: the deliveries that led to it need not be held. */
  #endRun(run: CompletionRun): void {
    this.run = null;
    run.hold.drop();
    if (run.hold.isOpen) this.openHolds.push(run.hold);
  }

  /** Retries until it works: an outage of a store parks no thread. */
  async #patiently(work: () => Promise<void>): Promise<void> {
    while (!this.#home.revoked.aborted) {
      try {
        await work();
        return this.#progressed();
      } catch (error) {
        await this.#failed(error, false);
      }
    }
  }

  /** As many inputs as one commit may decide, or one recovery. */
  #takeHead(): readonly SliceItem[] {
    const inputs: InputItem[] = [];
    for (const item of this.#queue) {
      if (item.what !== 'input' || inputs.length === this.#home.settings.inputsPerSliceMax) break;
      inputs.push(item);
    }
    const [head] = this.#queue.splice(0, Math.max(1, inputs.length));
    this.#recount();
    if (inputs.length > 0) return this.#home.protocol.mergeInputs(inputs);
    return head === undefined || head.what === 'wake' ? [] : [head];
  }

  /** Without answers that were overtaken, and inputs meanwhile reported to their senders as not taken. (L5) */
  #stillWanted<Item extends LaneItem>(items: readonly Item[]): Item[] {
    const wanted: Item[] = [];
    for (const item of items) {
      if (isWithdrawn(item)) finish(this, item, null);
      else if (!this.#isOvertaken(item)) wanted.push(item);
    }
    return wanted;
  }

  /** Behind a head that cannot be decided, withdrawn and overtaken items would only take room. (L5) */
  #dropUnwanted(): void {
    this.#queue = this.#stillWanted(this.#queue);
    this.#recount();
  }

  /** An answer whose completion another input has ended meanwhile. (L3) */
  #isOvertaken(item: LaneItem): boolean {
    if (item.what !== 'input' || item.answerOf === null || item.answerOf === this.run) return false;
    return item.deliveries.length === 0 && item.parkedRows.length === 0;
  }

  async #sliceFailed(items: readonly SliceItem[], error: unknown): Promise<void> {
    this.#home.cache.drop(this.cacheKey);
    const isInput = items[0]?.what === 'input';
    const isItsOwn = this.#isItsOwnFault(error);
    await this.#failed(error, isInput);
    if (isInput && (isItsOwn || this.#isPoison(error))) await this.#patiently(() => this.#park(error));
  }

  #passed(): void {
    this.#home.sliceCounts.succeeded += 1;
    this.#ownFault = null;
    this.#progressed();
  }

  /** (L4) */
  #isItsOwnFault(error: unknown): boolean {
    if (!(error instanceof Fault)) return false;
    const { settings, clock, sliceCounts } = this.#home;
    if (this.#ownFault === null) {
      this.#ownFault = new OwnFaultDetector(sliceCounts);
      return false;
    }
    const isCrowded = this.#queue.length >= settings.queuedInputsPerThreadMax;
    const afterMs = isCrowded ? settings.ownFaultAfterMsCrowded : settings.ownFaultAfterMs;
    return this.#ownFault.noteFault(clock.now()) >= afterMs;
  }

  #progressed(): void {
    if (this.#fault !== null) this.#home.logger.info('lane_recovered', { ...this.key, failures: this.#failures });
    this.#failures = 0;
    this.#fault = null;
  }

  /** A reload that decided nothing: at once the first time, then after growing pauses. */
  async #pause(): Promise<void> {
    this.#failures += 1;
    if (this.#failures > 1) await this.#sleep(this.#failures - 1);
  }

  #isPoison(error: unknown): boolean {
    if (error instanceof NeedsNewerVersion) return true; // no attempt of this process can succeed
    return !(error instanceof Fault) && this.#failures >= this.#home.settings.poisonAttempts;
  }

  /** (L4) */
  async #park(error: unknown): Promise<void> {
    await this.#home.parking.park(this.key, reasonOf(error, this.#failures));
    this.#ownFault = null;
    this.#replay?.giveUp();
    this.#parked = true;
  }

  async #failed(error: unknown, canBeParked: boolean): Promise<void> {
    this.#failures += 1;
    this.#endRepayment();
    this.#dropUnwanted();
    const { settings, clock, revoked } = this.#home;
    const isPoison = this.#isPoison(error);
    this.#report(error, isPoison);
    if (!isPoison) await this.#sleep(this.#failures);
    else if (!canBeParked) await clock.sleep(settings.poisonDelayMs, revoked); // (L4)
  }

  /** Once per change, however often it is tried. */
  #report(error: unknown, isPoison: boolean): void {
    const code = codeOf(error, isPoison);
    if (code === this.#fault) return;
    this.#fault = code;
    const fields = {
      ...this.key,
      code,
      attempt: this.#failures,
      error: error instanceof Error ? (isPoison ? error.stack : error.message) : String(error),
    };
    if (isPoison) this.#home.logger.error('thread_poisoned', fields);
    else this.#home.logger.warn('lane_failing', fields);
  }

  async #sleep(failures: number): Promise<void> {
    const { settings, clock, entropy, revoked } = this.#home;
    await clock.sleep(backoffMs(failures, settings.retryDelayMsFirst, settings.retryDelayMsMax, entropy), revoked);
  }
}

const isRedelivery = (delivery: ThreadDelivery): boolean => delivery.what === 'input' && delivery.isRedelivery === true;

function codeOf(error: unknown, isPoison: boolean): string {
  if (error instanceof Fault) return error.code;
  if (error instanceof NeedsNewerVersion) return needsNewerVersion;
  return isPoison ? 'POISON' : 'SLICE_THREW';
}

/** For operators: how often it failed, then why. (waiting-sentence W3) */
function reasonOf(error: unknown, failures: number): string {
  if (error instanceof NeedsNewerVersion) return needsNewerVersion;
  const after = `after ${failures} attempt${failures === 1 ? '' : 's'}`;
  if (error instanceof Fault) return `${after}: ${error.code}, of this thread alone: ${error.message}`;
  return `${after}: ${error instanceof Error ? error.message : String(error)}`;
}
