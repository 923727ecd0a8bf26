// The guide to Kubernetes, followed word by word on a real API server: its secrets, its values, its install, its check.
// No image runs here, so that the pod of the check is played, and has no log.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readDocument, root } from '../../docs/document.ts';
import { fencesOf, sectionUnder } from '../../docs/markdown.ts';
import { runCommand } from '../../services/run-command.ts';
import { helm } from '../chart-programs.ts';
import { type KubernetesCluster, startKubernetes } from './api-server.ts';
import { controlPlanePrograms } from './control-plane.ts';

const guide = readDocument('docs/guides/kubernetes.md').text;
const runbooks = readDocument('docs/runbooks/README.md').text;
let folder = '';
let missing: string | null = null;
let cluster: KubernetesCluster | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-guide-'));
  const [programs, tool] = [await controlPlanePrograms(), await helm()];
  for (const each of [programs, tool]) if (!each.available) missing ??= each.reason;
  if (!programs.available || !tool.available) return;
  cluster = await startKubernetes(programs.program, join(folder, 'cluster'));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(tool.program, join(folder, 'bin', 'helm'));
  writeFileSync(
    join(folder, 'bin', 'kubectl'),
    `#!/bin/sh\nexec ${join(programs.program, 'control-plane')} kubectl "$@"\n`,
    {
      mode: 0o755,
    },
  );
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
});
afterAll(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

/** The blocks of a section. */
function blocks(title: string, language: string): readonly string[] {
  const found = fencesOf(sectionUnder(guide, title)).filter((fence) => fence.language === language);
  expect(found.length, title).toBeGreaterThan(0);
  return found.map(({ text }) => text);
}

function typed(script: string): Promise<string> {
  return runCommand('bash', ['-euc', script], {
    withinMs: 900_000,
    cwd: folder,
    environment: {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      KUBECONFIG: cluster?.kubeconfig ?? '',
      ...{ HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder },
    },
  });
}

describe('a reader of docs/guides/kubernetes.md', () => {
  it('makes the secrets, in a namespace that takes only restricted pods', async () => {
    for (const script of blocks('2. Secrets', 'sh')) await typed(script);
    const names = await typed('kubectl -n agents get secrets -o name');
    for (const name of ['keys', 'mongodb', 'redis', 'kafka']) expect(names).toContain(`secret/dormouse-${name}`);
    const [, sasl = ''] = /sasl='([^']+)'/.exec(guide) ?? [];
    const stored = await typed("kubectl -n agents get secret dormouse-kafka -o jsonpath='{.data.sasl}' | base64 -d");
    expect(stored).toBe(sasl);
  });

  it('installs with the values that are shown, and every pod is ready', async () => {
    writeFileSync(join(folder, 'values.yaml'), blocks('3. Values', 'yaml').join('\n'));
    const said = await typed(blocks('4. Install', 'sh').join('\n').replace(' --logs', ''));
    expect(said).toContain('STATUS: deployed');
    expect(said).toMatch(/Phase: +Succeeded/);
    const pods = await typed('kubectl -n agents get pods -l app.kubernetes.io/instance=dormouse --no-headers');
    expect(pods.match(/ 1\/1 +Running/g)).toHaveLength(10);
  });

  it('reads the first key', async () => {
    const [first = ''] = blocks('5. A conversation', 'sh').join('\n').split('\n');
    expect(await typed(`${first}\necho "$KEY"`)).toMatch(/^[0-9a-f]{48}\n$/);
  });

  it('is refused what would leave data behind, and is told what to do', async () => {
    const upgrade = 'helm upgrade dormouse deploy/helm/dormouse -n agents -f values.yaml --set kafka.prefix=other.';
    await expect(typed(upgrade)).rejects.toThrow(/kafka\.prefix: the data of this release is under `rap\.`/);
  });

  it('stops the services, starts them, and starts them anew, as the runbooks say', async () => {
    const [stop = '', restart = '', sweep = ''] = ['scale', 'rollout restart', 'delete pods'].map((verb) => {
      const [command = ''] = new RegExp(`kubectl -n agents ${verb} [^\`]+`).exec(runbooks) ?? [];
      return command;
    });
    const running = (): Promise<string> => typed('kubectl -n agents get deployments -o jsonpath={..spec.replicas}');
    await typed(stop);
    expect(await running()).toBe('0 0 0 0 0');
    const [setUp = ''] = /helm upgrade dormouse [^`]+/.exec(runbooks) ?? [];
    expect(await typed(`${setUp} --wait`)).toContain('STATUS: deployed');
    expect(await running()).toBe('2 2 2 2 2');
    expect((await typed(restart)).match(/ restarted$/gm)).toHaveLength(5);
    await typed(sweep);
  });

  it('mends an install that failed with an upgrade of the same arguments', async () => {
    const bad = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"no_name"}}';
    const release = 'second deploy/helm/dormouse --namespace agents -f values.yaml';
    await expect(typed(`helm install ${release} --set-json 'extraObjects=[${bad}]'`)).rejects.toThrow('no_name');
    await expect(typed(`helm install ${release}`)).rejects.toThrow('cannot reuse a name');
    expect(await typed(`helm upgrade ${release} --wait`)).toContain('STATUS: deployed');
    await typed('helm uninstall second -n agents --wait');
    await typed('kubectl -n agents delete configmap second-data');
  });

  it('uninstalls, and is left with what is said', async () => {
    const [, command = ''] = /\*\*Uninstall\*\*: `([^`]+)`/.exec(guide) ?? [];
    await typed(`${command} --wait`);
    const left = await typed('kubectl -n agents get configmaps,secrets,deployments,services,jobs -o name');
    const ours = left.split('\n').filter((name) => name.includes('dormouse'));
    expect(ours.toSorted()).toEqual([
      'configmap/dormouse-data',
      ...['kafka', 'keys', 'mongodb', 'redis'].map((name) => `secret/dormouse-${name}`),
    ]);
  });

  it('installs again beside what was left', async () => {
    const said = await typed(`${blocks('4. Install', 'sh').join('\n').split('\n')[0] ?? ''}`);
    expect(said).toContain('STATUS: deployed');
  });
});
