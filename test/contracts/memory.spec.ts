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
  dedupContract,
  dispatchLedgerContract,
  inputBusContract,
  liveFeedContract,
  tenantLogContract,
  threadLogContract,
  workBusContract,
} from '@dormouse/ports/contracts';
import { storeContracts } from './store-contracts.ts';

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
}
storeContracts('memory', (part) => fresh('standalone', part));
dispatchLedgerContract(
  'memory, durable',
  fresh('durable', ({ ledger }) => ({ ledger })),
);
dedupContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.dedup })),
);
liveFeedContract(
  'memory',
  fresh('standalone', (ports) => ({ port: ports.feed })),
);
