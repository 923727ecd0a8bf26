// The MongoDB adapter passes the contract of every store, on a real server, each suite in a database of its own.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import type { ThreadKey } from '@dormouse/ports';
import {
  agentsContract,
  apiKeysContract,
  auditLogContract,
  blobsContract,
  dispatchLedgerContract,
  contentEraserContract,
  erasuresContract,
  familyKeysContract,
  idempotencyKeysContract,
  heldThreadsContract,
  inboxContract,
  loginsContract,
  parkedThreadsContract,
  revokedTokensContract,
  schedulesContract,
  deliveriesContract,
  sourcesContract,
  secretsContract,
  userCredentialsContract,
  snapshotsContract,
  tenantLogContract,
  tenantEraserContract,
  threadRemoverContract,
  restingThreadsContract,
  tenantsContract,
  threadDirectoryContract,
  threadLogContract,
  timersContract,
  callbackCountsContract,
  tenantTalliesContract,
  toolActivityContract,
  toolServersContract,
  toolsetsContract,
  usageContract,
  type TenantLogUnderTest,
  viewsContract,
  webhooksContract,
} from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { withServices } from '../services/needed-services.ts';

/** As the bus has them: three partitions, by the last letter of a thread. */
const partitions = {
  count: 3,
  of: ({ thread }: ThreadKey) => (thread.codePointAt(thread.length - 1) ?? 0) % 3,
  owned: () => new Set([0, 1, 2]),
};

type Living<Part> = Part & { close(): Promise<void>; reopen(): Promise<Living<Part>> };

withServices(['mongo'], ({ mongo }) => {
  /** Opens a fresh database; `reopen` closes and opens the same one again. */
  function fresh<Part>(part: (stores: MongoStores) => Part): () => Promise<Living<Part>> {
    const open = async (database: string): Promise<Living<Part>> => {
      const stores = await openMongo({ url: mongo, database, indexes: 'make' });
      const reopen = async (): Promise<Living<Part>> => {
        await stores.close();
        return open(database);
      };
      return { ...part(stores), close: () => stores.close(), reopen };
    };
    return () => open(`test_${randomBytes(6).toString('hex')}`);
  }

  /** `another` is another process over the same database. */
  async function openTenantLog(database: string, given: typeof partitions | undefined): Promise<TenantLogUnderTest> {
    const options = { url: mongo, database, indexes: 'make', partitions: given } as const;
    const opened = [await openMongo(options)];
    const close = async (): Promise<void> => void (await Promise.all(opened.map((stores) => stores.close())));
    return {
      log: opened[0]!.log,
      tenantLog: opened[0]!.tenantLog,
      another: async () => {
        const stores = await openMongo(options);
        opened.push(stores);
        return stores;
      },
      close,
      reopen: async () => {
        await close();
        return openTenantLog(database, given);
      },
    };
  }

  threadLogContract(
    'mongo',
    fresh(({ log }) => ({ log })),
  );
  for (const given of [undefined, partitions])
    tenantLogContract(`mongo, partitions: ${given?.count ?? 1}`, () =>
      openTenantLog(`test_${randomBytes(6).toString('hex')}`, given),
    );
  dispatchLedgerContract(
    'mongo',
    fresh(({ ledger }) => ({ ledger })),
  );
  viewsContract(
    'mongo',
    fresh((stores) => ({ port: stores.views })),
  );
  revokedTokensContract(
    'mongo',
    fresh((stores) => ({ port: stores.revokedTokens })),
  );
  auditLogContract(
    'mongo',
    fresh((stores) => ({ port: stores.auditLog })),
  );
  inboxContract(
    'mongo',
    fresh((stores) => ({ port: stores.inbox })),
  );
  loginsContract(
    'mongo',
    fresh((stores) => ({ port: stores.logins })),
  );
  parkedThreadsContract(
    'mongo',
    fresh((stores) => ({ port: stores.parked })),
  );
  tenantsContract(
    'mongo',
    fresh((stores) => ({ port: stores.tenants })),
  );
  heldThreadsContract(
    'mongo',
    fresh((stores) => ({ port: stores.heldThreads })),
  );
  tenantEraserContract(
    'mongo',
    fresh((stores) => ({ port: stores })),
  );
  threadRemoverContract(
    'mongo',
    fresh((stores) => ({ port: stores })),
  );
  restingThreadsContract(
    'mongo',
    fresh((stores) => ({ port: stores })),
  );
  agentsContract(
    'mongo',
    fresh((stores) => ({ port: stores.agents })),
  );
  apiKeysContract(
    'mongo',
    fresh((stores) => ({ port: stores.apiKeys })),
  );
  sourcesContract(
    'mongo',
    fresh((stores) => ({ port: stores.sources })),
  );
  schedulesContract(
    'mongo',
    fresh((stores) => ({ port: stores.schedules })),
  );
  deliveriesContract(
    'mongo',
    fresh((stores) => ({ port: stores.deliveries })),
  );
  userCredentialsContract(
    'mongo',
    fresh((stores) => ({ port: stores.userCredentials })),
  );
  familyKeysContract(
    'mongo',
    fresh((stores) => ({ port: stores.familyKeys })),
  );
  erasuresContract(
    'mongo',
    fresh((stores) => ({ port: stores.erasures })),
  );
  contentEraserContract(
    'mongo',
    fresh((stores) => ({ port: stores })),
  );
  secretsContract(
    'mongo',
    fresh((stores) => ({ port: stores.secrets })),
  );
  callbackCountsContract(
    'mongo',
    fresh((stores) => ({ port: stores.callbackCounts })),
  );
  tenantTalliesContract(
    'mongo',
    fresh((stores) => ({ port: stores.tenantTallies })),
  );
  toolActivityContract(
    'mongo',
    fresh((stores) => ({ port: stores.toolActivity })),
  );
  toolServersContract(
    'mongo',
    fresh((stores) => ({ port: stores.toolServers })),
  );
  toolsetsContract(
    'mongo',
    fresh((stores) => ({ port: stores.toolsets })),
  );
  blobsContract(
    'mongo',
    fresh((stores) => ({ port: stores.blobs })),
  );
  snapshotsContract(
    'mongo',
    fresh((stores) => ({ port: stores.snapshots })),
  );
  threadDirectoryContract(
    'mongo',
    fresh((stores) => ({ port: stores.directory })),
  );
  usageContract(
    'mongo',
    fresh((stores) => ({ port: stores.directory })),
  );
  timersContract(
    'mongo',
    fresh((stores) => ({ port: stores.timers })),
  );
  idempotencyKeysContract(
    'mongo',
    fresh((stores) => ({ port: stores.idempotency })),
  );
  webhooksContract(
    'mongo',
    fresh((stores) => ({ port: stores })),
  );
});
