// The address of a service inside a spec. What needs one that this machine cannot have is skipped, named and counted.
import { inject, it } from 'vitest';
import type { ServiceRecipe } from './service.ts';

type Name = ServiceRecipe['name'];

/** Describes `suite` with the addresses of the services it needs, or a skipped test for each that is not there, with the reason. */
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
