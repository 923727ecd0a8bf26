// The chart as Helm renders it, for every file of values: lint, schemas, policies, unit tests.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { root } from '../docs/document.ts';
import { runCommand } from '../services/run-command.ts';
import { chartFolder } from './chart-files.ts';
import { type Found, goProgram, helm, written } from './chart-programs.ts';
import { kubernetesSchemas } from './kube/schemas.ts';

const chart = join(root, chartFolder);
const policies = join(root, 'test/deploy/policies');
const valueFiles = readdirSync(join(chart, 'ci')).map((name) => [basename(name, '-values.yaml'), name] as const);
const capabilities = ['--kube-version', '1.36.3', '--include-crds'];
let folder = '';
let found: Found = { available: false, reason: 'not looked for' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-chart-'));
  found = await helm();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = (program: string, args: readonly string[]): Promise<string> =>
  runCommand(program, args, {
    withinMs: 120_000,
    cwd: root,
    environment: { HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder },
  });

function helmed(...args: readonly string[]): Promise<string> {
  if (!found.available) throw new Error(found.reason);
  return run(found.program, args);
}

const rendered = (values: string, ...more: readonly string[]): Promise<string> =>
  helmed('template', 'dm', chart, '--namespace', 'agents', ...capabilities, '-f', join(chart, 'ci', values), ...more);

describe('Helm', () => {
  beforeEach((context) => {
    if (!found.available) context.skip(found.reason);
  });

  it.each(valueFiles)('finds nothing to say about %s', async (_, values) => {
    const said = await helmed('lint', chart, '--strict', '--namespace', 'agents', '-f', join(chart, 'ci', values));
    expect(said).toContain('0 chart(s) failed');
  });

  it.each(valueFiles)('renders %s into objects of one release', async (name, values) => {
    const text = await rendered(values);
    const objects = parseAllDocuments(text).map((document) => document.toJS() as ObjectOfKubernetes | null);
    const real = objects.filter((object) => object !== null);
    expect(real.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)).toEqual(
      ['callback-gateway', 'ingress-gateway', 'notifier', 'thread-processor', 'tool-dispatcher'].map(
        (service) => `dm-${service}`,
      ),
    );
    expect(new Set(real.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['agents']));
    expect(real.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const names = real.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size, name).toBe(names.length);
  });

  it('refuses the standard values with one sentence for each that is missing', async () => {
    const failure = helmed('template', 'dm', chart);
    await expect(failure).rejects.toThrow(/mongodb\.existingSecret: is missing; name a Secret/);
    await expect(helmed('template', 'dm', chart)).rejects.toThrow(/publicUrl: is missing/);
  });

  it('refuses a value that the schema does not know', async () => {
    await expect(rendered('minimal-values.yaml', '--set', 'redis.password=secret')).rejects.toThrow(/password/);
  });

  it('gives the setup Job another name when its template is another', async () => {
    const nameOf = async (...more: readonly string[]): Promise<string> =>
      /name: (dm-setup-[0-9a-f]{10})$/m.exec(await rendered('minimal-values.yaml', ...more))?.[1] ?? '';
    const first = await nameOf();
    expect(first).toMatch(/./);
    expect(await nameOf()).toBe(first);
    for (const change of ['image.tag=0.2.0', 'kafka.partitions=24', 'setup.backoffLimit=1', 'logLevel=debug'])
      expect(await nameOf('--set', change), change).not.toBe(first);
    expect(await nameOf('--set', 'services.notifier.replicas=5')).toBe(first);
  });

  it('packs a chart without its tests', async () => {
    await helmed('package', chart, '--destination', folder);
    const packed = readdirSync(folder).find((name) => /^dormouse-[\d.]+\.tgz$/.test(name)) ?? '';
    const listed = await runCommand('tar', ['-tzf', join(folder, packed)], { withinMs: 30_000 });
    expect(listed).toContain('dormouse/files/dashboards/overview.json');
    for (const name of ['values.schema.json', 'templates/tests/conversation.yaml'])
      expect(listed).toContain(`dormouse/${name}`);
    expect(listed).not.toMatch(/dormouse\/(tests|ci)\//);
  });
});

interface ObjectOfKubernetes {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Skips what needs a program that is not here. */
function needing(name: Parameters<typeof goProgram>[0]): { readonly program: string } {
  let program: Found = { available: false, reason: 'not looked for' };
  beforeAll(async () => {
    program = await goProgram(name);
  });
  beforeEach((context) => {
    if (!program.available) context.skip(program.reason);
    if (!found.available) context.skip(found.reason);
  });
  return {
    get program() {
      return program.available ? program.program : name;
    },
  };
}

describe('helm-unittest', () => {
  const unit = needing('helm-unittest');

  it('passes every unit test of the chart', async () => {
    const copy = join(folder, 'dormouse'); // it writes beside the tests that it runs
    cpSync(chart, copy, { recursive: true });
    const said = await run(unit.program, [copy]);
    const [, passed = '0', total = '1'] = /Tests: +(\d+) passed, (\d+) total/.exec(said) ?? [];
    expect(Number(passed)).toBeGreaterThanOrEqual(210);
    expect(passed).toBe(total);
  });

  it('fails where a unit test is wrong', async () => {
    const suite = readFileSync(join(chart, 'tests/services_test.yaml'), 'utf8');
    const wrong = written(
      folder,
      'wrong_test.yaml',
      suite.replaceAll('dm-notifier', 'dm-other').replaceAll('../ci', join(chart, 'ci')),
    );
    await expect(run(unit.program, ['-f', wrong, chart])).rejects.toThrow(/fail/i);
  });
});

describe('kubeconform', () => {
  const conform = needing('kubeconform');
  let schemas: Found = { available: false, reason: 'not looked for' };
  beforeAll(async () => {
    schemas = await kubernetesSchemas();
  });
  beforeEach((context) => {
    if (!schemas.available) context.skip(schemas.reason);
  });

  const judged = (text: string, name: string): Promise<string> =>
    run(conform.program, [
      '-strict',
      '-summary',
      '-schema-location',
      `${schemas.available ? schemas.program : ''}/{{ .ResourceKind }}{{ .KindSuffix }}.json`,
      written(folder, `${name}.yaml`, text),
    ]);

  it.each(valueFiles)('knows every field of what %s renders', async (name, values) => {
    expect(await judged(await rendered(values), name)).toMatch(/Invalid: 0, Errors: 0, Skipped: 0/);
  });

  it('refuses a field that does not exist', async () => {
    const text = (await rendered('minimal-values.yaml')).replace('revisionHistoryLimit', 'revisionHistoryLimits');
    await expect(judged(text, 'wrong')).rejects.toThrow(/revisionHistoryLimits/);
  });
});

describe('conftest', () => {
  const conftest = needing('conftest');

  it('passes the tests of the policies', async () => {
    expect(await run(conftest.program, ['verify', '--policy', policies])).toContain('0 failures');
  });

  it('finds nothing against the policies, whatever the values', async () => {
    for (const [name, values] of valueFiles) {
      const file = written(folder, `${name}.yaml`, await rendered(values));
      expect(await run(conftest.program, ['test', '--policy', policies, file]), name).toContain('0 failures');
    }
  });
});

describe('kube-score', () => {
  const score = needing('kube-score');
  /**
   * The id of the image's user is above those of Debian, and is the same in every installation. An image is named by a
   * version or a digest, and a tag that moves is refused, so that the one on a node is the one in the registry.
   */
  const ignored = ['container-security-context-user-group-id', 'container-image-pull-policy'];
  /** Values that switch off what kube-score looks for, which is what they are for. */
  const without: Readonly<Record<string, readonly string[]>> = { ipv6: ['pod-networkpolicy'] };

  const judged = (text: string, name: string): Promise<string> =>
    run(score.program, [
      ...['score', '--output-format', 'ci', '--enable-optional-test', 'container-seccomp-profile'],
      '--ignore-container-cpu-limit', // such a limit slows a process that has idle processors beside it
      ...[...ignored, ...(without[name] ?? [])].flatMap((test) => ['--ignore-test', test]),
      written(folder, `${name}.yaml`, text),
    ]);

  it.each(valueFiles)('has nothing critical about what %s renders', async (name, values) => {
    const said = await judged(await rendered(values), name);
    expect(said).toMatch(/\[OK\] dm-thread-processor\/agents apps\/v1\/Deployment/);
    expect(said).not.toContain('[CRITICAL]');
  });

  it('fails where a container may write, and where no policy is for its pod', async () => {
    const text = await rendered('minimal-values.yaml');
    const writable = text.replaceAll('readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false');
    await expect(judged(writable, 'writable')).rejects.toThrow(/\[CRITICAL\].*writable root filesystem/);
    const open = await rendered('minimal-values.yaml', '--set', 'networkPolicy.enabled=false');
    await expect(judged(open, 'open')).rejects.toThrow(/\[CRITICAL\].*does not have a matching NetworkPolicy/);
  });
});
