// The image, built and run as it would be on a cluster: read-only, without capabilities, with little memory, by its own
// numeric user; the signal to stop reaches the process; a conversation from inside, of `standalone` and of the five
// services beside real servers.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../docs/document.ts';
import { patienceMs } from '../../patience.ts';
import { freePorts } from '../../services/free-ports.ts';
import { runCommand } from '../../services/run-command.ts';
import { baseName, type Containers, containers, npmOfThisMachine } from './containers.ts';
import { type FiveServices, serviceNames, type Start, started, startFiveServices } from './five-services.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
const image = `localhost/dormouse:${version}`;
const hardened = [
  ...[
    '--read-only',
    '--cap-drop',
    'all',
    '--security-opt',
    'no-new-privileges',
    '--memory',
    '512m',
    '--no-healthcheck',
  ],
  ...['--network', 'host', '--env', 'DORMOUSE_HOST=127.0.0.1'],
];
let folder = '';
let beside = '';
let revision = '';
let missing: string | null = null;
let engine: Containers | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-image-'));
  beside = join(folder, 'beside');
  const found = await containers(folder);
  if ('reason' in found) missing = found.reason;
  else {
    engine = found;
    revision = (await runCommand('git', ['rev-parse', 'HEAD'], { withinMs: 30_000, cwd: root })).trim();
    const flags = ['--isolation', 'chroot', '--pull-never', '--layers', '--format', 'docker'];
    const reached = await npmOfThisMachine(folder);
    const told = ['--tool', 'buildah', '--tag', 'localhost/dormouse', '--out', beside];
    await runCommand(process.execPath, ['deploy/docker/build.mjs', ...told, '--', ...flags, ...reached], {
      withinMs: 3_600_000,
      cwd: root,
      environment: found.environment,
    });
  }
});
afterAll(async () => {
  await engine?.podman('rm', '--all', '--force');
  await engine?.podman('rmi', '--all', '--force');
  rmSync(folder, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

function podman(...args: readonly string[]): Promise<string> {
  if (engine === null) throw new Error('there is no engine');
  return engine.podman(...args);
}

interface Inspected {
  readonly Config: {
    readonly User: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Entrypoint: readonly string[];
    readonly Volumes: Readonly<Record<string, object>>;
    readonly StopSignal: string;
  };
  readonly HealthCheck?: object;
  readonly Healthcheck?: object;
  readonly Size: number;
}

async function inspected(name: string): Promise<Inspected> {
  const [found] = JSON.parse(await podman('image', 'inspect', name)) as readonly Inspected[];
  if (found === undefined) throw new Error(`no image ${name}`);
  return found;
}

/** Milliseconds until the container says it is ready. */
async function ready(name: string, words: RegExp): Promise<number> {
  const began = performance.now();
  for (;;) {
    const said = await podman('logs', name);
    if (words.test(said)) return performance.now() - began;
    if (performance.now() - began > 120_000) throw new Error(`${name} is not ready: ${said}`);
    await sleep(50);
  }
}

/** The figures of deploy/docker/README.md, which are no promise: an idle machine has others than a busy one. */
function told(name: string, { readyMs, processorMs, residentBytes }: Start): void {
  const mebibytes = Math.round(residentBytes / 1_048_576);
  console.error(`image: ${name} is ready after ${readyMs} ms, ${processorMs} ms of a processor, ${mebibytes} MiB`);
}

/** Both streams: an engine keeps them apart, and logs are on the second one. */
const logOf = (name: string): Promise<string> =>
  runCommand('sh', ['-c', `podman logs ${name} 2>&1`], { withinMs: 60_000, environment: engine?.environment ?? {} });

async function exitCodeOf(name: string): Promise<number> {
  const [state] = JSON.parse(await podman('inspect', name)) as readonly {
    readonly State: { readonly ExitCode: number };
  }[];
  return state?.State.ExitCode ?? -1;
}

describe('the image', () => {
  it('has labels, a numeric user, a health check, a volume', async () => {
    const { Config: config, HealthCheck, Healthcheck } = await inspected(image);
    expect(config.User).toBe('10001:10001');
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'dormouse',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    });
    expect(config.Volumes).toEqual({ '/data': {} });
    expect(HealthCheck ?? Healthcheck).toBeDefined();
  });

  it('adds at most 120 MiB to its base', async () => {
    const added = (await inspected(image)).Size - (await inspected(engine?.base ?? '')).Size;
    console.error(`image: ${(added / 1_048_576).toFixed(1)} MiB above its base`);
    expect(added / 1_048_576).toBeLessThan(120);
  });

  it('has no sources, specs, maps, declarations, benches or tools, and nothing that its user could write', async () => {
    const list = (test: string): Promise<string> =>
      podman('run', '--rm', ...hardened, '--entrypoint', '/bin/sh', image, '-c', `find /dormouse ${test} | head -20`);
    const unwanted = ['*.map', '*.ts', '*.spec.*', '*.test.*', '*.tsbuildinfo']
      .map((name) => `-name '${name}'`)
      .join(' -o ');
    expect(await list(`\\( ${unwanted} \\)`)).toBe('');
    // Not by `-writable`, which nothing is on a read-only root.
    expect(await list('-not -type l \\( -user 10001 -o -group 10001 -o -perm /022 \\)')).toBe('');
    expect(await list("-path '*node_modules/typescript' -o -path '*node_modules/vitest' -o -path '*/bench'")).toBe('');
  });

  it('has what V8 compiled, for its user', async () => {
    const trace = ['--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE', '--entrypoint', '/bin/sh', image, '-c'];
    const said = await podman('run', '--rm', ...hardened, ...trace, 'node apps/notifier/dist/main.js --help 2>&1');
    const found = said.match(/cache for .* was accepted/g) ?? [];
    expect(found.length).toBeGreaterThan(500);
  });

  it('says what it can run, and refuses what it cannot', async () => {
    expect(await podman('run', '--rm', ...hardened, image, 'notifier', '--help')).toContain('DORMOUSE_MASTER_KEY');
    await expect(podman('run', '--rm', ...hardened, image, 'scheduler')).rejects.toThrow(/there is no "scheduler"/);
    await expect(podman('run', '--rm', ...hardened, image, 'notifier')).rejects.toThrow(/DORMOUSE_KAFKA_BROKERS/);
  });

  it('runs standalone with its data on a volume, has a conversation, stops on a signal, and goes on', async () => {
    const [port = 0, health = 0] = await freePorts(2);
    const volume = 'dormouse-data';
    const environment = [
      ...['--env', `DORMOUSE_PORT=${port}`, '--env', `DORMOUSE_HEALTH_PORT=${health}`],
      ...['--env', 'DORMOUSE_BOOTSTRAP_KEY=bootstrap-key-of-a-test'],
    ];
    const start = (name: string): Promise<string> =>
      podman(
        'run',
        '--detach',
        '--name',
        name,
        ...hardened,
        ...environment,
        '--volume',
        `${volume}:/data`,
        image,
        'standalone',
        '--no-example-tools',
      );
    await start('first');
    told('standalone', await started(podman, 'first', `http://127.0.0.1:${health}/readyz`));
    await ready('first', /ready http/);
    expect(await podman('exec', 'first', 'node', 'deploy/docker/healthy.mjs')).toContain('ready');
    const talk = (): Promise<string> =>
      podman(
        'exec',
        '--env',
        'DORMOUSE_KEY=bootstrap-key-of-a-test',
        'first',
        'deploy/docker/run.sh',
        'conversation',
        `--url=http://127.0.0.1:${port}`,
      );
    expect(await talk()).toMatch(/the agent answered after \d+ ms: ./);
    const processes = await podman('exec', 'first', 'cat', '/proc/1/cmdline');
    expect(processes).toContain('apps/standalone/dist/main.js');
    await podman('stop', '--time', '60', 'first');
    expect(await exitCodeOf('first')).toBe(0);
    await start('second');
    await ready('second', /ready http/);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/threads`, {
      headers: { authorization: 'Bearer bootstrap-key-of-a-test' },
    });
    expect(((await answer.json()) as { readonly data: readonly object[] }).data).toHaveLength(1);
    await podman('stop', '--time', '60', 'second');
  });

  it('reads its secrets from files, and says which one is not there', async () => {
    const secrets = join(folder, 'secrets');
    const run = (...more: readonly string[]): Promise<string> =>
      podman('run', '--rm', ...hardened, '--env', 'DORMOUSE_KAFKA_BROKERS=127.0.0.1:1', ...more, image, 'notifier');
    await expect(run('--env', 'DORMOUSE_MASTER_KEY_FILE=/nowhere/master')).rejects.toThrow(
      /DORMOUSE_MASTER_KEY_FILE: names a file that is not there/,
    );
    await runCommand('mkdir', ['-p', secrets], { withinMs: 5_000 });
    writeFileSync(join(secrets, 'master'), 'not a key');
    await expect(
      run('--volume', `${secrets}:/secrets:ro`, '--env', 'DORMOUSE_MASTER_KEY_FILE=/secrets/master'),
    ).rejects.toThrow(/DORMOUSE_MASTER_KEY_FILE: must be 64 hexadecimal digits/);
  });
});

describe('the five services in the image', () => {
  let five: FiveServices | { readonly reason: string } = { reason: 'not started' };
  beforeAll(async () => {
    if (engine !== null) five = await startFiveServices(podman, image, hardened, folder);
  });
  afterAll(async () => {
    if ('url' in five) await five.stop();
  });
  beforeEach((context) => {
    if ('reason' in five) context.skip(five.reason);
  });
  const cluster = (): FiveServices => {
    if ('reason' in five) throw new Error(five.reason);
    return five;
  };

  async function call(method: string, path: string, body: object, headers: object = {}): Promise<string> {
    const answer = await fetch(`${cluster().url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${cluster().key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
    return text;
  }

  it('are ready beside servers that answer', () => {
    const { starts } = cluster();
    for (const name of serviceNames) told(name, starts[name]);
    expect(Object.keys(starts)).toEqual([...serviceNames]);
  });

  it('have a conversation, asked from inside the ingress gateway', async () => {
    const asked = ['deploy/docker/run.sh', 'conversation', `--url=${cluster().url}`];
    const said = await podman('exec', '--env', `DORMOUSE_KEY=${cluster().key}`, 'ingress-gateway', ...asked);
    expect(said).toMatch(/the agent answered after \d+ ms: ./);
  });

  it('are looked at by the doctor, from inside', async () => {
    // A warning, such as a disk of this machine that is almost full, ends it with 1, a failure with 2.
    const asked = 'deploy/docker/run.sh doctor || test $? -eq 1';
    const said = await podman('exec', 'ingress-gateway', '/bin/sh', '-c', asked);
    for (const check of ['topics', 'database', 'clock', 'redis']) expect(said).toContain(check);
  });

  it('call a tool, which answers by callback', async () => {
    await call('POST', '/tool-servers', { name: 'example-tools', base_url: cluster().tools });
    const agent = {
      name: 'assistant',
      instructions: 'Help.',
      model: { provider: 'demo' },
      tool_servers: ['example-tools'],
    };
    await call('POST', '/agents', agent);
    const thread = JSON.parse(await call('POST', '/threads', { agent: 'assistant' })) as { readonly id: string };
    const question = { text: 'What is the weather in Oslo?' };
    const said = await call('POST', `/threads/${thread.id}/messages`, question, { prefer: 'wait=60' });
    expect(said).toContain('weather says: Oslo');
  });

  it.each([...serviceNames])('%s has no right, cannot write, and little memory', async (name) => {
    const inside = async (command: string): Promise<string> =>
      (await podman('exec', name, '/bin/sh', '-c', command)).trim();
    expect(await inside("sed -n 's/^CapEff:\\t//p; s/^CapBnd:\\t//p; s/^NoNewPrivs:\\t//p' /proc/1/status")).toMatch(
      /^0{16}\n0{16}\n1$/,
    );
    expect(await inside("sed -n 's/^Uid:\\t//p' /proc/1/status")).toMatch(/^10001\t10001/);
    for (const place of ['/dormouse', '/etc', '/'])
      expect(await inside(`touch ${place}/written 2>&1 || true`)).toMatch(/Read-only file system|Permission denied/);
    const [limits] = JSON.parse(await podman('inspect', name)) as readonly {
      readonly HostConfig: { readonly Memory: number; readonly ReadonlyRootfs: boolean };
    }[];
    expect(limits?.HostConfig).toMatchObject({ Memory: 512 * 1_048_576, ReadonlyRootfs: true });
  });

  it('is not ready where no server answers, says why, and goes on waiting', async () => {
    const [health = 0] = await freePorts(1);
    const nowhere = { DORMOUSE_KAFKA_BROKERS: '127.0.0.1:1', DORMOUSE_MONGO_URL_FILE: cluster().nowhere };
    await podman('run', '--detach', ...cluster().flagsOf('waiting', health, nowhere), image, 'notifier');
    await expect.poll(() => logOf('waiting'), { timeout: patienceMs }).toContain('"waiting"');
    const asked = podman('exec', 'waiting', 'node', 'deploy/docker/healthy.mjs');
    await expect(asked).rejects.toThrow(/ended with 1: .*"reason":".*(DORMOUSE_KAFKA_BROKERS|DORMOUSE_MONGO_URL)/s);
    await podman('stop', '--time', '60', 'waiting');
    expect(await exitCodeOf('waiting')).toBe(0);
  });

  it.each([...serviceNames])('%s stops on a signal', async (name) => {
    await podman('stop', '--time', '60', name);
    expect(await exitCodeOf(name)).toBe(0);
  });
});

describe('the files beside the image', () => {
  const read = <Json>(name: string): Json => JSON.parse(readFileSync(join(beside, name), 'utf8')) as Json;

  it('are an SBOM of what is in it, and nothing of the machine', async () => {
    const sbom = read<{ readonly bomFormat: string; readonly components: readonly Component[] }>('sbom.cdx.json');
    expect(sbom.bomFormat).toBe('CycloneDX');
    const named = new Set(namesIn(sbom.components));
    const listing = `const { globSync, readFileSync } = require('node:fs');
      const found = globSync(['node_modules', 'node_modules/**/node_modules'].flatMap((at) => [at + '/*/package.json', at + '/@*/*/package.json']));
      console.log(JSON.stringify(found.map((path) => JSON.parse(readFileSync(path, 'utf8'))).map(({ name, version }) => name + '@' + version)));`;
    const listed = await podman('run', '--rm', ...hardened, '--entrypoint', 'node', image, '-e', listing);
    const inside = JSON.parse(listed) as readonly string[];
    expect(inside.length).toBeGreaterThan(150);
    expect(inside.filter((each) => !named.has(each))).toEqual([]);
    // What the console is bundled from is in its page.
    for (const name of ['react', 'marked']) expect([...named].some((each) => each.startsWith(`${name}@`))).toBe(true);
    for (const name of ['vitest', 'typescript', 'nx', 'commander'])
      expect([...named].filter((each) => each.startsWith(`${name}@`))).toEqual([]);
    expect(JSON.stringify(sbom)).not.toContain(homedir());
  });

  it('are a provenance in the form of SLSA 1.0: this image, of this commit, this lock and this Dockerfile', async () => {
    const { predicateType, subject, predicate } = read<Provenance>('provenance.json');
    expect(predicateType).toBe('https://slsa.dev/provenance/v1');
    const id = (await podman('image', 'inspect', image, '--format', '{{.Id}}')).trim();
    expect(subject).toEqual([expect.objectContaining({ name: image, digest: { sha256: id } })]);
    const { buildDefinition, runDetails } = predicate;
    expect(buildDefinition.externalParameters).toMatchObject({ BASE: baseName.split('/').at(-1), VERSION: version });
    const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(buildDefinition.resolvedDependencies).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ digest: { gitCommit: revision } }),
        ...['package-lock.json', 'deploy/docker/Dockerfile'].map((path) =>
          expect.objectContaining({ uri: path, digest: { sha256: sha256(join(root, path)) } }),
        ),
      ]),
    );
    expect(runDetails.byproducts).toEqual([
      { name: 'sbom.cdx.json', digest: { sha256: sha256(join(beside, 'sbom.cdx.json')) } },
    ]);
    expect(Date.parse(runDetails.metadata.finishedOn)).toBeGreaterThan(Date.parse(runDetails.metadata.startedOn));
    expect(JSON.stringify(predicate)).not.toContain(homedir());
  });
});

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  /** Of another version of these than its neighbours have. */
  readonly components?: readonly Component[];
}

const namesIn = (components: readonly Component[]): readonly string[] =>
  components.flatMap(({ group, name, version: of, components: inner = [] }) => [
    `${group === undefined ? '' : `${group}/`}${name}@${of}`,
    ...namesIn(inner),
  ]);

interface Provenance {
  readonly predicateType: string;
  readonly subject: readonly object[];
  readonly predicate: {
    readonly buildDefinition: { readonly externalParameters: object; readonly resolvedDependencies: readonly object[] };
    readonly runDetails: {
      readonly byproducts: readonly object[];
      readonly metadata: { readonly startedOn: string; readonly finishedOn: string };
    };
  };
}
