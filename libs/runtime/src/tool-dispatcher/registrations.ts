// The tool servers that operators registered, each read at most once in a short while: a change counts after that while.
import type { Clock, ToolServer, ToolServers } from '@dormouse/ports';
import type { Addressed } from '@dormouse/thread';
import { createSharedReads } from '../shared-reads.ts';
import { createKept } from './kept.ts';

export interface Registrations {
  /** At once when it was read lately. @throws Fault when the store fails; that is never "not registered". */
  get(tenant: string, name: string): ToolServer | Promise<ToolServer | null>;
}

/** The server where it is since its family was migrated; an override of the endpoint belonged to the old address. */
export function atAddress(server: ToolServer, { baseUrls }: Addressed): ToolServer {
  const moved = baseUrls !== undefined && Object.hasOwn(baseUrls, server.name) ? baseUrls[server.name] : undefined;
  return moved === undefined ? server : { ...server, baseUrl: moved, endpointOverride: null };
}

const keptMax = 1_000;

export function createRegistrations(toolServers: ToolServers, clock: Clock, ttlMs: number): Registrations {
  const shared = createSharedReads<ToolServer | null>();
  const known = createKept<{ readonly server: ToolServer; readonly readAt: number }>(keptMax);
  return {
    get(tenant, name) {
      const key = `${tenant} ${name}`;
      const entry = known.get(key);
      const age = entry === undefined ? -1 : clock.now() - entry.readAt;
      if (entry !== undefined && age >= 0 && age < ttlMs) return entry.server;
      return shared(key, async () => {
        const server = await toolServers.get(tenant, name);
        if (server === null) known.drop(key);
        else known.set(key, { server, readAt: clock.now() });
        return server;
      });
    },
  };
}
