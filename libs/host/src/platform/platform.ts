// From settings to ports: the one place that chooses technology. Everything above it sees ports only.
//
// Invariants:
//   P1. Every store and bus of one process comes from one topology; there is no mixture.
//   P2. `close` lets go in the order of dependence: clients first, stores last.
import { createGuardedFetch, createToolTransport, parseOutboundAllow } from '@dormouse/adapter-http';
import { createModel } from '@dormouse/adapter-model';
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import { type Entropy, Fault, type Logger, type Model, type ToolTransport } from '@dormouse/ports';
import type { Config } from '../config.ts';
import { type ArgumentValidator, createArgumentValidator } from './argument-validator.ts';
import { createDevelopmentClock, type DevelopmentClock } from './development-clock.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import { createSealer, type Sealer, secretReader } from './sealer.ts';
import { systemEntropy } from './system-entropy.ts';

export interface Platform {
  readonly stores: SqliteStores;
  readonly transport: ToolTransport;
  readonly model: Model;
  readonly argumentValidator: ArgumentValidator;
  readonly keys: KeyRing;
  readonly sealer: Sealer;
  readonly clock: DevelopmentClock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  close(): Promise<void>;
}

/** @throws Fault with a code of `problem-codes.ts` and the next step in its words. */
export async function openPlatform(config: Config, logger: Logger): Promise<Platform> {
  refuseCluster(config);
  const clock = createDevelopmentClock();
  const stores = await openSqlite({ directory: config.DATA_DIR, clock });
  try {
    const keys = await openKeyRing(config.DATA_DIR);
    const sealer = createSealer(keys.key('secrets'));
    const secret = secretReader(stores.secrets, sealer);
    const outboundAllow = parseOutboundAllow([loopbackAllow, config.OUTBOUND_ALLOW].join(',')).rules;
    const transport = createToolTransport({ outboundAllow, secrets: secret });
    const outbound = createGuardedFetch({ outboundAllow });
    const blob = (tenant: string, sha256: string) => stores.blobs.get(tenant, sha256);
    const model = createModel({ fetch: outbound.fetch, secret, blob, clock });
    const argumentValidator = createArgumentValidator(logger);
    const close = async (): Promise<void> => {
      await Promise.all([transport.close(), outbound.close(), argumentValidator.close()]); // (P2)
      await stores.close();
    };
    return { stores, transport, model, argumentValidator, keys, sealer, clock, entropy: systemEntropy, logger, close };
  } catch (failure) {
    await stores.close();
    throw failure;
  }
}

/** A tool server or model on the same machine is the normal case of this topology. */
const loopbackAllow = 'http://127.0.0.0/8,http://[::1],http://localhost';

function refuseCluster({ KAFKA_BROKERS, MONGO_URL, REDIS_URL }: Config): void {
  if (KAFKA_BROKERS === undefined && MONGO_URL === undefined && REDIS_URL === undefined) return;
  throw new Fault(
    'UNAVAILABLE',
    'DORMOUSE_KAFKA_BROKERS, DORMOUSE_MONGO_URL and DORMOUSE_REDIS_URL choose the cluster, which this version does not have yet. Unset them to run standalone over SQLite.',
  );
}
