// Callback messages that are known to be durable. Port: ports/stores/dedup.ts. Positive facts only: an empty Redis
// knows nothing, and the log decides.
import type { Dedup, TenantId } from '@dormouse/ports';
import type { RedisLink } from './redis-link.ts';

export function createDedup(link: RedisLink, prefix: string, rememberedMs: number): Dedup {
  const nameOf = (tenant: TenantId, id: string): string => `${prefix}${tenant}:seen:${id}`;
  return {
    seen: async (tenant, id) => (await link.ask((client) => client.exists(nameOf(tenant, id)), 0)) === 1,
    remember: async (tenant, id) => {
      await link.ask((client) => client.set(nameOf(tenant, id), '1', 'PX', rememberedMs, 'NX'), null);
    },
  };
}
