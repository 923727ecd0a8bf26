// The contracts of every store that each adapter has: memory, SQLite and MongoDB pass one list. Buses, and what Redis
// has in a cluster, are not in it.
import type { Stores } from '@dormouse/ports';
import {
  agentsContract,
  apiKeysContract,
  auditLogContract,
  blobsContract,
  callbackCountsContract,
  contentEraserContract,
  deliveriesContract,
  dispatchLedgerContract,
  erasuresContract,
  familyKeysContract,
  heldThreadsContract,
  idempotencyKeysContract,
  inboxContract,
  loginsContract,
  parkedThreadsContract,
  restingThreadsContract,
  revokedTokensContract,
  schedulesContract,
  secretsContract,
  snapshotsContract,
  sourcesContract,
  tenantEraserContract,
  tenantsContract,
  tenantTalliesContract,
  threadDirectoryContract,
  threadRemoverContract,
  timersContract,
  toolActivityContract,
  toolServersContract,
  toolsetsContract,
  usageContract,
  userCredentialsContract,
  viewsContract,
  webhooksContract,
} from '@dormouse/ports/contracts';

/** `reopen` closes it and opens the same data again. */
export type Living<Part> = Part & { close(): Promise<void>; reopen(): Promise<Living<Part>> };

type StoredStores = Omit<Stores, 'inputs' | 'work' | 'dedup' | 'feed' | 'rates'>;

/** Opens stores without data, and takes from them what a suite is about. */
type Fresh = <Part>(part: (stores: StoredStores) => Part) => () => Promise<Living<Part>>;

export function storeContracts(adapter: string, fresh: Fresh): void {
  const the = <Name extends keyof StoredStores>(name: Name) => fresh((stores) => ({ port: stores[name] }));
  const all = fresh((stores) => ({ port: stores }));
  dispatchLedgerContract(
    adapter,
    fresh(({ ledger }) => ({ ledger })),
  );
  agentsContract(adapter, the('agents'));
  apiKeysContract(adapter, the('apiKeys'));
  auditLogContract(adapter, the('auditLog'));
  blobsContract(adapter, the('blobs'));
  callbackCountsContract(adapter, the('callbackCounts'));
  contentEraserContract(adapter, all);
  deliveriesContract(adapter, the('deliveries'));
  erasuresContract(adapter, the('erasures'));
  familyKeysContract(adapter, the('familyKeys'));
  heldThreadsContract(adapter, the('heldThreads'));
  idempotencyKeysContract(adapter, the('idempotency'));
  inboxContract(adapter, the('inbox'));
  loginsContract(adapter, the('logins'));
  parkedThreadsContract(adapter, the('parked'));
  restingThreadsContract(adapter, all);
  revokedTokensContract(adapter, the('revokedTokens'));
  schedulesContract(adapter, the('schedules'));
  secretsContract(adapter, the('secrets'));
  snapshotsContract(adapter, the('snapshots'));
  sourcesContract(adapter, the('sources'));
  tenantEraserContract(adapter, all);
  tenantsContract(adapter, the('tenants'));
  tenantTalliesContract(adapter, the('tenantTallies'));
  threadDirectoryContract(adapter, the('directory'));
  threadRemoverContract(adapter, all);
  timersContract(adapter, the('timers'));
  toolActivityContract(adapter, the('toolActivity'));
  toolServersContract(adapter, the('toolServers'));
  toolsetsContract(adapter, the('toolsets'));
  usageContract(adapter, the('directory'));
  userCredentialsContract(adapter, the('userCredentials'));
  viewsContract(adapter, the('views'));
  webhooksContract(adapter, all);
}
