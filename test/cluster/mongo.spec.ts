// The MongoDB adapter passes the contract of every store, on a real server, each suite in a database of its own.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import {
  agentsContract,
  apiKeysContract,
  blobsContract,
  dispatchLedgerContract,
  idempotencyKeysContract,
  inboxContract,
  loginsContract,
  parkedThreadsContract,
  revokedTokensContract,
  secretsContract,
  snapshotsContract,
  threadDirectoryContract,
  threadLogContract,
  timersContract,
  callbackCountsContract,
  toolActivityContract,
  toolServersContract,
  toolsetsContract,
  usageContract,
  viewsContract,
} from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { withServices } from '../services/needed-services.ts';

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

  threadLogContract(
    'mongo',
    fresh(({ log }) => ({ log })),
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
  agentsContract(
    'mongo',
    fresh((stores) => ({ port: stores.agents })),
  );
  apiKeysContract(
    'mongo',
    fresh((stores) => ({ port: stores.apiKeys })),
  );
  secretsContract(
    'mongo',
    fresh((stores) => ({ port: stores.secrets })),
  );
  callbackCountsContract(
    'mongo',
    fresh((stores) => ({ port: stores.callbackCounts })),
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
});
