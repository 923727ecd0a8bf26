// Registrations of tool servers: their addresses and our credentials. Their tools are discovered, never given. R16
//
// Invariants:
//   V1. A name is given once; the same registration again is no change, another one under a taken name is refused.
//   V2. Secrets are named, never held: they must exist before a registration may name them.
//   V3. Health is kept by id: a name that is given again begins without any. What a process writes after the removal
//       is read by no request, and expires.
//   V4. A change is made to the registration that was read for it, or to a newer one: two at once are both made.
//   V6. A tenant has no more of them than its quota: each is counted once it is stored, and the one that is too many is
//       removed again. Of two at once both may be refused; never are both kept.
//   V5. A registration that no call could ever use is refused: an address that may not be called, a secret that does
//       not exist or may not be sent to the origin of the base URL. A new server that does not answer now, or whose
//       manifest is not good now, is registered; the warnings say so.
import { type Problem, canonicalJson } from '@dormouse/json';
import type { Page, PageRequest, ToolServer, TenantId } from '@dormouse/ports';
import { Fault, secretNamesOf } from '@dormouse/ports';
import { everyItem } from '../../every-item.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { healthOf, healthSince, type ToolHealth } from '../../tool-health/tool-health.ts';
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
import type { Probe } from './probe.ts';

export type ToolServerContent = Pick<
  ToolServer,
  | ('name' | 'baseUrl' | 'endpointOverride' | 'auth')
  | ('forwardUserId' | 'trustAnnotations' | 'pinnedSha256' | 'propagateTrace')
>;

export type ToolServerPatch = Partial<Omit<ToolServerContent, 'name'>> & { readonly paused?: boolean };

export interface Registered {
  readonly server: ToolServer;
  readonly created: boolean;
  /** Why it cannot be used now; empty when its manifest is good. (V5) */
  readonly warnings: readonly string[];
}

export interface ToolServerApi {
  create(tenant: TenantId, content: ToolServerContent): Promise<Answered<Registered>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ToolServer>>;
  get(tenant: TenantId, nameOrId: string): Promise<Answered<ToolServer>>;
  patch(
    tenant: TenantId,
    nameOrId: string,
    patch: ToolServerPatch,
    holds?: Precondition<ToolServer>,
  ): Promise<Answered<ToolServer>>;
  remove(tenant: TenantId, nameOrId: string, holds?: Precondition<ToolServer>): Promise<Answered<null>>;
  /** What all processes saw of it, but for the last second. */
  health(server: ToolServer): Promise<ToolHealth>;
}

export type ToolServerPorts = Pick<
  IngressParts,
  'toolServers' | 'toolActivity' | 'directory' | 'secrets' | 'transport' | 'clock' | 'entropy' | 'limits'
>;

export function createToolServerApi(ports: ToolServerPorts, probe: Probe): ToolServerApi {
  const { toolServers, toolActivity, directory, clock, entropy } = ports;
  return {
    async create(tenant, content) {
      const now = clock.now();
      const id = publicId('tsv', timeSortedName(now, entropy.nonce()));
      const server: ToolServer = { ...content, tenant, id, createdAt: now, updatedAt: now, paused: false };
      const problems = await obstacles(ports, server);
      if (problems.length > 0) return invalid(problems);
      const seen = await probe(server, { credential: false });
      const warnings = seen.ok ? [] : seen.problems;
      if (await toolServers.insert(server)) return await withinQuota(ports, server, warnings);
      const existing = await toolServers.get(tenant, content.name);
      if (existing !== null && sameContent(existing, content))
        return answered({ server: existing, warnings, created: false }); // (V1)
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
        const changed = changedBy(server, patch, clock.now());
        const problems = changesCalls(patch) ? await obstacles(ports, changed) : [];
        if (problems.length > 0) return invalid(problems);
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

/** (V6) */
async function withinQuota(
  { toolServers, limits }: ToolServerPorts,
  server: ToolServer,
  warnings: readonly string[],
): Promise<Answered<Registered>> {
  const { tenant, name } = server;
  let count = 0;
  for await (const _ of everyItem(countedAtOnce, (page) => toolServers.list(tenant, page))) count += 1;
  const within = await limits.exceeds(tenant, 'toolServersMax', count);
  if (!within.ok) {
    await toolServers.remove(tenant, name);
    return within;
  }
  return answered({ server, warnings, created: true });
}

const countedAtOnce = 200;

/** What is resumed has its time: attempts of before do not count. (delivery D8) */
function changedBy(server: ToolServer, patch: ToolServerPatch, now: number): ToolServer {
  const isResumed = server.paused && patch.paused === false;
  return { ...server, ...patch, updatedAt: now, ...(isResumed ? { resumedAt: now } : {}) };
}

/** Changes at once alternate; more rounds than this mean that something else is wrong. */
const replaceAttemptsMax = 10;

const changesCalls = (patch: ToolServerPatch): boolean =>
  patch.baseUrl !== undefined || patch.endpointOverride !== undefined || patch.auth !== undefined;

/** Each makes every call impossible. (V5) */
async function obstacles(ports: ToolServerPorts, server: ToolServer): Promise<readonly Problem[]> {
  return (await Promise.all([addressProblems(ports, server), secretProblems(ports, server)])).flat();
}

async function addressProblems(
  { transport }: ToolServerPorts,
  { tenant, baseUrl, endpointOverride }: ToolServer,
): Promise<readonly Problem[]> {
  const judged = async (pointer: string, url: string): Promise<readonly Problem[]> => {
    const verdict = await transport.judge(url, tenant);
    return verdict.ok ? [] : [{ pointer, detail: `could never be called, OUTBOUND_FORBIDDEN: ${verdict.detail}` }];
  };
  const override = endpointOverride === null ? [] : judged('/endpoint_override', endpointOverride);
  return (await Promise.all([judged('/base_url', baseUrl), override])).flat();
}

/** (V2) (V5) */
async function secretProblems(ports: ToolServerPorts, server: ToolServer): Promise<readonly Problem[]> {
  const { origin, protocol } = new URL(server.baseUrl);
  const problems: Problem[] = [];
  for (const name of server.auth === null ? [] : secretNamesOf(server.auth)) {
    const secret = await ports.secrets.get(server.tenant, name);
    const detail =
      secret === null
        ? 'no secret has this name'
        : secret.origins.includes(origin)
          ? null
          : `could never be sent: the secret is for ${secret.origins.join(', ')}, and the base URL is at ${origin}`;
    if (detail !== null) problems.push({ pointer: pointerOf(server, name), detail });
  }
  if (server.auth?.type === 'mtls' && protocol !== 'https:')
    problems.push({
      pointer: '/auth/type',
      detail: 'could never be used: a client certificate needs an https base URL',
    });
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
