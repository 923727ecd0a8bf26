// Before the specs of the cluster: every service starts once, in parallel, and its address is provided; after them it
// stops. A service that this machine cannot have is provided as such, with the reason and the remedy.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { recipes } from './recipes.ts';
import type { RunningService } from './service.ts';
import { serviceCache } from './service-cache.ts';

export type Provided =
  { readonly available: true; readonly url: string } | { readonly available: false; readonly reason: string };

declare module 'vitest' {
  interface ProvidedContext {
    readonly kafka: Provided;
    readonly mongo: Provided;
    readonly redis: Provided;
  }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const running: RunningService[] = [];
let directory = '';

export async function setup(project: TestProject): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-services-'));
  const started = await Promise.all(
    recipes.map((recipe) => recipe.start({ directory: join(directory, recipe.name), cache: serviceCache, say })),
  );
  for (const [index, recipe] of recipes.entries()) {
    const each = started[index];
    if (each === undefined) continue;
    if (each.available) running.push(each.service);
    else say(`${recipe.name}: ${each.reason} ${each.remedy}`);
    const provided: Provided = each.available
      ? { available: true, url: each.service.url }
      : { available: false, reason: `${each.reason} ${each.remedy}` };
    project.provide(recipe.name, provided);
  }
}

export async function teardown(): Promise<void> {
  await Promise.all(running.map((service) => service.stop()));
  rmSync(directory, { recursive: true, force: true });
}
