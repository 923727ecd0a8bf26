// The SQLite adapter passes the contract of every port.
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import {
  agentsContract,
  apiKeysContract,
  auditLogContract,
  blobsContract,
  dedupContract,
  dispatchLedgerContract,
  contentEraserContract,
  erasuresContract,
  familyKeysContract,
  idempotencyKeysContract,
  heldThreadsContract,
  inboxContract,
  inputBusContract,
  liveFeedContract,
  loginsContract,
  parkedThreadsContract,
  rateLimitsContract,
  revokedTokensContract,
  schedulesContract,
  deliveriesContract,
  sourcesContract,
  secretsContract,
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
  userCredentialsContract,
  viewsContract,
  webhooksContract,
  workBusContract,
} from '@dormouse/ports/contracts';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

removeScratchDirectories();

type Living<Part> = Part & { close(): Promise<void>; reopen(): Promise<Living<Part>> };

/** Opens a fresh directory; `reopen` closes and opens the same one again. */
function fresh<Part>(part: (stores: SqliteStores) => Part): () => Promise<Living<Part>> {
  const open = async (directory: string): Promise<Living<Part>> => {
    const stores = await openSqlite({ directory });
    const reopen = async (): Promise<Living<Part>> => {
      await stores.close();
      return open(directory);
    };
    return { ...part(stores), close: () => stores.close(), reopen };
  };
  return async () => open(await scratchDirectory());
}

threadLogContract(
  'sqlite',
  fresh(({ log }) => ({ log })),
);
tenantLogContract(
  'sqlite',
  fresh(({ log, tenantLog }) => ({ log, tenantLog })),
);
inputBusContract(
  'sqlite',
  fresh(({ inputs, log }) => ({ inputs, log })),
);
workBusContract(
  'sqlite',
  fresh(({ work }) => ({ work })),
);
dispatchLedgerContract(
  'sqlite',
  fresh(({ ledger }) => ({ ledger })),
);
viewsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.views })),
);
revokedTokensContract(
  'sqlite',
  fresh((stores) => ({ port: stores.revokedTokens })),
);
auditLogContract(
  'sqlite',
  fresh((stores) => ({ port: stores.auditLog })),
);
inboxContract(
  'sqlite',
  fresh((stores) => ({ port: stores.inbox })),
);
loginsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.logins })),
);
rateLimitsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.rates })),
);
parkedThreadsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.parked })),
);
tenantsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.tenants })),
);
heldThreadsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.heldThreads })),
);
tenantEraserContract(
  'sqlite',
  fresh((stores) => ({ port: stores })),
);
threadRemoverContract(
  'sqlite',
  fresh((stores) => ({ port: stores })),
);
restingThreadsContract(
  'sqlite',
  fresh((stores) => ({ port: stores })),
);
agentsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.agents })),
);
apiKeysContract(
  'sqlite',
  fresh((stores) => ({ port: stores.apiKeys })),
);
blobsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.blobs })),
);
dedupContract(
  'sqlite',
  fresh((stores) => ({ port: stores.dedup })),
);
idempotencyKeysContract(
  'sqlite',
  fresh((stores) => ({ port: stores.idempotency })),
);
liveFeedContract(
  'sqlite',
  fresh((stores) => ({ port: stores.feed })),
);
sourcesContract(
  'sqlite',
  fresh((stores) => ({ port: stores.sources })),
);
schedulesContract(
  'sqlite',
  fresh((stores) => ({ port: stores.schedules })),
);
deliveriesContract(
  'sqlite',
  fresh((stores) => ({ port: stores.deliveries })),
);
userCredentialsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.userCredentials })),
);
familyKeysContract(
  'sqlite',
  fresh((stores) => ({ port: stores.familyKeys })),
);
erasuresContract(
  'sqlite',
  fresh((stores) => ({ port: stores.erasures })),
);
contentEraserContract(
  'sqlite',
  fresh((stores) => ({ port: stores })),
);
secretsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.secrets })),
);
snapshotsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.snapshots })),
);
threadDirectoryContract(
  'sqlite',
  fresh((stores) => ({ port: stores.directory })),
);
usageContract(
  'sqlite',
  fresh((stores) => ({ port: stores.directory })),
);
timersContract(
  'sqlite',
  fresh((stores) => ({ port: stores.timers })),
);
callbackCountsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.callbackCounts })),
);

tenantTalliesContract(
  'sqlite',
  fresh((stores) => ({ port: stores.tenantTallies })),
);
toolActivityContract(
  'sqlite',
  fresh((stores) => ({ port: stores.toolActivity })),
);
toolServersContract(
  'sqlite',
  fresh((stores) => ({ port: stores.toolServers })),
);
toolsetsContract(
  'sqlite',
  fresh((stores) => ({ port: stores.toolsets })),
);
webhooksContract(
  'sqlite',
  fresh((stores) => ({ port: stores })),
);
