// What operators have registered in a universe: tool servers, and one agent per thread with its own policies.
import type { MemoryWorld } from '@dormouse/adapter-memory';
import type { TenantId, ToolServer } from '@dormouse/ports';
import { defaultLimits, type InterruptPolicy } from '@dormouse/thread';
import { agentOf, modelOf, toolServerOf } from '../../samples.ts';
import { tenants } from '../observation.ts';
import type { Random } from './random.ts';
import { beginningMs } from './scheduler.ts';
import { threadsPerUniverse } from './universe-rig.ts';

export const registrationOf = (tenant: TenantId, name: string, baseUrl: string): ToolServer =>
  toolServerOf({
    ...{ tenant, id: `tsv_${tenant}_${name}`, name, baseUrl },
    ...{ createdAt: beginningMs, updatedAt: beginningMs },
  });

const byTwo = { mode: 'always', approvals_needed: 2 } as const;

/** One agent per thread. Every call has a timeout: a tool that never answers must not keep a universe awake. */
export function register(world: MemoryWorld, random: Random, servers: readonly ToolServer[]): void {
  const { registry } = world.durable;
  for (const server of servers) registry.toolServers.set(`${server.tenant}:${server.name}`, server);
  const policy = (): InterruptPolicy => random.pick(['cancel', 'keep', 'queue', 'reject']);
  for (let index = 0; index < threadsPerUniverse; index += 1) {
    const agent = agentOf({
      tenant: tenants[index % tenants.length] ?? tenants[0],
      id: `agt_${index}`,
      name: `agent${index}`,
      createdAt: beginningMs,
      instructions: 'help',
      model: modelOf({ name: 'simulated', images: true }),
      toolServers: random.chance(0.1) ? [] : random.chance(0.5) ? ['tools'] : ['tools', 'more'],
      policies: {
        onInterrupt: policy(),
        onInterruptHuman: policy(),
        eventStyle: random.pick(['kind', 'reserved']),
        eventChildren: random.pick(['keep', 'close_when_idle']),
        approve: {
          mode: random.pick(['none', 'none', 'destructive', 'all']),
          tools: index % 2 === 0 ? {} : { tools_wipe: byTwo, tools_look: byTwo },
        },
        cancelSubscriptionsOnClose: random.chance(0.3),
      },
      limits: {
        ...defaultLimits,
        completionsPerWakeMax: random.pick([3, 50]),
        toolTimeoutMs: { default: 2_000 + random.below(4_000) },
      },
    });
    registry.agents.push(agent);
  }
}
