// The services and their dependencies: functions over ports; this file only connects them. Each is created on request,
// so that a process holds only the services it runs.
import {
  countedBlobs,
  countedInputs,
  type AuditSigner,
  type CallbackGateway,
  type CallbackTokens,
  createAuditor,
  createCallbackGateway,
  createCallbackTally,
  createCallbackTokens,
  createHolding,
  createIdentityTokens,
  createIngress,
  createNotifier,
  createPausedAgents,
  createScheduler,
  createInputSweeper,
  createResealing,
  createRetention,
  createErasureService,
  createTenantErasure,
  createUserNames,
  createTenantLimits,
  createTenantMeter,
  createThreadProcessor,
  createToolDispatcher,
  createToolWatch,
  createWebhookService,
  type Holding,
  type IdentityTokens,
  type Ingress,
  type Measuring,
  measuredCallbacks,
  measuredDedup,
  measuredDispatches,
  measuredLedger,
  measuredProcessorPorts,
  measuredTransport,
  parseModelPrices,
  placeOfCredentials,
  placeOfFamilyKeys,
  placeOfSecrets,
  placeOfSources,
  placeOfWebhooks,
  type Service,
  type TenantLimits,
  type UserNames,
  type ToolDispatcherDeps,
  type ToolWatch,
  watchedFeed,
  watchedService,
  watchedTransport,
} from '@dormouse/runtime';
import { areKept, type InputBus } from '@dormouse/ports';
import type { Config } from './config.ts';
import { parseAllowedOrigins } from './http/door/allowed-origins.ts';
import { createTenantOrigins, type TenantOrigins } from './http/door/tenant-origins.ts';
import { createAuditSigner } from './platform/audit-signer.ts';
import { callbackKeysOf } from './platform/callback-keys.ts';
import { createRateGate, limitOfRate, type RateGate } from './http/door/rate-gate.ts';
import { createMasterKeys, type MasterKeys } from './platform/master-keys.ts';
import type { Platform } from './platform/platform.ts';

/** `flush` writes what it counted, once it takes no more. */
export type Callbacks = CallbackGateway & { flush(): Promise<void> };

export interface Services {
  ingress(): Ingress;
  callbackGateway(): Callbacks;
  inputSweeper(): Service;
  /** What goes on beside the requests, in the order in which it is started. */
  housekeeping(ingress: Ingress): readonly Service[];
  threadProcessor(): Service;
  toolDispatcher(): Service;
  notifier(): Service;
}

/** Longer than a completion may take. */
const lateWritersMs = 1_860_000;

/** `publicBase`: where clients and senders of deliveries reach this installation. Default: the base of callbacks. */
export function servicesOf(
  config: Config,
  platform: Platform,
  callbackBase: string,
  publicBase = callbackBase,
): Services {
  const { stores, transport, keys, sealer, clock, entropy, logger } = platform;
  /** The service that takes results needs the tokens that were sent with the calls. (callback-token K5) */
  const callbackTokens = madeOnce(() => createTokens(platform, callbackBase));
  /** A process is one reporter. */
  const toolWatch = madeOnce(() => createWatch(platform));
  /** A process is one reporter. */
  const tenantLimits = madeOnce(() => createLimits(platform));
  /** Where the processor is this process, it says itself what waits. */
  const enteredInputs = (): InputBus =>
    platform.traits.hasBroker ? countedInputs(stores.inputs, tenantLimits()) : stores.inputs;
  return {
    ingress: () =>
      createIngress({
        ...stores,
        blobs: countedBlobs(stores.blobs, tenantLimits()),
        limits: tenantLimits(),
        bus: enteredInputs(),
        idempotencyKeys: stores.idempotency,
        ...{ transport, webhookTransport: platform.webhookTransport, clock, entropy },
        sealer,
        quotas: { requestsPerS: rateOf(config, platform) || null },
        secretOrigins: platform.secretOrigins,
        signingKey: keys.all.map((each) => ({ id: each.mark, since: each.since, secret: each.key('thread tokens') })),
        auditSigner: auditSignerOf(platform),
        userNames: userNamesOf(platform),
        callbackTokens: callbackTokens(),
        validateArguments: platform.argumentValidator.validate,
        hooks: { publicBase, wallNow: () => Date.now(), logger },
      }),
    callbackGateway: () =>
      callbackGateway(config, platform, { tokens: callbackTokens(), limits: tenantLimits(), inputs: enteredInputs() }),
    inputSweeper: () => {
      const failed = (fault: unknown): void => logger.error('input_sweep_failed', { reason: String(fault) });
      const { directory, parked, inputs: bus } = stores;
      return createInputSweeper({ directory, parked, bus, clock, failed });
    },
    housekeeping: ({ deliver, tenantRecords: records }) => [
      createTenantErasure({ ...stores, clock, logger, lateWritersMs }),
      createScheduler({ schedules: stores.schedules, records, deliver, clock, logger }),
      createRetention({
        ...{ ...stores, clock, logger, metrics: platform.metrics, limits: tenantLimits() },
        audit: createAuditor({ ...stores, clock }),
        settings: { days: config.RETENTION_DAYS ?? null, auditDays: config.AUDIT_RETENTION_DAYS ?? null },
      }),
      createErasureService({
        ...{ ...stores, ...platform.erasing, sealer, clock, logger },
        ...{ signer: auditSignerOf(platform), userNames: userNamesOf(platform) },
        keyKeptMs: platform.traits.familyKeyKeptMs,
      }),
    ],
    threadProcessor: () => watchedService(threadProcessor(config, platform, toolWatch(), tenantLimits()), toolWatch()),
    toolDispatcher: () =>
      watchedService(
        toolDispatcher(config, platform, { tokens: callbackTokens(), watch: toolWatch(), limits: tenantLimits() }),
        toolWatch(),
      ),
    notifier: () => {
      const measuring = measuringOf(platform);
      const measured = measuring === null ? transport : measuredTransport(transport, measuring);
      const watched = watchedTransport(measured, toolWatch(), steadyNow);
      const notifier = createNotifier({
        ...{ ...stores, transport: watched, sealer, clock, entropy, logger, holding: holdingOf(platform) },
        limits: tenantLimits(),
      });
      return both(watchedService(notifier, toolWatch()), webhooks(platform));
    },
  };
}

function madeOnce<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

export const rateGateOf = (config: Config, platform: Platform): RateGate =>
  createRateGate(platform.stores.rates, limitOfRate(rateOf(config, platform)));

/** Requests per second of a tenant that has no quota of its own; 0 for no limit. */
const rateOf = ({ TENANT_REQUESTS_PER_S: set }: Config, { traits }: Platform): number => set ?? traits.tenantRate;

function createLimits(platform: Platform): TenantLimits {
  const { stores, clock, entropy, logger } = platform;
  return createTenantLimits({
    records: platform.records,
    meter: createTenantMeter({ tallies: stores.tenantTallies, clock, entropy, logger }),
    directory: stores.directory,
    clock,
  });
}

export const tenantOriginsOf = (config: Config, { stores, clock }: Platform): TenantOrigins =>
  createTenantOrigins(parseAllowedOrigins(config.ALLOWED_ORIGINS).origins, { ...stores, clock });

/** Null where no identity provider is set. */
export function identityTokensOf(config: Config, { clock, readDocument }: Platform): IdentityTokens | null {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience } = config;
  if (issuer === undefined || audience === undefined) return null;
  const { OIDC_TENANT_CLAIM: tenantClaim, OIDC_USER_CLAIM: userClaim, OIDC_SCOPES_CLAIM: scopesClaim } = config;
  return createIdentityTokens({ issuer, audience, tenantClaim, userClaim, scopesClaim }, { clock, readDocument });
}

export const masterKeysOf = ({ stores, keys, sealer, clock, noteMasterKey }: Platform): MasterKeys =>
  createMasterKeys({
    ...{ keys, clock, noteMasterKey },
    reseal: createResealing({
      ...stores,
      sealer,
      clock,
      places: [
        placeOfSecrets(stores.secrets),
        placeOfCredentials(stores.userCredentials),
        placeOfWebhooks(stores.webhooks),
        placeOfSources(stores.sources),
        placeOfFamilyKeys(stores.familyKeys),
      ],
    }),
  });

const holdingOf = (platform: Platform): Holding => {
  const { stores, records, clock } = platform;
  return createHolding({ ...stores, records, pausedAgents: createPausedAgents({ ...stores, clock }) });
};

/** Started one after the other, stopped together. */
const both = (one: Service, other: Service): Service => ({
  start: async () => {
    await one.start();
    await other.start();
  },
  stop: async (withinMs) => {
    await Promise.all([one.stop(withinMs), other.stop(withinMs)]);
  },
});

function webhooks({ stores, webhookTransport, sealer, clock, entropy, logger, metrics }: Platform): Service {
  const audit = createAuditor({ ...stores, clock });
  return createWebhookService({ ...stores, webhookTransport, sealer, audit, clock, entropy, logger, metrics });
}

const createTokens = ({ keys }: Platform, publicBase: string): CallbackTokens =>
  createCallbackTokens({ keys: callbackKeysOf(keys), publicBase });

/** Signs with the master key that is in use when the process starts. */
function auditSignerOf({ keys, clock }: Platform): AuditSigner {
  const inUse = keys.at(clock.now());
  const others = keys.all.filter((each) => each !== inUse).map((each) => each.key('audit'));
  return createAuditSigner(inUse.key('audit'), others);
}

/** Under the master key that is in use when the process starts, and under those of before. */
function userNamesOf({ keys, clock }: Platform): UserNames {
  const inUse = keys.at(clock.now());
  const others = keys.all.filter((each) => each !== inUse).toReversed();
  return createUserNames([inUse.key('audit'), ...others.map((each) => each.key('audit'))]);
}

function callbackGateway(
  config: Config,
  platform: Platform,
  { tokens, limits, inputs }: Pick<DispatcherParts, 'tokens' | 'limits'> & { readonly inputs: InputBus },
): Callbacks {
  const { stores, traits, sealer, clock, entropy, logger, metrics } = platform;
  const isMeasured = areKept(metrics);
  const tally = createCallbackTally({ counts: stores.callbackCounts, clock, entropy, logger });
  const gateway = createCallbackGateway({
    ...stores,
    inputs,
    blobs: countedBlobs(stores.blobs, limits),
    ...(isMeasured ? { dedup: measuredDedup(stores.dedup, metrics) } : {}),
    ...{ tokens, sealer, clock, entropy, logger, tally, limits },
    rate: limitOfRate(config.TENANT_CALLBACKS_PER_S ?? traits.tenantRate),
    settings: { loginDeadlineMs: config.OAUTH_DEADLINE_MS, choiceDeadlineMs: config.CHOICE_DEADLINE_MS },
  });
  const measured = isMeasured ? measuredCallbacks(gateway, metrics) : gateway;
  return {
    ...measured,
    flush: async () => {
      await Promise.all([tally.flush(), limits.flush()]);
    },
  };
}

/** Null when nothing is measured. */
const measuringOf = ({ metrics }: Platform): Measuring | null =>
  areKept(metrics) ? { metrics, now: steadyNow } : null;

/** Milliseconds of a clock that never jumps. */
const steadyNow = (): number => performance.now();

function createWatch({ stores, clock, entropy, logger, metrics }: Platform): ToolWatch {
  const { toolActivity: activity, toolServers } = stores;
  return createToolWatch({ activity, toolServers, clock, entropy, logger, metrics });
}

function threadProcessor(config: Config, platform: Platform, watch: ToolWatch, limits: TenantLimits): Service {
  const { stores, traits, model, clock, entropy, logger, keys, argumentValidator, tracing } = platform;
  const measuring = measuringOf(platform);
  const measured = measuring === null ? {} : measuredProcessorPorts({ ...stores, model }, measuring, clock);
  const ports = { ...stores, model, ...measured };
  return createThreadProcessor({
    ...ports,
    tenantStores: stores,
    limits,
    prices: parseModelPrices(config.MODEL_PRICES ?? '') ?? new Map(),
    ...{ clock, entropy, logger, tracing },
    feed: watchedFeed(ports.feed, watch),
    validateArguments: argumentValidator.validate,
    idKey: keys.at(0).key('ids'),
    settings: {
      ...(traits.groupsInFlightMax === undefined ? {} : { groupsInFlightMax: traits.groupsInFlightMax }),
      modelStartTimeoutMs: config.MODEL_START_TIMEOUT_MS,
      modelStallTimeoutMs: config.MODEL_STALL_TIMEOUT_MS,
      modelRetryTotalMs: config.MODEL_RETRY_TOTAL_MS,
    },
  });
}

interface DispatcherParts {
  readonly tokens: CallbackTokens;
  readonly watch: ToolWatch;
  readonly limits: TenantLimits;
}

function toolDispatcher(config: Config, platform: Platform, { tokens, watch, limits }: DispatcherParts): Service {
  const { stores, clock, entropy, logger, tracing } = platform;
  const ports = { ...stores, transport: platform.transport, ...measuredDispatcher(platform) };
  return createToolDispatcher({
    ...{ ...ports, clock, entropy, logger, tracing, watch, limits },
    ...{ holding: holdingOf(platform), audit: createAuditor({ ...stores, clock }) },
    transport: watchedTransport(ports.transport, watch, steadyNow),
    callbackTokens: tokens,
    settings: {
      ackTimeoutMs: config.TOOL_ACK_TIMEOUT_MS,
      retryTotalMs: config.TOOL_RETRY_TOTAL_MS,
      retryFirstMs: config.TOOL_RETRY_FIRST_MS,
      unknownOutcomeGraceMs: config.UNKNOWN_OUTCOME_GRACE_MS,
    },
  });
}

/** The ports of the dispatcher that are measured; none when nothing is. */
function measuredDispatcher(platform: Platform): Partial<ToolDispatcherDeps> {
  const { stores, transport, clock } = platform;
  const measuring = measuringOf(platform);
  if (measuring === null) return {};
  return {
    work: measuredDispatches(stores.work, measuring.metrics, clock),
    ledger: measuredLedger(stores.ledger, measuring.metrics),
    transport: measuredTransport(transport, measuring),
    metrics: measuring.metrics,
  };
}
