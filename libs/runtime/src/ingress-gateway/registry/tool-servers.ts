// Registrations of tool servers: their addresses and our credentials. Their tools are discovered, never given. R16
//
// Invariants:
//   V1. A name is given once; the same registration again is no change, another one under a taken name is refused.
//   V2. Secrets are named, never held: they must exist before a registration may name them.
//   V3. Health is kept by id: a name that is given again begins without any. What a process writes after the removal
//       is read by no request, and expires.
//   V4. A change is made to the registration that was read for it, or to a newer one: two at once are both made.
import { type Problem, canonicalJson } from '@dormouse/json';
import type {
  Clock,
  Entropy,
  Page,
  PageRequest,
  Secrets,
  ThreadDirectory,
  ToolActivity,
  ToolServer,
  ToolServers,
} from '@dormouse/ports';
import { Fault } from '@dormouse/ports';
import { healthOf, healthSince, type ToolHealth } from '../../tool-health/tool-health.ts';
import { publicId, timeSortedName } from '../access/client-id.ts';
import {
  answered,
  type Answered,
  invalid,
  notFound,
  type Precondition,
  preconditionFailed,
  refused,
} from '../refusal.ts';
import { secretsOf } from './secrets.ts';

export type ToolServerContent = Pick<
  ToolServer,
  | ('name' | 'baseUrl' | 'endpointOverride' | 'auth')
  | ('forwardUserId' | 'trustAnnotations' | 'pinnedSha256' | 'propagateTrace')
>;

export type ToolServerPatch = Partial<Omit<ToolServerContent, 'name'>> & { readonly paused?: boolean };

export interface ToolServerApi {
  create(
    tenant: string,
    content: ToolServerContent,
  ): Promise<Answered<{ readonly server: ToolServer; readonly created: boolean }>>;
  list(tenant: string, page: PageRequest): Promise<Page<ToolServer>>;
  get(tenant: string, nameOrId: string): Promise<Answered<ToolServer>>;
  patch(
    tenant: string,
    nameOrId: string,
    patch: ToolServerPatch,
    holds?: Precondition<ToolServer>,
  ): Promise<Answered<ToolServer>>;
  remove(tenant: string, nameOrId: string, holds?: Precondition<ToolServer>): Promise<Answered<null>>;
  /** What all processes saw of it, but for the last second. */
  health(server: ToolServer): Promise<ToolHealth>;
}

export interface ToolServerPorts {
  readonly toolServers: ToolServers;
  readonly toolActivity: ToolActivity;
  readonly directory: Pick<ThreadDirectory, 'oldestCall'>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

export function createToolServerApi(ports: ToolServerPorts): ToolServerApi {
  const { toolServers, toolActivity, directory, clock, entropy } = ports;
  return {
    async create(tenant, content) {
      const problems = await unknownSecrets(ports, tenant, content);
      if (problems.length > 0) return invalid(problems);
      const now = clock.now();
      const id = publicId('tsv', timeSortedName(now, entropy.nonce()));
      const server: ToolServer = { ...content, tenant, id, createdAt: now, updatedAt: now, paused: false };
      if (await toolServers.insert(server)) return answered({ server, created: true });
      const existing = await toolServers.get(tenant, content.name);
      if (existing !== null && sameContent(existing, content)) return answered({ server: existing, created: false }); // (V1)
      return refused('ALREADY_EXISTS', 'Another tool server has this name.');
    },
    list: (tenant, page) => toolServers.list(tenant, page),
    async get(tenant, nameOrId) {
      const server = await toolServers.get(tenant, nameOrId);
      return server === null ? notFound('tool server') : answered(server);
    },
    async patch(tenant, nameOrId, patch, holds = always) {
      for (let attempt = 0; attempt < replaceAttemptsMax; attempt++) {
        const server = await toolServers.get(tenant, nameOrId);
        if (server === null) return notFound('tool server');
        if (!holds(server)) return preconditionFailed('tool server');
        const problems = await unknownSecrets(ports, tenant, { auth: patch.auth ?? null });
        if (problems.length > 0) return invalid(problems);
        const changed: ToolServer = { ...server, ...patch, updatedAt: clock.now() };
        if (await toolServers.replace(changed, server)) return answered(changed); // (V4)
      }
      throw new Fault('UNAVAILABLE', 'This tool server is being changed all the time.', { retryAfterMs: 1_000 });
    },
    async remove(tenant, nameOrId, holds = always) {
      const server = await toolServers.get(tenant, nameOrId);
      if (server !== null && !holds(server)) return preconditionFailed('tool server');
      if (server === null || !(await toolServers.remove(tenant, server.name))) return notFound('tool server');
      await toolActivity.forget(tenant, server.id); // (V3)
      return answered(null);
    },
    async health(server) {
      const { tenant, id, name } = server;
      const now = clock.now();
      const [known, oldest] = await Promise.all([
        toolActivity.read(tenant, id, healthSince(now)),
        directory.oldestCall(tenant, name),
      ]);
      return healthOf(server, known, oldest, now);
    },
  };
}

const always = (): boolean => true;

/** Changes at once alternate; more rounds than this mean that something else is wrong. */
const replaceAttemptsMax = 10;

async function unknownSecrets(
  ports: ToolServerPorts,
  tenant: string,
  content: Pick<ToolServer, 'auth'>,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const name of secretsOf(content)) {
    if ((await ports.secrets.get(tenant, name)) === null) {
      problems.push({ pointer: pointerOf(content, name), detail: 'no secret has this name' });
    }
  }
  return problems;
}

function pointerOf({ auth }: Pick<ToolServer, 'auth'>, secret: string): string {
  const member = Object.entries(auth ?? {}).find(([field, value]) => field !== 'type' && value === secret)?.[0] ?? '';
  return `/auth/${member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}

function sameContent(server: ToolServer, content: ToolServerContent): boolean {
  const { name, baseUrl, endpointOverride, auth, forwardUserId, trustAnnotations, pinnedSha256 } = server;
  const { propagateTrace = 'same' } = server;
  const ours = { name, baseUrl, endpointOverride, auth, forwardUserId, trustAnnotations, pinnedSha256, propagateTrace };
  return canonicalJson(ours) === canonicalJson({ propagateTrace: 'same', ...content });
}
