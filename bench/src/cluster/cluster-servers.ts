// The real broker, store and Redis that both builds of the cluster share in one run: one broker, one store, one
// machine.
import { join } from 'node:path';
import { recipes } from '../../../test/services/recipes.ts';
import type { RunningService } from '../../../test/services/service.ts';
import { serviceCache } from '../../../test/services/service-cache.ts';

export interface ClusterServers {
  readonly kafka: string;
  readonly mongo: string;
  readonly redis: string;
  stop(): Promise<void>;
}

/** @throws when one of them is unavailable on this machine, with the reason and the remedy. */
export async function startServers(directory: string, say: (line: string) => void): Promise<ClusterServers> {
  const running = new Map<string, RunningService>();
  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((service) => service.stop()));
  };
  try {
    for (const recipe of recipes) {
      const where = { directory: join(directory, recipe.name), cache: serviceCache, built: true } as const;
      const started = await recipe.start({ ...where, say });
      if (!started.available) throw new Error(`${recipe.name}: ${started.reason} ${started.remedy}`);
      running.set(recipe.name, started.service);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const urlOf = (name: string): string => running.get(name)?.url ?? '';
  return { kafka: urlOf('kafka'), mongo: urlOf('mongo'), redis: urlOf('redis'), stop };
}
