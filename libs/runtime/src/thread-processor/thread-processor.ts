// The thread-processor: consumes `inputs`, decides, and owns every thread's log.
//
// It wires its parts together and moves between the states of a service; each rule lives in the part that obeys it:
// `slice/` the four steps, `payment.ts` what is owed, `held-deliveries.ts` what may be released, `completion/` the
// model, `due-timers.ts` time, `lane.ts` order and retries, `protocol.ts` the functions that the simulator can
// replace.
//
// Invariants:
//   P1. Every input of a thread goes through the thread's lane: the bus's, and the model's answers through memory. (V2)
//   P2. Stopping takes nothing new, lets slices and completions end for a while, and leaves the rest owed, never half
//       done.
import { createFairSemaphore } from '@dormouse/collections';
import {
  storedTenantId,
  type Clock,
  type Entropy,
  type InputConsumer,
  type Logger,
  type Model,
  type Stores,
  type Subscription,
  type TenantId,
} from '@dormouse/ports';
import { hashKeyOf } from '../log/keyed-hash.ts';
import { measuredProtocol } from '../metrics/measured-protocol.ts';
import type { Measuring } from '../metrics/measuring.ts';
import { observeProcessor } from '../metrics/processor-gauges.ts';
import { createHeldWakes, createHolding, type HeldWakes, type Holding } from '../tenants/holding.ts';
import type { ModelPrices } from '../tenants/model-prices.ts';
import { createPausedAgents } from '../tenants/paused-agents.ts';
import { type TenantLimits, unlimited } from '../tenants/tenant-limits.ts';
import { createTenantRecords } from '../tenants/tenant-records.ts';
import { createSliceTracing } from '../tracing/slice-tracing.ts';
import { offTracing, type Tracing } from '../tracing/tracing.ts';
import type { Service } from '../service.ts';
import { type AssignmentHome, createAssignment, type LiveAssignment } from './lane/assignment.ts';
import type { ValidateArguments } from './completion/call-arguments.ts';
import { createRequestBuilder } from './completion/completion-request.ts';
import { type CompletionRunner, createCompletionRunner } from './completion/completion-runner.ts';
import { createDiscarded } from './slice/discarded.ts';
import { createDueTimers, type DueTimersLoop } from './pay/due-timers.ts';
import { createFamilyMail, type FamilyMail } from './pay/family-mail.ts';
import { createQuestionList } from './pay/question-list.ts';
import { createGroupCommit } from './slice/group-commit.ts';
import { createKnownAgain, type KnownAgain } from './lane/known-again.ts';
import type { Lane } from './lane/lane.ts';
import { momentOf } from './rules/minted-ids.ts';
import { createParking } from './lane/parking.ts';
import { createProjections, type Projections } from './state/projections.ts';
import { type ProcessorProtocol, soundProtocol } from './rules/protocol.ts';
import { createRepayments } from './pay/repayments.ts';
import { defaultProcessorSettings, type ProcessorSettings } from './settings.ts';
import { createSnapshotWriter, type SnapshotWriter } from './state/snapshot-writer.ts';
import { StateCache } from './state/state-cache.ts';

type ProcessorStores = Pick<
  Stores,
  | ('log' | 'snapshots' | 'directory' | 'timers' | 'parked')
  | ('inputs' | 'work' | 'feed')
  | ('agents' | 'toolsets')
  | ('blobs' | 'views' | 'logins' | 'inbox')
>;

export interface ThreadProcessorDeps extends ProcessorStores {
  /** Without them nothing is ever suspended or paused. */
  readonly tenantStores?: Pick<Stores, 'tenants' | 'heldThreads' | 'toolServers'>;
  /** Default: no tenant has a quota. */
  readonly limits?: TenantLimits;
  /** Of models, for the money of a tenant's day. Default: none costs anything. */
  readonly prices?: ModelPrices;
  readonly model: Model;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  /** HMAC key of minted ids; the same for all processors of an installation, for ever. */
  readonly idKey: Uint8Array;
  /** Judges arguments against a tool's schema; without it only their form is judged. */
  readonly validateArguments?: ValidateArguments;
  readonly settings?: Partial<ProcessorSettings>;
  /** Times decisions and payments; without it they are not timed. */
  readonly measuring?: Measuring;
  readonly tracing?: Tracing;
  /** For the simulator only: rules to replace. See `protocol.ts`. */
  readonly protocol?: Partial<ProcessorProtocol>;
}

interface Parts {
  readonly home: AssignmentHome;
  readonly cache: StateCache;
  readonly completions: CompletionRunner;
  readonly dueTimers: DueTimersLoop;
  readonly knownAgain: KnownAgain;
  /** Null where nothing is ever suspended or paused. */
  readonly heldWakes: HeldWakes | null;
  readonly mail: FamilyMail;
  readonly projections: Projections;
  readonly snapshots: SnapshotWriter;
  readonly settings: ProcessorSettings;
  readonly protocol: ProcessorProtocol;
}

/** Counters of one processor: what waits, and whether it takes more. */
interface Load {
  /** Counted up to the share of each thread and tenant. */
  queued: number;
  /** All queued inputs. */
  held: number;
  /** Those of each tenant that count by their threads' shares, and all of it. */
  readonly ofTenant: Map<string, { queued: number; held: number }>;
  closing: boolean;
}

/** How often a stopping processor checks whether it is idle. */
const drainPollMs = 10;
/** How long the bus may take to close, once this processor is idle. */
const closeMsMax = 2_000;

export function createThreadProcessor(deps: ThreadProcessorDeps): Service {
  const load: Load = { queued: 0, held: 0, ofTenant: new Map(), closing: false };
  const parts = createParts(deps, load);
  const assignments = new Map<string, LiveAssignment>();
  let subscription: Subscription | null = null;
  observe(deps, parts.completions, assignments);

  const consumer: InputConsumer = {
    assigned: (assignment) => {
      const id = parts.protocol.assignmentId(assignment);
      if (!assignments.has(id)) assignments.set(id, createAssignment(id, parts.home, parts.cache));
    },
    revoked: async (assignment) => {
      const id = parts.protocol.assignmentId(assignment);
      await assignments.get(id)?.revoke();
      assignments.delete(id);
      deps.limits?.forgetThreads();
    },
    deliver: (assignment, delivery) =>
      assignments
        .get(parts.protocol.assignmentId(assignment))
        ?.deliver(parts.heldWakes?.followed(delivery) ?? delivery),
    busy: () => {
      const { queuedInputsMax } = parts.settings;
      return load.closing || load.queued >= queuedInputsMax || load.held >= 2 * queuedInputsMax;
    },
  };

  async function drained(deadline: number): Promise<void> {
    const isBusy = (): boolean =>
      parts.mail.waiting > 0 || [...assignments.values()].some((assignment) => assignment.busyLanes() > 0);
    while (isBusy() && deps.clock.now() < deadline) await deps.clock.sleep(drainPollMs);
  }

  return {
    start: async () => {
      subscription = await deps.inputs.consume(consumer);
      parts.dueTimers.start();
      parts.knownAgain.start();
      parts.heldWakes?.start();
    },
    stop: async (withinMs) => {
      const deadline = deps.clock.now() + withinMs;
      load.closing = true; // (P2)
      await Promise.all([parts.dueTimers.stop(), parts.knownAgain.stop(), parts.heldWakes?.stop()]);
      await drained(deadline);
      await subscription?.close(Math.min(closeMsMax, Math.max(0, deadline - deps.clock.now())));
      await Promise.all([...assignments.values()].map((assignment) => assignment.revoke()));
      assignments.clear();
      parts.mail.close();
      parts.completions.close();
      await parts.snapshots.settled();
      await parts.projections.flush();
      await deps.limits?.flush();
    },
  };
}

function observe(
  { measuring, timers, clock }: ThreadProcessorDeps,
  completions: CompletionRunner,
  assignments: ReadonlyMap<string, LiveAssignment>,
): void {
  if (measuring === undefined) return;
  const lanes = (): number => [...assignments.values()].reduce((sum, assignment) => sum + assignment.lanes, 0);
  const slots = {
    oldestWait: () => completions.oldestWait(),
    get taken() {
      return completions.inFlight;
    },
    get waiting() {
      return completions.waiting;
    },
  };
  observeProcessor(measuring.metrics, { lanes, slots, timers, clock });
}

function createParts(deps: ThreadProcessorDeps, load: Load): Parts {
  const { clock, entropy, logger, log, feed } = deps;
  const settings = { ...defaultProcessorSettings, ...deps.settings };
  const rules = { ...soundProtocol, ...deps.protocol };
  const protocol = deps.measuring === undefined ? rules : measuredProtocol(rules, deps.measuring);
  const tracing = deps.tracing ?? offTracing;
  const sliceTracing = createSliceTracing({
    ...tracing,
    clock,
    agentOf: (thread) => requests.agentOf(thread),
    toolsOf: (thread) => requests.toolsOf(thread),
  });
  const sources = {
    log,
    blobs: deps.blobs,
    snapshots: deps.snapshots,
    agents: deps.agents,
    toolsets: deps.toolsets,
    folds: protocol,
    tracing: sliceTracing,
    settings,
  };
  const idKey = hashKeyOf(deps.idKey);
  const cache = new StateCache(settings.cacheBytesMax);
  const { validateArguments = null, limits = unlimited } = deps;
  const requests = createRequestBuilder(sources);
  const { holding, heldWakes } = createTenantParts(deps);
  const completions = createCompletionRunner({
    validateArguments,
    answerId: protocol.answerId,
    createSlots: protocol.createSlots,
    model: deps.model,
    tracing,
    feed,
    clock,
    entropy,
    logger,
    settings,
    buildRequest: requests.build,
    endpointOf: (thread) => requests.endpointOf(thread),
    holding,
    limits,
  });
  const dueTimers = createDueTimers({ timers: deps.timers, inputs: deps.inputs, holding, clock, logger, settings });
  const fold = async (key: Lane['key']) => (await protocol.readThread(sources, key, null)).state.thread;
  const knownAgain = createKnownAgain({
    parked: deps.parked,
    inputs: deps.inputs,
    clock,
    logger,
    settings,
    fold,
    tryToDecide: (key, thread, input) => protocol.decide(thread, input, momentOf(idKey, key, clock.now(), null)),
  });
  const projections = createProjections({ directory: deps.directory, clock, logger, settings });
  const snapshots = createSnapshotWriter({ snapshots: deps.snapshots, logger, settings });
  const mail = createFamilyMail({ inputs: deps.inputs, directory: deps.directory, clock, entropy, logger, settings });
  const payment = {
    work: deps.work,
    timers: deps.timers,
    logins: deps.logins,
    mail,
    listQuestions: createQuestionList(deps),
    completions,
    holding,
    readState: async ({ key, cacheKey }: Pick<Lane, 'key' | 'cacheKey'>) =>
      cache.get(cacheKey) ?? (await protocol.readThread(sources, key, null)).state,
    clock,
    logger,
    protocol,
    timerSet: dueTimers.wakeBy,
  };
  const slices = {
    log,
    groupCommit: createGroupCommit(log, settings),
    sources,
    cache,
    snapshots,
    projections,
    feed,
    tracing: sliceTracing,
    views: deps.views,
    clock,
    logger,
    entropy,
    idKey,
    commitBytesMax: settings.commitBytesMax,
    protocol,
    payment,
    discarded: createDiscarded(logger),
    limits,
    prices: deps.prices ?? new Map(),
  };
  const home: AssignmentHome = {
    slices,
    protocol,
    clock,
    entropy,
    logger,
    settings,
    parking: createParking({
      ...deps,
      flushRow: (key) => projections.flushOf(key),
      updateRow: async (key) => projections.changed(key, await fold(key)),
    }),
    isClosing: () => load.closing,
    sliceCounts: { succeeded: 0, startedFailing: 0 },
    repayments: createRepayments(settings.repaymentsInFlightMax, (tenant) => limits.weightOf(tenant)),
    places: createFairSemaphore(settings.slicesInFlightMax, {
      ownerOf: (key) => key.slice(0, key.indexOf(' ')),
      weightOf: (owner) => limits.weightOf(storedTenantId(owner)),
    }),
    queued: (tenant, change, counted) => countQueued(load, { tenant, change, counted }, settings, limits),
  };
  return {
    home,
    cache,
    completions,
    dueTimers,
    knownAgain,
    heldWakes,
    mail,
    projections,
    snapshots,
    settings,
    protocol,
  };
}

/** However much one tenant is sent, others' inputs are taken. (lane L6) */
function countQueued(
  load: Load,
  { tenant, change, counted }: { readonly tenant: TenantId; readonly change: number; readonly counted: number },
  { queuedInputsPerTenantMax }: ProcessorSettings,
  limits: TenantLimits,
): void {
  const of = load.ofTenant.get(tenant) ?? { queued: 0, held: 0 };
  const share = (queued: number): number => Math.min(queued, queuedInputsPerTenantMax);
  load.held += change;
  load.queued += share(of.queued + counted) - share(of.queued);
  of.queued += counted;
  of.held += change;
  if (of.held > 0) load.ofTenant.set(tenant, of);
  else load.ofTenant.delete(tenant);
  limits.waitingHere(tenant, of.held);
}

function createTenantParts({
  tenantStores: stores,
  agents,
  directory,
  inputs,
  limits = unlimited,
  clock,
  logger,
}: ThreadProcessorDeps): {
  readonly holding: Holding | null;
  readonly heldWakes: HeldWakes | null;
} {
  if (stores === undefined) return { holding: null, heldWakes: null };
  const { tenants, heldThreads, toolServers } = stores;
  const records = createTenantRecords({ tenants, clock });
  const pausedAgents = createPausedAgents({ agents, clock });
  return {
    holding: createHolding({ records, heldThreads, pausedAgents, directory }),
    heldWakes: createHeldWakes({ records, agents, toolServers, heldThreads, inputs, limits, clock, logger }),
  };
}
