// Which agents of a tenant are paused, as every process sees it: read again after half a second.
//
// Invariants:
//   Q1. What was read is remembered for `rememberedMs`: a pause is in force everywhere within a second.
//   Q2. A store that does not answer is a fault, never a "yes" or a "no".
//   Q3. Where no agent of the tenant is paused, nothing more is read: not the name of a thread's agent either.
import { createSharedReads } from '@dormouse/collections';
import type { Agents, Clock, TenantId } from '@dormouse/ports';

const rememberedMs = 500;
const rememberedMax = 10_000;

export interface PausedAgents {
  /** Their names. @throws Fault */
  of(tenant: TenantId): Promise<ReadonlySet<string>>;
}

export function createPausedAgents({
  agents,
  clock,
}: {
  readonly agents: Pick<Agents, 'paused'>;
  readonly clock: Pick<Clock, 'now'>;
}): PausedAgents {
  const shared = createSharedReads<ReadonlySet<string>>();
  const remembered = new Map<string, { readonly names: ReadonlySet<string>; readonly until: number }>();

  async function read(tenant: TenantId): Promise<ReadonlySet<string>> {
    const until = clock.now() + rememberedMs; // (Q1) counted from before the read
    const names = new Set(await agents.paused(tenant)); // (Q2)
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(tenant, { names, until });
    return names;
  }

  return {
    of: async (tenant) => {
      const known = remembered.get(tenant);
      const now = clock.now();
      const isFresh = known !== undefined && known.until > now && known.until <= now + rememberedMs;
      return isFresh ? known.names : shared(tenant, () => read(tenant));
    },
  };
}
