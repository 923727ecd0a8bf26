// What operators configure, in memory: agents in immutable versions, tool servers, toolsets by hash, secrets, API keys.
import type {
  Agent,
  Agents,
  ApiKey,
  ApiKeys,
  HeldBy,
  HeldGroup,
  HeldThread,
  HeldThreads,
  SealedSecret,
  Secrets,
  StoredToolset,
  TenantRecord,
  Tenants,
  Toolsets,
  ToolServer,
  ToolServers,
  UserCredential,
  UserCredentials,
  TenantId,
} from '@dormouse/ports';
import type { Passage } from './gate.ts';
import { pageOf } from './thread-directory.ts';

/** The durable part. Keys begin with the tenant. */
export interface RegistryStore {
  readonly agents: Agent[];
  readonly toolServers: Map<string, ToolServer>;
  readonly toolsets: Map<string, StoredToolset>;
  readonly lastGood: Map<string, string>;
  readonly secrets: Map<string, SealedSecret>;
  readonly apiKeys: Map<string, ApiKey>;
  readonly tenants: Map<string, TenantRecord>;
  readonly userCredentials: Map<string, UserCredential>;
  readonly held: { readonly threads: Map<string, HeldThread & HeldGroup>; marks: number };
  /** Tenants with the names of their paused agents. */
  readonly pausedAgents: Map<string, ReadonlySet<string>>;
}

export const createRegistryStore = (): RegistryStore => ({
  agents: [],
  toolServers: new Map(),
  toolsets: new Map(),
  lastGood: new Map(),
  secrets: new Map(),
  apiKeys: new Map(),
  tenants: new Map(),
  userCredentials: new Map(),
  held: { threads: new Map(), marks: 0 },
  pausedAgents: new Map(),
});

const byName = (left: { readonly name: string }, right: { readonly name: string }): number =>
  left.name < right.name ? -1 : 1;

export function createAgents({ agents, pausedAgents }: RegistryStore, passage: Passage): Agents {
  const pausedOf = (tenant: TenantId): ReadonlySet<string> => pausedAgents.get(tenant) ?? new Set();
  function setPaused(tenant: TenantId, name: string, isPaused: boolean): void {
    const others = [...pausedOf(tenant)].filter((other) => other !== name);
    pausedAgents.set(tenant, new Set(isPaused ? [...others, name] : others));
  }
  const versions = (tenant: TenantId, nameOrId: string): readonly Agent[] =>
    agents
      .filter((agent) => agent.tenant === tenant && (agent.name === nameOrId || agent.id === nameOrId))
      .sort((left, right) => left.version - right.version);
  return {
    insert: (agent) =>
      passage.write('agents.insert', agent.name, () => {
        if (versions(agent.tenant, agent.name).some((other) => other.version === agent.version)) return false;
        agents.push(agent);
        return true;
      }),
    latest: (tenant, nameOrId) =>
      passage.read('agents.latest', nameOrId, () => versions(tenant, nameOrId).at(-1) ?? null),
    version: (tenant, nameOrId, version) =>
      passage.read(
        'agents.version',
        nameOrId,
        () => versions(tenant, nameOrId).find((agent) => agent.version === version) ?? null,
      ),
    list: (tenant, page) =>
      passage.read('agents.list', tenant, () => {
        const names = new Set(agents.filter((agent) => agent.tenant === tenant).map((agent) => agent.name));
        const latest = [...names].flatMap((name) => versions(tenant, name).at(-1) ?? []);
        return pageOf(latest.sort(byName), page, (agent) => agent.name);
      }),
    remove: (tenant, name) =>
      passage.write('agents.remove', name, () => {
        const kept = agents.filter((agent) => agent.tenant !== tenant || agent.name !== name);
        const removed = kept.length < agents.length;
        agents.splice(0, agents.length, ...kept);
        setPaused(tenant, name, false);
        return removed;
      }),
    setPaused: (tenant, name, isPaused) =>
      passage.write('agents.setPaused', name, () => setPaused(tenant, name, isPaused)),
    paused: (tenant) => passage.read('agents.paused', tenant, () => [...pausedOf(tenant)].toSorted()),
  };
}

export function createToolServers({ toolServers }: RegistryStore, passage: Passage): ToolServers {
  const find = (tenant: TenantId, nameOrId: string): ToolServer | null =>
    toolServers.get(`${tenant}:${nameOrId}`) ??
    [...toolServers.values()].find((server) => server.tenant === tenant && server.id === nameOrId) ??
    null;
  return {
    insert: (server) =>
      passage.write('toolServers.insert', server.name, () => {
        if (toolServers.has(`${server.tenant}:${server.name}`)) return false;
        toolServers.set(`${server.tenant}:${server.name}`, server);
        return true;
      }),
    get: (tenant, nameOrId) => passage.read('toolServers.get', nameOrId, () => find(tenant, nameOrId)),
    list: (tenant, page) =>
      passage.read('toolServers.list', tenant, () => {
        const found = [...toolServers.values()].filter((server) => server.tenant === tenant);
        return pageOf(found.sort(byName), page, (server) => server.name);
      }),
    replace: (server, seen) =>
      passage.write('toolServers.replace', server.name, () => {
        const stored = toolServers.get(`${server.tenant}:${server.name}`);
        if (JSON.stringify(stored) !== JSON.stringify(seen)) return false;
        toolServers.set(`${server.tenant}:${server.name}`, server);
        return true;
      }),
    remove: (tenant, name) => passage.write('toolServers.remove', name, () => toolServers.delete(`${tenant}:${name}`)),
  };
}

export function createToolsets({ toolsets, lastGood }: RegistryStore, passage: Passage): Toolsets {
  return {
    put: (toolset) =>
      passage.write(
        'toolsets.put',
        toolset.sha256,
        () => void toolsets.set(`${toolset.tenant}:${toolset.sha256}`, toolset),
      ),
    get: (tenant, sha256) => passage.read('toolsets.get', sha256, () => toolsets.get(`${tenant}:${sha256}`) ?? null),
    putLastGood: (tenant, toolServer, sha256) =>
      passage.write('toolsets.putLastGood', toolServer, () => void lastGood.set(`${tenant}:${toolServer}`, sha256)),
    lastGood: (tenant, toolServer) =>
      passage.read('toolsets.lastGood', toolServer, () => lastGood.get(`${tenant}:${toolServer}`) ?? null),
  };
}

export function createSecrets({ secrets }: RegistryStore, passage: Passage): Secrets {
  return {
    put: (secret) =>
      passage.write('secrets.put', secret.name, () => void secrets.set(`${secret.tenant}:${secret.name}`, secret)),
    get: (tenant, name) => passage.read('secrets.get', name, () => secrets.get(`${tenant}:${name}`) ?? null),
    list: (tenant) =>
      passage.read('secrets.list', tenant, () =>
        [...secrets.values()].filter((secret) => secret.tenant === tenant).sort(byName),
      ),
    replace: (secret, seen) =>
      passage.write('secrets.replace', secret.name, () => {
        const key = `${secret.tenant}:${secret.name}`;
        if (JSON.stringify(secrets.get(key)) !== JSON.stringify(seen)) return false;
        secrets.set(key, secret);
        return true;
      }),
    remove: (tenant, name) => passage.write('secrets.remove', name, () => secrets.delete(`${tenant}:${name}`)),
  };
}

export function createApiKeys({ apiKeys }: RegistryStore, passage: Passage): ApiKeys {
  return {
    insert: (key) => passage.write('apiKeys.insert', key.id, () => void apiKeys.set(key.keySha256, key)),
    bySha256: (keySha256) => passage.read('apiKeys.bySha256', '', () => apiKeys.get(keySha256) ?? null),
    list: (tenant) =>
      passage.read('apiKeys.list', tenant, () => [...apiKeys.values()].filter((key) => key.tenant === tenant)),
    used: (keySha256, at) =>
      passage.write('apiKeys.used', '', () => {
        const key = apiKeys.get(keySha256);
        if (key !== undefined && (key.lastUsedAt ?? 0) < at) apiKeys.set(keySha256, { ...key, lastUsedAt: at });
      }),
    end: (tenant, id, end) =>
      passage.write('apiKeys.end', id, () => {
        const found = [...apiKeys.values()].find((key) => key.tenant === tenant && key.id === id);
        if (found === undefined || found.revokedAt !== undefined) return false;
        apiKeys.set(found.keySha256, { ...found, ...end });
        return true;
      }),
    remove: (tenant, id) =>
      passage.write('apiKeys.remove', id, () => {
        const found = [...apiKeys.values()].find((key) => key.tenant === tenant && key.id === id);
        return found !== undefined && apiKeys.delete(found.keySha256);
      }),
  };
}

export function createTenants({ tenants }: RegistryStore, passage: Passage): Tenants {
  const byId = (): readonly TenantRecord[] =>
    [...tenants.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1));
  return {
    insert: (tenant) =>
      passage.write('tenants.insert', tenant.id, () => {
        if (tenants.has(tenant.id)) return false;
        tenants.set(tenant.id, tenant);
        return true;
      }),
    get: (id) => passage.read('tenants.get', id, () => tenants.get(id) ?? null),
    list: (page) => passage.read('tenants.list', '', () => pageOf(byId(), page, ({ id }) => id)),
    replace: (tenant, seen) =>
      passage.write('tenants.replace', tenant.id, () => {
        if (JSON.stringify(tenants.get(tenant.id)) !== JSON.stringify(seen)) return false;
        tenants.set(tenant.id, tenant);
        return true;
      }),
    deleting: () => passage.read('tenants.deleting', '', () => byId().filter(({ state }) => state === 'deleting')),
  };
}

export function createHeldThreads({ held }: RegistryStore, passage: Passage): HeldThreads {
  const nameOf = (tenant: TenantId, thread: string, by: HeldBy): string => JSON.stringify([tenant, thread, by]);
  return {
    hold: ({ tenant, thread }, by) =>
      passage.write('heldThreads.hold', thread, () => {
        held.marks += 1;
        held.threads.set(nameOf(tenant, thread, by), { tenant, thread, by, mark: held.marks });
      }),
    groups: () =>
      passage.read('heldThreads.groups', '', () => {
        const groups = [...held.threads.values()].map(({ tenant, by }) => [`${tenant} ${by}`, { tenant, by }] as const);
        return [...new Map(groups).values()];
      }),
    list: (group, after, limit) =>
      passage.read('heldThreads.list', group.tenant, () =>
        [...held.threads.values()]
          .filter(({ tenant, by, thread }) => tenant === group.tenant && by === group.by && thread > (after ?? ''))
          .toSorted((left, right) => (left.thread < right.thread ? -1 : 1))
          .slice(0, limit)
          .map(({ tenant, thread, mark }) => ({ tenant, thread, mark })),
      ),
    remove: ({ tenant, thread, mark }) =>
      passage.write('heldThreads.remove', thread, () => {
        for (const [name, each] of held.threads)
          if (each.tenant === tenant && each.thread === thread && each.mark === mark) held.threads.delete(name);
      }),
  };
}

export function createUserCredentials({ userCredentials }: RegistryStore, passage: Passage): UserCredentials {
  const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);
  const own = ({ tenant, userId, toolServer }: UserCredential): string => nameOf(tenant, userId, toolServer);
  const ofTenant = (tenant: TenantId): readonly UserCredential[] =>
    [...userCredentials.values()]
      .filter((each) => each.tenant === tenant)
      .toSorted((left, right) => (own(left) < own(right) ? -1 : 1));
  return {
    put: (credential) =>
      passage.write(
        'userCredentials.put',
        credential.toolServer,
        () => void userCredentials.set(own(credential), credential),
      ),
    get: (tenant, userId, toolServer) =>
      passage.read(
        'userCredentials.get',
        toolServer,
        () => userCredentials.get(nameOf(tenant, userId, toolServer)) ?? null,
      ),
    list: (tenant, userId) =>
      passage.read('userCredentials.list', userId, () => ofTenant(tenant).filter((each) => each.userId === userId)),
    page: (tenant, after, limit) =>
      passage.read('userCredentials.page', tenant, () =>
        ofTenant(tenant)
          .filter((each) => after === null || own(each) > own(after))
          .slice(0, limit),
      ),
    replace: (credential, seen) =>
      passage.write('userCredentials.replace', credential.toolServer, () => {
        if (JSON.stringify(userCredentials.get(own(credential))) !== JSON.stringify(seen)) return false;
        userCredentials.set(own(credential), credential);
        return true;
      }),
    remove: (tenant, userId, toolServer) =>
      passage.write('userCredentials.remove', toolServer, () =>
        userCredentials.delete(nameOf(tenant, userId, toolServer)),
      ),
  };
}
