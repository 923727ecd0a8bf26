// Agents: immutable versions under a name. A thread lives with the version it was opened with.
//
// Invariants:
//   G1. Identical content is the same version; other content makes the next one; no version ever changes.
//   G2. `id` belongs to the name, not to the version.
//   G3. An agent holds its tool servers by name: given once by name and once by id, one is still one.
import { type Problem, canonicalJson } from '@dormouse/json';
import { hash } from 'node:crypto';
import type { Agent, Page, PageRequest, TenantId } from '@dormouse/ports';
import { Fault } from '@dormouse/ports';
import { everyItem } from '../../every-item.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { publicId, timeSortedName } from '../access/client-id.ts';
import {
  always,
  answered,
  type Answered,
  invalid,
  notFound,
  type Precondition,
  preconditionFailed,
  refused,
} from '../refusal.ts';
import { unknownName } from './known-names.ts';

export type AgentContent = Pick<Agent, 'instructions' | 'model' | 'toolServers' | 'policies' | 'limits'>;

export interface AgentApi {
  create(
    tenant: TenantId,
    name: string,
    content: AgentContent,
    /** `problems`: what was found in the content before; they are answered with those found here. */
    more?: { readonly problems?: readonly Problem[]; readonly holds?: Precondition<Agent> },
  ): Promise<Answered<{ readonly agent: Agent; readonly created: boolean }>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<Agent>>;
  get(tenant: TenantId, nameOrId: string, version?: number): Promise<Answered<Agent>>;
  remove(tenant: TenantId, nameOrId: string, holds?: Precondition<Agent>): Promise<Answered<null>>;
  /** Of all versions; answers the latest one. */
  setPaused(
    tenant: TenantId,
    nameOrId: string,
    isPaused: boolean,
    holds?: Precondition<Agent>,
  ): Promise<Answered<Agent>>;
  /** Names of those that are paused. */
  paused(tenant: TenantId): Promise<readonly string[]>;
}

export type AgentPorts = Pick<
  IngressParts,
  'agents' | 'toolServers' | 'secrets' | 'directory' | 'sources' | 'schedules' | 'clock' | 'entropy'
>;

/** Clients that make the next version at once alternate; more rounds than this mean that something else is wrong. */
const insertAttemptsMax = 10;

export function createAgentApi(ports: AgentPorts): AgentApi {
  const { agents, directory } = ports;
  return {
    async create(tenant, name, content, { problems: before = [], holds } = {}) {
      const toolServers = await toolServerNames(ports, tenant, content.toolServers);
      const problems = [
        ...before,
        ...(await problemsOf(ports, tenant, content.toolServers, toolServers)),
        ...(await unknownSecret(ports, tenant, content)),
      ];
      if (problems.length > 0) return invalid(problems);
      const named = { ...content, toolServers: toolServers.flatMap((server) => server ?? []) };
      const inserted = await insertVersion(ports, tenant, name, named, holds);
      return inserted === null ? preconditionFailed('agent') : answered(inserted);
    },
    list: (tenant, page) => agents.list(tenant, page),
    async get(tenant, nameOrId, version) {
      const agent =
        version === undefined ? await agents.latest(tenant, nameOrId) : await agents.version(tenant, nameOrId, version);
      return agent === null ? notFound('agent') : answered(agent);
    },
    async remove(tenant, nameOrId, holds = always) {
      const agent = await agents.latest(tenant, nameOrId);
      if (agent === null) return notFound('agent');
      if (!holds(agent)) return preconditionFailed('agent');
      if (await directory.usesAgent(tenant, agent.name))
        return refused('AGENT_IN_USE', 'Threads that are not closed use this agent.');
      if (await opensThreads(ports, agent))
        return refused('AGENT_IN_USE', 'A source or a schedule opens threads with this agent.');
      await agents.remove(tenant, agent.name);
      return answered(null);
    },
    async setPaused(tenant, nameOrId, isPaused, holds = always) {
      const agent = await agents.latest(tenant, nameOrId);
      if (agent === null) return notFound('agent');
      if (!holds(agent)) return preconditionFailed('agent');
      await agents.setPaused(tenant, agent.name, isPaused);
      return answered(agent);
    },
    paused: (tenant) => agents.paused(tenant),
  };
}

const pageLimit = 200;

/** Whether threads will be opened with it. */
async function opensThreads({ sources, schedules }: AgentPorts, { tenant, name }: Agent): Promise<boolean> {
  for await (const { agent } of everyItem(pageLimit, (page) => sources.list(tenant, page)))
    if (agent === name) return true;
  for await (const { agent } of everyItem(pageLimit, (page) => schedules.list(tenant, page)))
    if (agent === name) return true;
  return false;
}

/** Null when the precondition does not hold, also when it has ceased to meanwhile. */
async function insertVersion(
  ports: AgentPorts,
  tenant: TenantId,
  name: string,
  content: AgentContent,
  holds: Precondition<Agent> = always,
): Promise<{ readonly agent: Agent; readonly created: boolean } | null> {
  const contentSha256 = hash('sha256', canonicalJson(content));
  for (let attempt = 0; attempt < insertAttemptsMax; attempt++) {
    const latest = await ports.agents.latest(tenant, name);
    if (!holds(latest)) return null;
    if (latest?.contentSha256 === contentSha256) return { agent: latest, created: false }; // (G1)
    const now = ports.clock.now();
    const id = latest?.id ?? publicId('agt', timeSortedName(now, ports.entropy.nonce())); // (G2)
    const version = (latest?.version ?? 0) + 1;
    const agent: Agent = { ...content, tenant, id, name, version, createdAt: now, contentSha256 };
    if (await ports.agents.insert(agent)) return { agent, created: true };
  }
  throw new Fault('UNAVAILABLE', 'Too many versions of this agent are being made at once.', { retryAfterMs: 1_000 });
}

/** Each by its name, also where it was given by its id; null for a tool server that does not exist. (G3) */
const toolServerNames = (
  { toolServers }: AgentPorts,
  tenant: TenantId,
  given: readonly string[],
): Promise<readonly (string | null)[]> =>
  Promise.all(given.map(async (nameOrId) => (await toolServers.get(tenant, nameOrId))?.name ?? null));

async function problemsOf(
  { toolServers }: AgentPorts,
  tenant: TenantId,
  given: readonly string[],
  names: readonly (string | null)[],
): Promise<readonly Problem[]> {
  const problems = names.map(async (name, index): Promise<Problem | null> => {
    const pointer = `/tool_servers/${index}`;
    if (name !== null) return names.indexOf(name) < index ? { pointer, detail: 'names a tool server twice' } : null;
    const list = (page: PageRequest) => toolServers.list(tenant, page);
    return { pointer, detail: await unknownName('tool server', given[index] ?? '', list) };
  });
  return (await Promise.all(problems)).filter((problem) => problem !== null);
}

async function unknownSecret(
  ports: AgentPorts,
  tenant: TenantId,
  { model }: AgentContent,
): Promise<readonly Problem[]> {
  const name = model.apiKeySecret;
  if (name === null || (await ports.secrets.get(tenant, name)) !== null) return [];
  return [{ pointer: '/model/api_key_secret', detail: 'no secret has this name' }];
}
