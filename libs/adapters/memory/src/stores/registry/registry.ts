// What operators configure, in memory: agents in immutable versions, tool servers, toolsets by hash, secrets, API keys.
import type {
  Agent,
  Agents,
  ApiKey,
  HeldGroup,
  HeldThread,
  SealedSecret,
  Secrets,
  StoredToolset,
  TenantRecord,
  Toolsets,
  ToolServer,
  ToolServers,
  UserCredential,
  TenantId,
} from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { byName, insertNew, pageOf, replaceSeen, rowsOf } from '../rows.ts';

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

const nameOf = ({ tenant, name }: Pick<ToolServer, 'tenant' | 'name'>): string => `${tenant}:${name}`;

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
    toolServers.get(nameOf({ tenant, name: nameOrId })) ??
    rowsOf(toolServers, tenant).find(({ id }) => id === nameOrId) ??
    null;
  return {
    insert: (server) =>
      passage.write('toolServers.insert', server.name, () => insertNew(toolServers, nameOf(server), server)),
    get: (tenant, nameOrId) => passage.read('toolServers.get', nameOrId, () => find(tenant, nameOrId)),
    list: (tenant, page) =>
      passage.read('toolServers.list', tenant, () =>
        pageOf(rowsOf(toolServers, tenant).toSorted(byName), page, ({ name }) => name),
      ),
    replace: (server, seen) =>
      passage.write('toolServers.replace', server.name, () => replaceSeen(toolServers, nameOf(server), server, seen)),
    remove: (tenant, name) =>
      passage.write('toolServers.remove', name, () => toolServers.delete(nameOf({ tenant, name }))),
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
    put: (secret) => passage.write('secrets.put', secret.name, () => void secrets.set(nameOf(secret), secret)),
    get: (tenant, name) => passage.read('secrets.get', name, () => secrets.get(nameOf({ tenant, name })) ?? null),
    list: (tenant) => passage.read('secrets.list', tenant, () => rowsOf(secrets, tenant).toSorted(byName)),
    replace: (secret, seen) =>
      passage.write('secrets.replace', secret.name, () => replaceSeen(secrets, nameOf(secret), secret, seen)),
    remove: (tenant, name) => passage.write('secrets.remove', name, () => secrets.delete(nameOf({ tenant, name }))),
  };
}
