// The quotas of tenants in force: what each has used or has open, and whether it may have more. Everything that a quota
// refuses asks here first: the client API before it takes something, a thread's decision before it asks the model, a
// completion before it takes a slot.
//
// Invariants:
//   Q1. A quota refuses what is new and breaks nothing that is there, also when it is lowered below what is used.
//   Q2. Asking costs no read of a store while what is known is fresh, and none at all of a tenant without the quota.
//   Q3. What is known may lack what other processes have counted in the last seconds: `countLagMsMax` at most while the
//       stores answer. A thread is counted before its row is written, so that no number of requests at once passes.
//   Q4. A store that is away refuses nothing by itself: limits protect others, and what is known stays in force.
//   Q5. What the processors report of waiting inputs is as old as Q3 says. Where they are other processes, a gateway
//       takes of one tenant no more within that time than `enteringInputsMax`, known or not.
//   Q6. A thread is full while its owner says so: a level that ends with the owner's process or partition. The next
//       owner says it again with the thread's next commit.
import { createBoundedMap, createSharedReads } from '@dormouse/collections';
import type { Blobs, Clock, InputBus, OpenOfTenant, ThreadDirectory, TenantId } from '@dormouse/ports';
import { dayOf, type RecordedEvent, type TenantQuota, type Thread, type UsedUp } from '@dormouse/thread';
import { type Answered, answered, refused } from '../ingress-gateway/refusal.ts';
import { type ModelPrices, priceOf } from './model-prices.ts';
import { type QuotaName, quotasOf, type ShownQuotas, wireNameOf } from './quotas.ts';
import { createRecentCount } from './recent-count.ts';
import type { TenantMeter } from './tenant-meter.ts';
import type { TenantRecords } from './tenant-records.ts';

/** Quotas that a request for more work is held to. */
const ofMessages = ['storedBytesMax', 'tokensPerDayMax', 'costMicrosPerDayMax'] as const;

export interface TenantLimits {
  /** Answered when one more message may be taken. @throws Fault */
  mayAsk(tenant: TenantId): Promise<Answered<null>>;
  /** Answered when the tenant may store more. @throws Fault */
  mayStore(tenant: TenantId): Promise<Answered<null>>;
  /** Counts a thread that is about to be opened; the caller says how that ended. (Q3) @throws Fault */
  openThread(tenant: TenantId): Promise<Answered<{ ended(isNew: boolean): void }>>;
  /** Whether this many of them are too many. @throws Fault */
  exceeds(tenant: TenantId, quota: QuotaName, used: number): Promise<Answered<null>>;
  /** Resolves when what its streams need is as fresh as it can be. Never rejects. (Q4) */
  learn(tenant: TenantId): Promise<void>;
  /**
   * What a decision waits for, so that `quotaOf` is fresh; null where it is. `asks`: for more threads or subscriptions.
   * Never rejects. (Q4)
   */
  learning(tenant: TenantId, asks: boolean): Promise<void> | null;
  /** For a decision, by what is known now. (Q2) */
  quotaOf(tenant: TenantId): TenantQuota;
  /** Its share beside other tenants, above 0, by what is known now. */
  weightOf(tenant: TenantId): number;
  /** How many more completions may run in this process, beside `here`; by what is known now. */
  completionsLeft(tenant: TenantId, here: number): number;
  /** Says how many completions of the tenant run in this process. */
  completionsHere(tenant: TenantId, here: number): void;
  /** Null when one more stream may be opened in this process beside `here`, else the limit; by what is known now. */
  streamsFull(tenant: TenantId, here: number): number | null;
  streamsHere(tenant: TenantId, here: number): void;
  /**
   * Answered while the inputs of the tenant that wait for their threads, in all processors together, leave room for
   * more. In front of the partitions: what was taken is never held back for this, and never refused.
   */
  mayEnter(tenant: TenantId): Answered<null>;
  /** An input of the tenant is published here, for another process. (Q5) */
  entered(tenant: TenantId): void;
  /** Says how many inputs of the tenant wait in this process. */
  waitingHere(tenant: TenantId, here: number): void;
  /** Whether the model of a thread has `unseenInputsMax` recorded inputs to see; by what is known now. (Q6) */
  isFull(tenant: TenantId, thread: string): boolean;
  /** Partitions were taken from this process: what it has said of threads is no longer its to say. (Q6) */
  forgetThreads(): void;
  /** A commit is in the log. */
  committed(tenant: TenantId, commit: CountedCommit): void;
  /** Bytes that were stored beside the log. */
  stored(tenant: TenantId, bytes: number): void;
  /** Writes what was counted; one attempt. */
  flush(): Promise<void>;
}

export interface CountedCommit {
  readonly events: readonly RecordedEvent[];
  /** Characters of what is stored. */
  readonly characters: number;
  readonly before: Thread;
  readonly after: Thread;
  readonly prices: ModelPrices;
}

/** How far a count may lag behind other processes: rows of threads a second, what was counted two, a read one. */
export const countLagMsMax = 3_000;

const openFreshMs = 1_000;
const openTenantsMax = 20_000;
/** After its end the count of a day is kept for those whose clocks are behind. */
const dayKeptMs = 2 * 86_400_000;

interface Open extends OpenOfTenant {
  readonly at: number;
}

export function createTenantLimits(deps: {
  readonly records: Pick<TenantRecords, 'of' | 'known' | 'isFresh'>;
  /** Of this installation, where they are not the standard ones. */
  readonly quotas?: Partial<ShownQuotas>;
  readonly meter: TenantMeter;
  readonly directory: Pick<ThreadDirectory, 'openOf'>;
  readonly clock: Pick<Clock, 'now'>;
}): TenantLimits {
  const { records, quotas: installed = {}, meter, directory, clock } = deps;
  const shared = createSharedReads<Open>();
  const open = createBoundedMap<Open>(openTenantsMax);
  const entering = createRecentCount({ periodMs: countLagMsMax, tenantsMax: openTenantsMax }, clock);
  /** Threads whose rows are being written. */
  const opening = new Map<string, number>();
  /** Threads that this process has said to be full, by tenant. */
  const full = new Map<TenantId, Set<string>>();

  const known = (tenant: TenantId): ShownQuotas => quotasOf(records.known(tenant), installed);
  const quotas = async (tenant: TenantId): Promise<ShownQuotas> => quotasOf(await records.of(tenant), installed);
  const today = (name: string): string => `${name}.${dayOf(clock.now())}`;

  function used(tenant: TenantId, quota: (typeof ofMessages)[number]): number {
    if (quota === 'storedBytesMax') return meter.total(tenant, 'stored_bytes');
    return meter.total(tenant, today(quota === 'tokensPerDayMax' ? 'tokens' : 'cost_micros'));
  }

  function isFresh(value: Open | undefined): value is Open {
    const now = clock.now();
    return value !== undefined && value.at <= now && now - value.at < openFreshMs;
  }

  const readOpen = (tenant: TenantId): Promise<Open> =>
    shared(tenant, async () => {
      const at = clock.now();
      return open.set(tenant, { ...(await directory.openOf(tenant)), at });
    });

  async function openOf(tenant: TenantId): Promise<Open> {
    const value = open.get(tenant);
    return isFresh(value) ? value : readOpen(tenant);
  }

  /** By what is known now; an old count is read again. */
  function knownOpen(tenant: TenantId): OpenOfTenant {
    const value = open.get(tenant);
    if (!isFresh(value)) readOpen(tenant).catch(() => {}); // (Q4)
    return value ?? { threads: 0, subscriptions: 0 };
  }

  /** (Q3) */
  function count(tenant: TenantId, change: Partial<OpenOfTenant>): void {
    const value = open.get(tenant);
    if (value === undefined) return;
    const threads = value.threads + (change.threads ?? 0);
    open.set(tenant, { ...value, threads, subscriptions: value.subscriptions + (change.subscriptions ?? 0) });
  }

  async function refuseUsed(tenant: TenantId, names: readonly (typeof ofMessages)[number][]): Promise<Answered<null>> {
    const limits = await quotas(tenant);
    const set = names.filter((name) => limits[name] !== null);
    if (set.length === 0) return answered(null); // (Q2)
    await meter.learn(tenant);
    for (const name of set) {
      const limit = limits[name];
      if (limit !== null && used(tenant, name) >= limit) return usedUp(name, used(tenant, name), limit);
    }
    return answered(null);
  }

  /** (Q2) */
  function spent(tenant: TenantId): UsedUp | null {
    const limits = known(tenant);
    for (const [name, budget] of budgets) {
      const limit = limits[name];
      if (limit === null) continue;
      const amount = used(tenant, name);
      if (amount >= limit) return { budget, used: amount, limit };
    }
    return null;
  }

  /** (Q2) */
  function isLearnt(tenant: TenantId, asks: boolean): boolean {
    if (!records.isFresh(tenant)) return false;
    const limits = known(tenant);
    if (hasBudget(limits) && !meter.isFresh(tenant)) return false;
    return !asks || !limitsOpen(limits) || isFresh(open.get(tenant));
  }

  async function learn(tenant: TenantId, asks: boolean): Promise<void> {
    await records.of(tenant).catch(() => null);
    const limits = known(tenant);
    await Promise.all([
      hasBudget(limits) ? meter.learn(tenant) : null,
      asks && limitsOpen(limits) ? openOf(tenant).catch(() => null) : null,
    ]);
  }

  function hasAll(tenant: TenantId, of: keyof OpenOfTenant): boolean {
    const limit = known(tenant)[of === 'threads' ? 'threadsMax' : 'subscriptionsMax'];
    return limit !== null && knownOpen(tenant)[of] >= limit;
  }

  /** (Q6) */
  function sayIfFull(tenant: TenantId, thread: Thread): void {
    const ofTenant = full.get(tenant);
    const wasFull = ofTenant?.has(thread.id) === true;
    const isFullNow = unseenOf(thread) >= unseenInputsMax;
    if (isFullNow === wasFull) return;
    meter.set(tenant, fullMeter(thread.id), isFullNow ? 1 : 0);
    if (isFullNow) full.set(tenant, (ofTenant ?? new Set()).add(thread.id));
    else if (ofTenant?.delete(thread.id) === true && ofTenant.size === 0) full.delete(tenant);
  }

  return {
    mayAsk: (tenant) => refuseUsed(tenant, ofMessages),
    mayStore: (tenant) => refuseUsed(tenant, ['storedBytesMax']),
    async openThread(tenant) {
      const { threadsMax: limit } = await quotas(tenant);
      if (limit === null) return answered({ ended: () => {} });
      await openOf(tenant);
      const beingOpened = opening.get(tenant) ?? 0;
      const threads = (open.get(tenant)?.threads ?? 0) + beingOpened;
      if (threads >= limit) return usedUp('threadsMax', threads, limit);
      opening.set(tenant, beingOpened + 1);
      return answered({
        ended: (isNew) => {
          const left = (opening.get(tenant) ?? 1) - 1;
          if (left > 0) opening.set(tenant, left);
          else opening.delete(tenant);
          if (isNew) count(tenant, { threads: 1 });
        },
      });
    },
    async exceeds(tenant, quota, amount) {
      const limit = (await quotas(tenant))[quota];
      return limit !== null && amount > limit ? usedUp(quota, amount - 1, limit) : answered(null);
    },
    async learn(tenant) {
      await Promise.all([records.of(tenant).catch(() => null), meter.learn(tenant)]); // (Q4)
    },
    learning: (tenant, asks) => (isLearnt(tenant, asks) ? null : learn(tenant, asks)),
    quotaOf: (tenant) => ({ spent: () => spent(tenant), isFull: (of) => hasAll(tenant, of) }),
    weightOf: (tenant) => records.known(tenant)?.weight ?? 1,
    completionsLeft(tenant, here) {
      const limit = known(tenant).completionsInFlightMax;
      if (limit === null) return Number.POSITIVE_INFINITY;
      meter.set(tenant, 'completions', here);
      return limit - meter.total(tenant, 'completions');
    },
    completionsHere(tenant, here) {
      if (known(tenant).completionsInFlightMax !== null) meter.set(tenant, 'completions', here);
    },
    streamsFull(tenant, here) {
      const limit = known(tenant).streamsMax;
      if (limit === null) return null;
      meter.set(tenant, 'streams', here);
      return meter.total(tenant, 'streams') >= limit ? limit : null;
    },
    streamsHere: (tenant, here) => meter.set(tenant, 'streams', here),
    mayEnter(tenant) {
      if (meter.total(tenant, 'inputs_waiting') >= waitingInputsMax) return tooManyWait;
      return entering.of(tenant) < enteringInputsMax ? answered(null) : tooManyEnter;
    },
    entered: (tenant) => entering.add(tenant),
    waitingHere: (tenant, here) => meter.set(tenant, 'inputs_waiting', here < waitingInputsMin ? 0 : here),
    isFull: (tenant, thread) => meter.total(tenant, fullMeter(thread)) > 0,
    forgetThreads() {
      for (const [tenant, threads] of full) for (const thread of threads) meter.set(tenant, fullMeter(thread), 0);
      full.clear();
    },
    committed(tenant, { events, characters, before, after, prices }) {
      sayIfFull(tenant, after);
      meter.add(tenant, bytesMeter, characters);
      const { tokens, costMicros } = usageOf(prices, events, before.model);
      if (tokens > 0) meter.add(tenant, { name: today('tokens'), until: dayEnd(clock.now()) }, tokens);
      if (costMicros > 0) meter.add(tenant, { name: today('cost_micros'), until: dayEnd(clock.now()) }, costMicros);
      const subscriptions = sizeOf(after.subscriptions) - sizeOf(before.subscriptions);
      const threads = openings(events, before, after);
      if (threads !== 0 || subscriptions !== 0) count(tenant, { threads, subscriptions });
    },
    stored: (tenant, bytes) => meter.add(tenant, bytesMeter, bytes),
    flush: () => meter.flush(),
  };
}

/** Inputs of one tenant that wait for their threads; above this its messages and callbacks have to come later. */
export const waitingInputsMax = 2_000;
/** Inputs of one tenant that one gateway takes within `countLagMsMax`; a processor has room for three times as many. */
export const enteringInputsMax = 6_000;
/** Fewer are not reported: most tenants have none. */
const waitingInputsMin = 100;
/** Inputs of one thread that are recorded and that its model has not seen; above this its events have to come later. */
export const unseenInputsMax = 1_000;

const fullMeter = (thread: string): string => `full.${thread}`;

/** With the events that wait for a child or for the confirmation of their subscription. */
const unseenOf = ({ unseen, queuedEvents, held }: Thread): number => unseen + queuedEvents.length + held.length;

const tooManyWait: Answered<never> = refused(
  'RATE_LIMITED',
  `More than ${waitingInputsMax} messages and callbacks of the tenant wait for their threads.`,
  { retryAfterMs: 2_000 },
);

const tooManyEnter: Answered<never> = refused(
  'RATE_LIMITED',
  `More than ${enteringInputsMax} messages and callbacks of the tenant have come within ${countLagMsMax} ms.`,
  { retryAfterMs: 1_000 },
);

const bytesMeter = { name: 'stored_bytes', until: null } as const;

const hasBudget = ({ tokensPerDayMax, costMicrosPerDayMax, completionsInFlightMax }: ShownQuotas): boolean =>
  tokensPerDayMax !== null || costMicrosPerDayMax !== null || completionsInFlightMax !== null;

const limitsOpen = ({ threadsMax, subscriptionsMax }: ShownQuotas): boolean =>
  threadsMax !== null || subscriptionsMax !== null;

/** By quota, the budget that an event names. */
const budgets = [
  ['tokensPerDayMax', 'tokens_per_day_tenant'],
  ['costMicrosPerDayMax', 'cost_per_day_tenant'],
] as const;

const dayEnd = (now: number): number => (dayOf(now) + 1) * 86_400_000 + dayKeptMs;

/** Children that were opened, without this thread if it was closed. */
const openings = (events: readonly RecordedEvent[], before: Thread, after: Thread): number =>
  events.filter(({ type }) => type === 'ChildSpawned').length -
  (after.status === 'closed' && before.status !== 'closed' ? 1 : 0);

const sizeOf = (of: object): number => Object.keys(of).length;

function usageOf(
  prices: ModelPrices,
  events: readonly RecordedEvent[],
  model: string,
): { readonly tokens: number; readonly costMicros: number } {
  let tokens = 0;
  let costMicros = 0;
  for (const event of events) {
    if (event.type !== 'CompletionRecorded') continue;
    tokens += event.usage.inputTokens + event.usage.outputTokens;
    costMicros += priceOf(prices, model, event.usage);
  }
  return { tokens, costMicros };
}

const usedUp = (quota: QuotaName, amount: number, limit: number): Answered<never> =>
  refused('QUOTA_EXCEEDED', `The tenant's quota ${wireNameOf(quota)} is used up: ${amount} of ${limit}.`);

/** Where no tenant has a quota, and nothing is counted. */
export const unlimited: TenantLimits = {
  mayAsk: () => Promise.resolve(answered(null)),
  mayStore: () => Promise.resolve(answered(null)),
  openThread: () => Promise.resolve(answered({ ended: () => {} })),
  exceeds: () => Promise.resolve(answered(null)),
  learn: () => Promise.resolve(),
  learning: () => null,
  quotaOf: () => ({ spent: () => null, isFull: () => false }),
  weightOf: () => 1,
  completionsLeft: () => Number.POSITIVE_INFINITY,
  completionsHere: () => {},
  streamsFull: () => null,
  streamsHere: () => {},
  mayEnter: () => answered(null),
  entered: () => {},
  waitingHere: () => {},
  isFull: () => false,
  forgetThreads: () => {},
  committed: () => {},
  stored: () => {},
  flush: () => Promise.resolve(),
};

/** The store, with what is new in it counted. */
export const countedBlobs = (blobs: Blobs, limits: Pick<TenantLimits, 'stored'>): Blobs => ({
  get: (tenant, sha256, thread) => blobs.get(tenant, sha256, thread),
  remove: (tenant, sha256) => blobs.remove(tenant, sha256),
  put: async (tenant, sha256, bytes, mediaType, thread) => {
    const isNew = await blobs.put(tenant, sha256, bytes, mediaType, thread);
    if (isNew) limits.stored(tenant, bytes.length);
    return isNew;
  },
});

/** The bus of a gateway whose processors are other processes. (Q5) */
export const countedInputs = (inputs: InputBus, limits: Pick<TenantLimits, 'entered'>): InputBus => ({
  consume: (consumer) => inputs.consume(consumer),
  publish: (key, input, trace) => {
    limits.entered(key.tenant);
    return inputs.publish(key, input, trace);
  },
});
