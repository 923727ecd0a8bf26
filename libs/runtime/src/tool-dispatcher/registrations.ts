// The tool servers that operators registered, each cached for a short time: a change takes effect after that time.
import { createBoundedMap, createSharedReads } from '@dormouse/collections';
import type { Clock, ToolServer, ToolServers, TenantId } from '@dormouse/ports';
import type { Addressed } from '@dormouse/thread';

export interface Registrations {
  /** @throws Fault when the store fails; that is never "not registered". */
  get(tenant: TenantId, name: string): Promise<ToolServer | null>;
}

/** The server where it is since its family was migrated; an override of the endpoint belonged to the old address. */
export function atAddress(server: ToolServer, { baseUrls }: Addressed): ToolServer {
  const moved = baseUrls !== undefined && Object.hasOwn(baseUrls, server.name) ? baseUrls[server.name] : undefined;
  return moved === undefined ? server : { ...server, baseUrl: moved, endpointOverride: null };
}

const keptMax = 1_000;

export function createRegistrations(toolServers: ToolServers, clock: Clock, ttlMs: number): Registrations {
  const shared = createSharedReads<ToolServer | null>();
  const kept = createBoundedMap<{ readonly server: ToolServer; readonly readAt: number }>(keptMax);

  function known(tenant: TenantId, name: string): ToolServer | null {
    const entry = kept.get(keyOf(tenant, name));
    const age = entry === undefined ? -1 : clock.now() - entry.readAt;
    return entry !== undefined && age >= 0 && age < ttlMs ? entry.server : null;
  }

  async function read(tenant: TenantId, name: string): Promise<ToolServer | null> {
    const server = await toolServers.get(tenant, name);
    if (server === null) kept.drop(keyOf(tenant, name));
    else kept.set(keyOf(tenant, name), { server, readAt: clock.now() });
    return server;
  }

  return {
    get: async (tenant, name) => known(tenant, name) ?? shared(keyOf(tenant, name), () => read(tenant, name)),
  };
}

const keyOf = (tenant: TenantId, name: string): string => `${tenant} ${name}`;
