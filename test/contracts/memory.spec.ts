// The memory adapter passes the same contracts, in both of its topologies. A process that was closed reaches nothing.
import {
  createManualClock,
  createMemoryWorld,
  type Gate,
  type MemoryPorts,
  type Topology,
} from '@dormouse/adapter-memory';
import { Fault } from '@dormouse/ports';
import {
  type Advance,
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

type Living<Part> = Part & {
  readonly advance: Advance;
  readonly handsOver: boolean;
  close(): Promise<void>;
  reopen(): Promise<Living<Part>>;
};

/** A world of its own; `reopen` is the next life of the same process. */
function fresh<Part>(topology: Topology, part: (ports: MemoryPorts) => Part): () => Promise<Living<Part>> {
  return async () => {
    const clock = createManualClock();
    const closed = new Set<string>();
    const gate: Gate = {
      pass: async (node, _operation, apply) => {
        if (closed.has(node)) throw new Fault('UNAVAILABLE', 'this process has ended');
        return apply();
      },
    };
    const world = createMemoryWorld({ clock, gate, topology, partitions: 1 });
    const live = (life: number): Living<Part> => {
      const node = `process-${life}`;
      const close = async (): Promise<void> => {
        closed.add(node);
        world.durable.broker.expire(node);
        world.durable.broker.forget(node);
      };
      return {
        ...part(world.ports(node)),
        handsOver: topology === 'durable',
        advance: (ms) => clock.advance(ms),
        close,
        reopen: async () => {
          await close();
          return live(life + 1);
        },
      };
    };
    return live(1);
  };
}

for (const topology of ['standalone', 'durable'] as const) {
  threadLogContract(
    `memory, ${topology}`,
    fresh(topology, ({ log }) => ({ log })),
  );
  tenantLogContract(
    `memory, ${topology}`,
    fresh(topology, ({ log, tenantLog }) => ({ log, tenantLog })),
  );
  inputBusContract(
    `memory, ${topology}`,
    fresh(topology, ({ inputs, log }) => ({ inputs, log })),
  );
  workBusContract(
    `memory, ${topology}`,
    fresh(topology, ({ work }) => ({ work })),
  );
  dispatchLedgerContract(
    `memory, ${topology}`,
    fresh(topology, ({ ledger }) => ({ ledger })),
  );
}
viewsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.views })),
);
revokedTokensContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.revokedTokens })),
);
auditLogContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.auditLog })),
);
inboxContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.inbox })),
);
loginsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.logins })),
);
parkedThreadsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.parked })),
);
tenantsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.tenants })),
);
heldThreadsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.heldThreads })),
);
tenantEraserContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports })),
);
threadRemoverContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports })),
);
restingThreadsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports })),
);
agentsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.agents })),
);
apiKeysContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.apiKeys })),
);
blobsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.blobs })),
);
dedupContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.dedup })),
);
sourcesContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.sources })),
);
schedulesContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.schedules })),
);
deliveriesContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.deliveries })),
);
idempotencyKeysContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.idempotency })),
);
liveFeedContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.feed })),
);
userCredentialsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.userCredentials })),
);
familyKeysContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.familyKeys })),
);
erasuresContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.erasures })),
);
contentEraserContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports })),
);
secretsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.secrets })),
);
snapshotsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.snapshots })),
);
threadDirectoryContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.directory })),
);
usageContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.directory })),
);
timersContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.timers })),
);
callbackCountsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.callbackCounts })),
);

tenantTalliesContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.tenantTallies })),
);
toolActivityContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.toolActivity })),
);
toolServersContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.toolServers })),
);
toolsetsContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.toolsets })),
);
webhooksContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports })),
);
