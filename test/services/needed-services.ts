// The address of a service inside a spec. A test of a service that this machine cannot have is skipped, named and
// counted.
import { beforeEach, inject, it } from 'vitest';
import type { ServiceRecipe } from './service.ts';
import type { Provided } from './start-for-tests.ts';

type Name = ServiceRecipe['name'];

/** Describes `suite` with the addresses of its services, or a skipped test for each missing one, with the reason. */
export function withServices<Names extends readonly Name[]>(
  names: Names,
  suite: (urls: { readonly [Each in Names[number]]: string }) => void,
): void {
  const urls: Partial<Record<Name, string>> = {};
  const missing: (readonly [Name, string])[] = [];
  for (const name of names) {
    const provided = inject(name);
    if (provided.available) urls[name] = provided.url;
    else missing.push([name, provided.reason]);
  }
  for (const [name, reason] of missing) it(`runs on a real server: ${name}`, (context) => context.skip(reason));
  if (missing.length === 0) suite(urls as { readonly [Each in Names[number]]: string });
}

/**
 * The addresses of all services, requested by a module when a spec file imports it. Null in the tiers that have none,
 * and where one is missing: then each test of the file is skipped with the reasons. Its `beforeAll` hooks still run.
 */
export function servicesOrSkipFile(): Readonly<Record<Name, string>> | null {
  // Provided in the cluster tier only.
  const provided: Readonly<Record<Name, Provided | undefined>> = {
    kafka: inject('kafka'),
    mongo: inject('mongo'),
    redis: inject('redis'),
  };
  const { kafka, mongo, redis } = provided;
  if (kafka?.available && mongo?.available && redis?.available)
    return { kafka: kafka.url, mongo: mongo.url, redis: redis.url };
  const reasons = Object.values(provided).flatMap((each) => (each?.available === false ? [each.reason] : []));
  if (reasons.length > 0) beforeEach((context) => context.skip(reasons.join(' ')));
  return null;
}
