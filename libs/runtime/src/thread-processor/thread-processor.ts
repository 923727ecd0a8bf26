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
  type ThreadKey,
} from '@dormouse/ports';
import { hashKeyOf } from '../log/keyed-hash.ts';
import { measuredProtocol } from '../metrics/measured-protocol.ts';
import type { Measuring } from '../metrics/measuring.ts';
import { observeProcessor } from '../metrics/processor-gauges.ts';
import { createHeldWakes, createHolding } from '../tenants/holding.ts';
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
import { createDueTimers } from './pay/due-timers.ts';
import { createFamilyMail } from './pay/family-mail.ts';
import type { PaymentDeps } from './pay/payment.ts';
import { createQuestionList } from './pay/question-list.ts';
import { createGroupCommit } from './slice/group-commit.ts';
import { createKnownAgain } from './lane/known-again.ts';
import { momentOf } from './rules/minted-ids.ts';
import { createParking } from './lane/parking.ts';
import { createProjections } from './state/projections.ts';
import { type ProcessorProtocol, soundProtocol } from './rules/protocol.ts';
import { createRepayments } from './pay/repayments.ts';
import { defaultProcessorSettings, type ProcessorSettings } from './settings.ts';
import { createSnapshotWriter } from './state/snapshot-writer.ts';
import { StateCache } from './state/state-cache.ts';

export interface ThreadProcessorDeps extends Pick<
  Stores,
  | ('log' | 'snapshots' | 'directory' | 'timers' | 'parked' | 'inputs' | 'work' | 'feed')
  | ('agents' | 'toolsets' | 'blobs' | 'views' | 'logins' | 'inbox')
> {
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
      if (!assignments.has(id)) assignments.set(id, createAssignment(id, parts.home));
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
  observeProcessor(measuring.metrics, { lanes, completions, timers, clock });
}

/** The parts of a processor, each made of what was given and of the parts before it. */
function createParts(given: ThreadProcessorDeps, load: Load) {
  const { clock, limits = unlimited } = given;
  const settings = { ...defaultProcessorSettings, ...given.settings };
  const rules = { ...soundProtocol, ...given.protocol };
  const protocol = given.measuring === undefined ? rules : measuredProtocol(rules, given.measuring);
  const { holding, heldWakes } = createTenantParts(given);
  const deps = { ...given, settings, protocol, limits, holding, tracing: given.tracing ?? offTracing };
  const tracing = createSliceTracing({
    ...deps.tracing,
    clock,
    agentOf: (thread) => requests.agentOf(thread),
    toolsOf: (thread) => requests.toolsOf(thread),
  });
  const sources = { ...deps, folds: protocol, tracing };
  const requests = createRequestBuilder(sources);
  const idKey = hashKeyOf(given.idKey);
  const cache = new StateCache(settings.cacheBytesMax);
  const completions = createCompletionRunner({
    ...deps,
    validateArguments: given.validateArguments ?? null,
    answerId: protocol.answerId,
    createSlots: protocol.createSlots,
    buildRequest: requests.build,
    endpointOf: (thread) => requests.endpointOf(thread),
  });
  const dueTimers = createDueTimers(deps);
  const fold = async (key: ThreadKey) => (await protocol.readThread(sources, key, null)).state.thread;
  const knownAgain = createKnownAgain({
    ...deps,
    fold,
    tryToDecide: (key, thread, input) => protocol.decide(thread, input, momentOf(idKey, key, clock.now(), null)),
  });
  const projections = createProjections(deps);
  const snapshots = createSnapshotWriter(deps);
  const mail = createFamilyMail(deps);
  const payment: PaymentDeps = {
    ...deps,
    mail,
    listQuestions: createQuestionList(deps),
    completions,
    readState: async ({ key, cacheKey }) =>
      cache.get(cacheKey) ?? (await protocol.readThread(sources, key, null)).state,
    timerSet: dueTimers.wakeBy,
  };
  const home: AssignmentHome = {
    ...deps,
    groupCommit: createGroupCommit(deps.log, settings),
    sources,
    cache,
    snapshots,
    projections,
    tracing,
    idKey,
    commitBytesMax: settings.commitBytesMax,
    payment,
    discarded: createDiscarded(deps.logger),
    prices: deps.prices ?? new Map(),
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
  return { home, completions, dueTimers, knownAgain, heldWakes, mail, projections, snapshots, settings, protocol };
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

/** Null where nothing is ever suspended or paused. */
function createTenantParts(deps: ThreadProcessorDeps) {
  const { tenantStores, limits = unlimited } = deps;
  if (tenantStores === undefined) return { holding: null, heldWakes: null };
  const { tenants, heldThreads, toolServers } = tenantStores; // they may be all stores: the other ones are given apart
  const ports = { ...deps, tenants, heldThreads, toolServers, limits };
  const records = createTenantRecords(ports);
  return {
    holding: createHolding({ ...ports, records, pausedAgents: createPausedAgents(ports) }),
    heldWakes: createHeldWakes({ ...ports, records }),
  };
}
