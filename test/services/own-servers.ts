// Servers of a spec's own, one of each that it wants, which it may damage. Where a machine cannot have one the spec is
// skipped.
import { join } from 'node:path';
import { recipes } from './recipes.ts';
import type { RunningService, ServiceRecipe, StartOptions } from './service.ts';
import { serviceCache } from './service-cache.ts';

export interface OwnServers {
  /** The running ones, all to be stopped by the caller. */
  readonly servers: ReadonlyMap<ServiceRecipe['name'], RunningService>;
  /** Why not all of them run, and the remedy. */
  readonly missing: string | null;
}

export async function startOwnServers(
  directory: string,
  optionsOf: (name: ServiceRecipe['name']) => Partial<StartOptions> = () => ({}),
  wanted: readonly ServiceRecipe['name'][] = recipes.map(({ name }) => name),
): Promise<OwnServers> {
  const servers = new Map<ServiceRecipe['name'], RunningService>();
  const reasons = await Promise.all(
    recipes
      .filter(({ name }) => wanted.includes(name))
      .map(async (recipe) => {
        const where = { directory: join(directory, recipe.name), cache: serviceCache, say: () => {} };
        const started = await recipe.start({ ...where, ...optionsOf(recipe.name), own: true });
        if (!started.available) return [`${started.reason} ${started.remedy}`];
        servers.set(recipe.name, started.service);
        return [];
      }),
  );
  return { servers, missing: reasons.flat().join(' ') || null };
}
