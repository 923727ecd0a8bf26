// Which source a test server comes from. No engine is needed: `docker` is a script here that records its arguments and
// gives scripted answers, so this says nothing about what an engine does with them.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { canWait } from './containers.ts';
import { keptService, writeRecord } from './kept-service.ts';
import { identityOf } from './process-identity.ts';
import { recipes } from './recipes.ts';
import type { RunningService, Started } from './service.ts';
import { startFromSource } from './source.ts';

const about = { name: 'redis', variable: 'DORMOUSE_TEST_NOT_GIVEN' } as const;
const built: Started = { available: false, reason: 'it was to be built', remedy: '' };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-source-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** Commands of a shell. */
type Answers = Partial<Readonly<Record<'info' | 'version' | 'up' | 'ps' | 'logs', string>>>;

/** A `docker` before all others, with the answers of an engine that runs, but for those given. */
function withDocker(answers: Answers = {}): void {
  const { info = 'echo 28.0.1', version = 'echo 2.33.0', up = 'true', ps = 'echo 0123abcd', logs = 'true' } = answers;
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh
echo "$@" port=$DORMOUSE_TEST_PORT advertised=$DORMOUSE_TEST_ADVERTISED_PORT >> ${directory}/asked
case "$*" in
  info*) ${info} ;;
  'compose version'*) ${version} ;;
  *' up '*) ${up} ;;
  *' ps '*) ${ps} ;;
  *' logs '*) ${logs} ;;
esac
`;
  writeFileSync(join(bin, 'docker'), script);
  chmodSync(join(bin, 'docker'), 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
}

const asked = (): readonly string[] =>
  existsSync(join(directory, 'asked')) ? readFileSync(join(directory, 'asked'), 'utf8').trimEnd().split('\n') : [];

const said: string[] = [];
const start = (more: { readonly own?: true; readonly built?: true; readonly advertisedPort?: number } = {}) => {
  said.length = 0;
  const options = { directory, cache: directory, say: (line: string) => void said.push(line), ...more };
  return startFromSource(about, options, async () => built);
};

const running = (started: Started): RunningService => {
  if (!started.available) throw new Error(started.reason);
  return started.service;
};

describe('a test server', () => {
  it('is the one that the environment names, and no engine is asked', async () => {
    withDocker();
    vi.stubEnv(about.variable, 'redis://elsewhere');
    expect(running(await start()).url).toBe('redis://elsewhere');
    expect(asked()).toEqual([]);
  });

  it('is in a container where an engine runs, with a project and a port of its own, and ends with its volumes', async () => {
    withDocker();
    const service = running(await start({ advertisedPort: 4711 }));
    const [, port = ''] = /^redis:\/\/127\.0\.0\.1:(\d+)$/.exec(service.url) ?? [];
    expect(Number(port)).toBeGreaterThan(1_023);
    service.kill('SIGKILL');
    await service.restart();
    service.kill('SIGSTOP');
    service.kill('SIGCONT');
    await service.stop();
    const compose = `compose --project-name ${service.project} --file ${join(import.meta.dirname, 'compose.yml')}`;
    const ports = `port=${port} advertised=4711`;
    expect(service.project).toMatch(/^dormouse-test-redis-[0-9a-f]{10}$/);
    expect(asked().slice(2)).toEqual([
      `${compose} up --detach --wait --no-recreate redis ${ports}`,
      `${compose} kill --signal SIGKILL redis ${ports}`,
      `${compose} up --detach --wait --no-recreate redis ${ports}`,
      `${compose} pause redis ${ports}`,
      `${compose} unpause redis ${ports}`,
      `${compose} down --volumes --remove-orphans --timeout 10 ${ports}`,
    ]);
  });

  it('is in a container also when one is given, if it is going to be hurt', async () => {
    withDocker();
    vi.stubEnv(about.variable, 'redis://elsewhere');
    const service = running(await start({ own: true }));
    expect(service.project).toBeDefined();
    await service.stop();
  });

  it.each([
    ['no engine answers', { info: 'exit 1' }],
    ['the engine has no compose', { version: 'exit 1' }],
    ['its compose cannot wait', { version: 'echo v2.0.1' }],
  ])('is built where %s', async (_, answers) => {
    withDocker(answers);
    expect(await start()).toBe(built);
    expect(asked().some((line) => line.includes(' up '))).toBe(false);
  });

  it('is built where docker is not installed', async () => {
    vi.stubEnv('PATH', join(directory, 'nothing'));
    expect(await start()).toBe(built);
  });

  it('is built, with a word, when its container does not start, of which nothing is left', async () => {
    withDocker({ up: 'echo manifest unknown >&2; exit 18' });
    expect(await start()).toBe(built);
    expect(said.join('\n')).toMatch(/no container, so it is built: .*manifest unknown/s);
    expect(asked().at(-1)).toContain(' down --volumes ');
  });

  it('is built, and no engine is asked, when its data is to stay in its directory', async () => {
    withDocker();
    expect(await start({ own: true, built: true })).toBe(built);
    expect(asked()).toEqual([]);
  });
});

describe('a kept server in a container', () => {
  const recipe = { ...about, outputs: [], start: () => Promise.reject(new Error('nothing is started here')) };
  const project = 'dormouse-test-redis-0123456789';

  function kept(answers: Answers = {}) {
    withDocker(answers);
    const keeper = identityOf(process.pid);
    if (keeper === null) throw new Error('this process is not there');
    mkdirSync(join(directory, 'redis'));
    const url = 'redis://127.0.0.1:1';
    writeRecord(join(directory, 'redis'), { state: 'up', keeper, url, servers: [], project });
    return keptService(recipe, directory);
  }

  it('is up while its container runs', () => {
    expect(kept().state()).toMatchObject({ state: 'up' });
    expect(asked()[0]).toContain(`--project-name ${project} `);
  });

  it.each(['true', 'exit 1'])('is damaged when no container of it runs (%s)', (ps) => {
    expect(kept({ ps }).state()).toMatchObject({ state: 'damaged' });
  });

  it('ends with its volumes when its keeper was killed before', async () => {
    withDocker();
    mkdirSync(join(directory, 'redis'));
    const keeper = { pid: process.pid, startedAt: 'long ago' };
    writeRecord(join(directory, 'redis'), { state: 'up', keeper, url: 'x', servers: [], project });
    await keptService(recipe, directory).down();
    expect(asked()).toEqual([expect.stringContaining(`--project-name ${project} `)]);
    expect(asked()[0]).toContain(' down --volumes ');
  });

  it('shows what its container has printed', () => {
    const lines = kept({ logs: 'echo one; echo two' }).lastLines(2);
    expect([...lines]).toEqual([['container', ['one', 'two']]]);
    expect(asked()[0]).toContain(' logs --no-color --no-log-prefix --tail 2 ');
  });
});

describe('compose', () => {
  it.each([
    ['2.33.0', true],
    ['v2.2.0\n', true],
    ['5.0.0', true],
    ['2.1.0', false],
    ['1.29.2', false],
    ['', false],
  ])('of version %j can wait for a server: %s', (version, can) => {
    expect(canWait(version)).toBe(can);
  });

  it('has every server that there is a recipe for, in the version that is built', () => {
    const file = readFileSync(join(import.meta.dirname, 'compose.yml'), 'utf8');
    for (const { name } of recipes) expect(file).toContain(`\n  ${name}:\n    image: `);
    const pom = readFileSync(join(import.meta.dirname, 'kafka', 'pom.xml'), 'utf8');
    expect(file).toContain(`apache/kafka:${/<version>(4\.[\d.]+)<\/version>/.exec(pom)?.[1]}`);
  });
});
