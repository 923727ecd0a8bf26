// Everything a process works with: the stores and buses of its topology, and what is the same in every topology.
//
// Invariants:
//   P3. `close` releases in the order of dependence: clients first, stores last.
import {
  createGuardedFetch,
  createRefreshGrant,
  createToolTransport,
  createWebhookTransport,
  parseOutboundAllow,
} from '@dormouse/adapter-http';
import { createModel, createModelCatalog, type ModelCatalog, standardOrigins } from '@dormouse/adapter-model';
import { openTracer } from '@dormouse/adapter-telemetry';
import {
  type Clock,
  type Entropy,
  type Logger,
  type Metrics,
  type Model,
  noMetrics,
  type RotatingSealer,
  type Stores,
  type ToolTransport,
  type WebhookTransport,
  type TenantId,
} from '@dormouse/ports';
import {
  createContentSwitch,
  createFamilyKeyring,
  createTenantRecords,
  createUserTokens,
  type FamilyKeyring,
  inputBusWithSpans,
  type ReadDocument,
  sealedStores,
  type TenantRecords,
  tracedTransport,
  tracerWithSwitch,
  type Tracing,
  workBusWithSpans,
} from '@dormouse/runtime';
import { type Config, providerEnvironment, standardVariables } from '../config.ts';
import { inRequestTrace } from '../http/server/request-spans.ts';
import { version } from '../version.ts';
import { type ArgumentValidator, createArgumentValidator } from './argument-validator.ts';
import { observeBuses } from './bus-gauges.ts';
import { contentCipher } from './content-cipher.ts';
import { createProcessClock, type ProcessClock } from './process-clock.ts';
import { createReadDocument } from './read-document.ts';
import { sealKeysOf } from './seal-keys.ts';
import { createSealer, secretFinder, secretReader } from './sealer.ts';
import { systemEntropy } from './system-entropy.ts';
import { createTenantOutbound } from './tenant-outbound.ts';
import { observeThreads } from './thread-gauges.ts';
import { openTopology, type Topology, type TopologyTraits } from './topology.ts';

const documentBytesMax = 1_048_576;

export interface Platform extends Omit<Topology, 'load' | 'isFirst'> {
  /** One of each process: what asks for a tenant's record reads it once for all. */
  readonly records: TenantRecords;
  readonly transport: ToolTransport;
  readonly webhookTransport: WebhookTransport;
  readonly model: Model;
  readonly models: ModelCatalog;
  /** Where a secret that is named like a provider goes when it names no origin itself. */
  readonly secretOrigins: Readonly<Record<string, string>>;
  readonly argumentValidator: ArgumentValidator;
  /** Documents of an identity provider. */
  readonly readDocument: ReadDocument;
  readonly sealer: RotatingSealer;
  /** What erases contents, and the log as it is stored. */
  readonly erasing: { readonly keyring: FamilyKeyring; readonly stored: Pick<Stores, 'log'> };
  readonly clock: ProcessClock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** @throws Fault with a code of `problem-codes.ts` and the next step in its words. */
export async function openPlatform(
  service: string,
  config: Config,
  logger: Logger,
  metrics: Metrics = noMetrics,
): Promise<Platform> {
  const clock = createProcessClock();
  const spans = await openTracer({ service, version, env: standardVariables(), logger, metrics });
  const topology = await openTopology(config, clock, logger, metrics);
  observeBuses(metrics, () => topology.load());
  const { keys, traits } = topology;
  const records = createTenantRecords({ ...topology.stores, clock });
  const contents = createContentSwitch(records, config.TRACE_CONTENT);
  const tracer = tracerWithSwitch(spans, contents);
  const mayHaveContent = (tenant: TenantId): boolean => contents.mayHave(tenant);
  const tracing = { tracer, wallNow, turnMsMax: config.TRACE_TURN_MAX_MS, mayHaveContent };
  const sealer = createSealer(sealKeysOf(keys, clock));
  const keyring = keyringOf(topology, sealer, clock);
  const sealed = sealedStores(topology.stores, {
    keyring,
    isFeedStored: traits.hasBroker === true,
  });
  const stores = tracer.isOn ? storesInTraces(sealed, traits, tracing) : sealed;
  observeThreads(metrics, stores.directory, clock, () => topology.isFirst());
  const findSecret = secretFinder(stores.secrets, sealer);
  const secret = secretReader(findSecret);
  const rules = [...traits.outboundAllow, config.OUTBOUND_ALLOW].join(',');
  const outboundAllow = parseOutboundAllow(rules).rules;
  const small = { connectionsPerOriginMax: 8, responseBytesMax: documentBytesMax };
  const outboundOf = createTenantOutbound(records);
  const documents = createGuardedFetch({ outboundAllow, outboundOf, ...small });
  const refreshGrant = createRefreshGrant(documents.fetchOf);
  const userToken = createUserTokens({ ...stores, sealer, clock, entropy: systemEntropy, logger, refreshGrant });
  const guarded = createToolTransport({ outboundAllow, outboundOf, secrets: secret, userToken });
  const transport = tracedTransport(guarded, tracing);
  const webhookTransport = createWebhookTransport({ outboundAllow, outboundOf });
  // The processor's own limits of a completion end it, by the signal of its request.
  const outbound = createGuardedFetch({ outboundAllow, outboundOf, headersTimeoutMs: 0, bodyTimeoutMs: 0 });
  const blob = (tenant: TenantId, sha256: string) => stores.blobs.get(tenant, sha256);
  const environment = traits.hasBroker === true ? {} : providerEnvironment();
  const { fetch, fetchOf } = outbound;
  const asked = { fetch, fetchOf, secret: findSecret, environment, blob, clock };
  const model = createModel(asked);
  const models = createModelCatalog(asked);
  const argumentValidator = createArgumentValidator(logger);
  const close = async (): Promise<void> => {
    const clients = [guarded.close(), outbound.close(), documents.close(), webhookTransport.close()];
    await Promise.all([...clients, argumentValidator.close()]); // (P3)
    await topology.close();
    await spans.close();
  };
  return {
    ...{ ...topology, stores, transport, model, models, argumentValidator, sealer, clock, logger, metrics, tracing },
    ...{ webhookTransport, records, close },
    readDocument: createReadDocument(documents.fetch),
    erasing: { keyring, stored: topology.stores },
    secretOrigins: standardOrigins(environment),
    entropy: systemEntropy,
  };
}

/** Milliseconds since the epoch, with fractions; never goes back. */
const wallNow = (): number => performance.timeOrigin + performance.now();

const keyringOf = ({ stores, traits }: Topology, sealer: RotatingSealer, clock: Clock): FamilyKeyring =>
  createFamilyKeyring({
    ...{ familyKeys: stores.familyKeys, sealer, cipher: contentCipher, clock },
    keptMs: traits.familyKeyKeptMs,
  });

function storesInTraces(stores: Stores, traits: TopologyTraits, tracing: Tracing): Stores {
  if (traits.hasBroker !== true) return { ...stores, inputs: inRequestTrace(stores.inputs, tracing) };
  return {
    ...stores,
    inputs: inRequestTrace(inputBusWithSpans(stores.inputs, tracing), tracing),
    work: workBusWithSpans(stores.work, tracing),
  };
}
