// What operators have registered in a universe: tool servers, and one agent per thread with its own policies.
import type { MemoryWorld } from '@dormouse/adapter-memory';
import type { ToolServer } from '@dormouse/ports';
import { defaultLimits, type InterruptPolicy } from '@dormouse/thread';
import { tenants } from '../observation.ts';
import type { Random } from './random.ts';
import { beginningMs } from './scheduler.ts';
import { threadsPerUniverse } from './stage.ts';

export const registrationOf = (tenant: string, name: string, baseUrl: string): ToolServer => ({
  tenant,
  id: `tsv_${tenant}_${name}`,
  name,
  createdAt: beginningMs,
  updatedAt: beginningMs,
  baseUrl,
  endpointOverride: null,
  auth: null,
  forwardUserId: false,
  trustAnnotations: false,
  pinnedSha256: null,
  paused: false,
});

/** One agent per thread. Every call has a timeout: a tool that never answers must not keep a universe awake. */
export function register(world: MemoryWorld, random: Random, servers: readonly ToolServer[]): void {
  const { registry } = world.durable;
  for (const server of servers) registry.toolServers.set(`${server.tenant}:${server.name}`, server);
  const policy = (): InterruptPolicy => random.pick(['cancel', 'keep', 'queue', 'reject']);
  for (let index = 0; index < threadsPerUniverse; index += 1) {
    registry.agents.push({
      tenant: tenants[index % tenants.length] ?? 'acme',
      id: `agt_${index}`,
      name: `agent${index}`,
      version: 1,
      createdAt: beginningMs,
      instructions: 'help',
      contentSha256: '',
      model: {
        provider: 'scripted',
        name: 'simulated',
        baseUrl: null,
        apiKeySecret: null,
        contextWindowTokens: 100_000,
        outputTokensMax: null,
        images: true,
        parameters: {},
      },
      toolServers: random.chance(0.1) ? [] : random.chance(0.5) ? ['tools'] : ['tools', 'more'],
      policies: {
        onInterrupt: policy(),
        onInterruptHuman: policy(),
        eventStyle: random.pick(['kind', 'reserved']),
        eventChildren: random.pick(['keep', 'close_when_idle']),
        approve: { mode: random.pick(['none', 'none', 'destructive', 'all']), tools: {} },
        cancelSubscriptionsOnClose: random.chance(0.3),
      },
      limits: {
        ...defaultLimits,
        completionsPerWakeMax: random.pick([3, 50]),
        toolTimeoutMs: { default: 2_000 + random.below(4_000) },
      },
    });
  }
}
