// Pays what threads owe to tool servers: calls to be made, calls to be withdrawn, toolsets to be loaded. A failure
// comes back as an input of the thread. Not here: how one call is delivered (delivery.ts), notices
// (notifier).
//
// Invariants:
//   T1. A handler returns when its debt is paid and everything about it is durable; until then the commit stays owed,
//       and that is how a retry survives a restart.
//   T2. One call is delivered once at a time in this process; a second message waits for the first, without a place.
//   T3. A withdrawal is in the ledger before the call's running delivery is cancelled.
//   T5. A call that was sent, or that no attempt will send any more, is in the audit before its debt is paid: at least
//       once, should the process end in between. The record takes no place of a call.
//   T4. For a tenant that is not active nothing is sent, nor to a tool server that is paused: such debts are let go of,
//       once their thread is marked. (holding H1, H5)
//   T6. A call of a tenant that has too many waiting is refused before it is begun, so that those of others are made.
//       (work-bus W4)
import { type Place, TransientMap } from '@dormouse/collections';
import {
  Fault,
  type Clock,
  type DispatchOutcome,
  type Entropy,
  type Logger,
  type Metrics,
  type Owed,
  placeKeyOf,
  type Stores,
  type Subscription,
  type ThreadKey,
  type ThreadLog,
  type ToolTransport,
  traceFieldsOf,
  type WorkPlace,
  type WorkTopics,
} from '@dormouse/ports';
import { type LoadToolsets, type MigrateToolServers, unreachable, type WithdrawCall } from '@dormouse/thread';
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import { observeDispatcher } from '../metrics/dispatcher-gauges.ts';
import type { Service } from '../service.ts';
import type { Holding } from '../tenants/holding.ts';
import type { TenantLimits } from '../tenants/tenant-limits.ts';
import type { DispatcherWatch } from '../tool-health/tool-watch.ts';
import { executeToolSpan } from '../tracing/execute-tool-span.ts';
import { offTracing, type Tracing } from '../tracing/tracing.ts';
import { deliver, HeldBack, Interrupted, type Conclusion, type Delivery } from './deliver/delivery.ts';
import { dispatchFailure, type Failure } from './deliver/dispatch-failure.ts';
import { buildInvocation, type OwedCall } from './invocation.ts';
import { createManifests } from './toolset/manifest.ts';
import { migrateToolServers } from './toolset/migration.ts';
import { CancelTokenSource } from './deliver/cancel-token.ts';
import { createRegistrations } from './registrations.ts';
import { createServerGates } from './deliver/server-gate.ts';
import { defaultDispatcherSettings, type DispatcherSettings } from './settings.ts';
import { describeChange } from './toolset/toolset-change.ts';
import { loadToolsets } from './toolset/toolset-loader.ts';

export interface ToolDispatcherDeps extends Pick<Stores, 'work' | 'inputs' | 'ledger' | 'toolServers' | 'toolsets'> {
  readonly log: Pick<ThreadLog, 'findByInputs'>;
  readonly transport: ToolTransport;
  readonly callbackTokens: CallbackTokens;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings?: Partial<DispatcherSettings>;
  /** Default: none. */
  readonly metrics?: Metrics;
  readonly tracing?: Tracing;
  /** Keeps what operators see of tool servers' health; default: nothing is kept. */
  readonly watch?: DispatcherWatch;
  /** Default: null. */
  readonly holding?: Holding | null;
  /** Default: all tenants have the same weight. */
  readonly limits?: Pick<TenantLimits, 'weightOf'>;
  /** Default: null, and no call is in the audit. */
  readonly audit?: Auditor | null;
}

interface RunningCall {
  readonly cancelToken: CancelTokenSource;
  withdrawn: boolean;
  done: Promise<void>;
}

/** How long to wait for handlers after the POSTs have been ended. */
const abandonMs = 1_000;

type Dispatch = WorkTopics['dispatches'];

export function createToolDispatcher(deps: ToolDispatcherDeps): Service {
  const settings: DispatcherSettings = { ...defaultDispatcherSettings, ...deps.settings };
  const { ledger, inputs, clock, logger, tracing = offTracing, holding = null, audit = null } = deps;
  const registrations = createRegistrations(deps.toolServers, clock, settings.registrationTtlMs);
  const manifests = createManifests({ ...deps, settings, discovered: (server) => deps.watch?.discovered(server) });
  const hardStop = new AbortController();
  const gates = createServerGates({
    ...deps,
    concurrentMax: settings.perServerConcurrentMax,
    breaker: settings.breaker,
  });
  const deliveryDeps = { ...deps, gates, settings, holding, registrations, manifests, hardStop: hardStop.signal };
  const runningCalls = new TransientMap<string, RunningCall>();
  /** How many of the calls in memory go to each tool server of a tenant. */
  const heldOf = new Map<string, number>();
  const others = new Set<Promise<void>>();
  let subscription: Subscription | null = null;
  let isStopping = false;
  deps.watch?.gates(() => gates.holding());
  if (deps.metrics !== undefined) observeDispatcher(deps.metrics, () => gates.states());

  /** The failure in words for the model; after a 409 that needs the new manifest. */
  async function wordsFor(call: OwedCall, failure: Failure): Promise<Failure> {
    if (failure.code !== 'TOOLSET_CHANGED') return failure;
    const { tenant, effect } = call;
    const server = await registrations.get(tenant, effect.toolServer);
    if (server === null) return failure;
    const decidedOn = await manifests.stored(tenant, effect.toolsetSha256);
    return { ...failure, detail: await describeChange(manifests, server, decidedOn, effect.operation) };
  }

  async function report(call: OwedCall, { outcome, failure, isOld }: Conclusion, place: Place): Promise<void> {
    const { tenant, thread } = call;
    const { toolCallId, toolServer, operation } = call.effect;
    const about = { tenant, thread, call: toolCallId, toolServer, operation, outcome };
    logger.info('tool_call_dispatched', { ...about, code: failure?.code, ...traceFieldsOf(call.trace) }); // R15
    if (isOld !== true) ended(call, outcome, failure);
    if (audit !== null && isOld !== true && outcome !== 'cancelled')
      await place.releasedDuring(() => audit.record(auditEntry(call, outcome))); // (T5)
    if (failure !== null) await reportFailure(call, outcome, failure);
  }

  async function reportFailure(call: OwedCall, outcome: DispatchOutcome, failure: Failure): Promise<void> {
    const { tenant, thread, trace, effect } = call;
    const words = await wordsFor(call, failure);
    const input = dispatchFailure(effect.toolCallId, outcome === 'unknown' ? 'unknown' : 'error', words);
    await inputs.publish({ tenant, thread }, input, trace); // R14
  }

  /** The call is sent, or will never be: its span ends, also where it was withdrawn. */
  function ended(call: OwedCall, outcome: DispatchOutcome, failure: Failure | null): void {
    if (call.agent === undefined) return;
    void recordExecuteTool(call, outcome === 'cancelled' ? outcome : (failure?.code ?? null));
  }

  async function recordExecuteTool(call: OwedCall, error: string | null): Promise<void> {
    const { tracer, wallNow, mayHaveContent = () => false } = tracing;
    const endedAt = wallNow();
    const startedAt = endedAt - Math.max(0, clock.now() - call.at);
    const content = mayHaveContent(call.tenant) ? { description: await descriptionOf(call) } : null;
    const span = executeToolSpan(call, startedAt, endedAt, error, content);
    if (span !== null) tracer.record(span);
  }

  /** Of the called tool; a store that does not answer leaves it out of the span. */
  const descriptionOf = async ({ tenant, effect }: OwedCall): Promise<string | undefined> => {
    const manifest = await manifests.stored(tenant, effect.toolsetSha256).catch(() => null);
    return manifest?.toolset.tools.find(({ name }) => name === effect.operation)?.description;
  };

  async function invoke(call: OwedCall, running: RunningCall, place: WorkPlace): Promise<void> {
    const { tenant, thread } = call;
    const server = placeKeyOf(call);
    const ofServer = (heldOf.get(server) ?? 0) + 1;
    heldOf.set(server, ofServer);
    const isCrowded = place.isCrowded || ofServer > settings.callsHeldMax - runningCalls.size; // (T6)
    const delivery: Delivery = { call, key: { tenant, thread }, cancelToken: running.cancelToken, place, isCrowded };
    try {
      await report(call, await deliver(deliveryDeps, delivery, () => buildInvocation(deliveryDeps, call)), place);
    } catch (error) {
      if (error instanceof HeldBack) return; // (T4)
      if (!(error instanceof Interrupted)) throw error;
      if (!running.withdrawn) throw new Fault('UNAVAILABLE', 'the dispatcher is stopping'); // (T1)
      ended(call, 'cancelled', null);
    } finally {
      runningCalls.delete(callKeyOf(call, call.effect.toolCallId));
      const left = (heldOf.get(server) ?? 1) - 1;
      if (left === 0) heldOf.delete(server);
      else heldOf.set(server, left);
    }
  }

  function take(call: OwedCall, place: WorkPlace): Promise<void> {
    const id = callKeyOf(call, call.effect.toolCallId);
    const known = runningCalls.get(id);
    if (known !== undefined) return place.releasedDuring(() => known.done); // (T2)
    const cancelToken = new CancelTokenSource();
    const running: RunningCall = { cancelToken, withdrawn: false, done: Promise.resolve() };
    runningCalls.set(id, running);
    running.done = invoke(call, running, place); // `done` is not read before this: what runs at once looks up no other call
    return running.done;
  }

  async function withdraw({ tenant, thread, effect }: Owed<WithdrawCall>): Promise<void> {
    await ledger.settle({ tenant, thread }, effect.toolCallId, 'cancelled', null); // (T3)
    const running = runningCalls.get(callKeyOf({ tenant, thread }, effect.toolCallId));
    if (running === undefined) return;
    running.withdrawn = true;
    running.cancelToken.cancel();
  }

  async function load(owed: Owed<LoadToolsets>): Promise<void> {
    if (holding !== null && (await holding.holds(owed))) return; // (T4)
    const result = await loadToolsets({ registrations, manifests }, owed);
    for (const { toolServer, code, problems } of result.rejected)
      logger.warn('toolset_rejected', { tenant: owed.tenant, toolServer, code, problems: problems.join('; ') });
    await inputs.publish({ tenant: owed.tenant, thread: owed.thread }, result, owed.trace);
  }

  async function migrate(owed: Owed<MigrateToolServers>, place: Place): Promise<void> {
    if (holding !== null && (await holding.holds(owed))) return; // (T4)
    const result = await migrateToolServers({ ...deps, registrations, manifests, settings, place }, owed);
    const { tenant, thread, trace } = owed;
    logger.info('tool_servers_migrated', { tenant, thread, problems: result.problems.join('; ') });
    await inputs.publish({ tenant, thread }, result, trace);
  }

  function pay(message: Dispatch, place: WorkPlace): Promise<void> {
    const { effect } = message;
    switch (effect.do) {
      case 'InvokeTool':
        return take({ ...message, effect }, place);
      case 'WithdrawCall':
        return track(withdraw({ ...message, effect }));
      case 'LoadToolsets':
        return track(load({ ...message, effect }));
      case 'MigrateToolServers':
        return track(migrate({ ...message, effect }, place));
      default:
        return unreachable(effect);
    }
  }

  function track(work: Promise<void>): Promise<void> {
    const settled: Promise<void> = work.catch(() => {}).finally(() => others.delete(settled));
    others.add(settled);
    return work;
  }

  return {
    async start() {
      const handle = (message: Dispatch, place: WorkPlace): Promise<void> =>
        isStopping ? Promise.reject(new Fault('UNAVAILABLE', 'the dispatcher is stopping')) : pay(message, place);
      subscription = await deps.work.consume('dispatches', handle, deps.limits);
    },
    async stop(withinMs) {
      isStopping = true;
      deps.watch?.gates(null);
      for (const { cancelToken } of runningCalls.values()) cancelToken.cancel();
      await subscription?.close(withinMs);
      hardStop.abort();
      // What still waits for a bus that stopped first is not waited for: it touches no store any more.
      const waited = new AbortController();
      const quiet = Promise.allSettled([...[...runningCalls.values()].map(({ done }) => done), ...others]);
      await Promise.race([quiet, clock.sleep(abandonMs, waited.signal)]);
      waited.abort();
    },
  };
}

const callKeyOf = ({ tenant, thread }: ThreadKey, toolCallId: string): string => `${tenant} ${thread} ${toolCallId}`;

const auditEntry = ({ tenant, thread, effect }: OwedCall, outcome: DispatchOutcome): AuditEntry => ({
  tenant,
  actor: thread,
  action: 'tool_call.sent',
  target: effect.toolCallId,
  from: null,
  outcome,
  requestId: null,
});
