// The chart on a real API server, in a namespace that takes only restricted pods: install, upgrade, refusals, a node
// that goes, uninstall. No image runs here: pods are ready by kwok's rules.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../docs/document.ts';
import { runCommand } from '../../services/run-command.ts';
import { chartFolder } from '../chart-files.ts';
import { helm } from '../chart-programs.ts';
import { type KubernetesCluster, startKubernetes } from './api-server.ts';
import { controlPlanePrograms } from './control-plane.ts';
import { kubernetesSchemas } from './schemas.ts';

const chart = join(root, chartFolder);
const namespace = 'agents';
const services = ['callback-gateway', 'ingress-gateway', 'notifier', 'thread-processor', 'tool-dispatcher'];
let folder = '';
let missing: string | null = null;
let cluster: KubernetesCluster | null = null;
let helmProgram = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-kube-'));
  const [programs, schemas, tool] = [await controlPlanePrograms(), await kubernetesSchemas(), await helm()];
  for (const each of [programs, schemas, tool]) if (!each.available) missing ??= each.reason;
  if (!programs.available || !schemas.available || !tool.available) return;
  helmProgram = tool.program;
  cluster = await startKubernetes(programs.program, folder);
  const definitions = join(schemas.program, 'crds');
  await cluster.apply(
    readdirSync(definitions).map((name) => JSON.parse(readFileSync(join(definitions, name), 'utf8')) as object),
  );
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: restricted } },
    { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: namespace }, value: 1_000 },
  ]);
});
afterAll(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

function running(): KubernetesCluster {
  if (cluster === null) throw new Error('there is no cluster');
  return cluster;
}

const helmed = (...args: readonly string[]): Promise<string> =>
  runCommand(helmProgram, ['--kubeconfig', running().kubeconfig, '--namespace', namespace, ...args], {
    withinMs: 600_000,
    environment: { HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder },
  });

const withValues = (name: string, ...more: readonly string[]): readonly string[] => [
  ...[chart, '-f', join(chart, 'ci', `${name}-values.yaml`), '--wait', '--timeout', '8m', ...more],
];

async function read<Answer>(...args: readonly string[]): Promise<Answer> {
  return JSON.parse(await running().kubectl('--namespace', namespace, ...args, '-o', 'json')) as Answer;
}

interface Listed {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
    readonly spec: {
      readonly nodeName?: string;
      readonly replicas?: number;
      readonly containers?: readonly { readonly image: string }[];
    };
    readonly status: { readonly readyReplicas?: number; readonly phase?: string };
  }[];
}

const ofRelease = (name: string): readonly string[] => ['-l', `app.kubernetes.io/instance=${name}`];

/** Every kind of the namespace that the release could have made an object of. */
async function everythingOf(name: string): Promise<readonly string[]> {
  const kinds = await running().kubectl('api-resources', '--namespaced', '--verbs=list', '-o', 'name');
  const wanted = kinds
    .split('\n')
    .filter((kind) => kind !== '' && !/^(events|endpoints$|leases|endpointslices)/.test(kind));
  const listed = await running().kubectl(
    ...['--namespace', namespace, 'get', wanted.join(','), '-o', 'name', '--ignore-not-found', ...ofRelease(name)],
  );
  return listed.split('\n').filter((line) => line !== '');
}

describe('a namespace that takes only restricted pods', () => {
  it('refuses a pod that asks for more: the installs below prove something', async () => {
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'greedy', namespace } },
      spec: { containers: [{ name: 'greedy', image: 'greedy:1', securityContext: { privileged: true } }] },
    };
    await expect(running().apply([pod])).rejects.toThrow(/violates PodSecurity "restricted/);
  });

  it('takes the chart: every pod is ready, and the setup Job has run', async () => {
    await helmed(
      'install',
      'dm',
      ...withValues(
        'production',
        '--set',
        'services.ingressGateway.autoscaling.mode=none',
        '--set',
        'services.callbackGateway.autoscaling.mode=none',
      ),
    );
    const { items } = await read<Listed>('get', 'deployments', ...ofRelease('dm'));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(services.map((name) => `dm-${name}`));
    for (const { spec, status } of items) expect(status.readyReplicas).toBe(spec.replicas);
    expect((await read<Listed>('get', 'jobs')).items).toEqual([]); // a hook that succeeded is deleted
    const made = (await everythingOf('dm')).map((line) => line.split('/')[0]);
    for (const kind of ['networkpolicy.networking.k8s.io', 'ingress.networking.k8s.io', 'poddisruptionbudget.policy'])
      expect(made).toContain(kind);
    for (const kind of ['servicemonitor.monitoring.coreos.com', 'prometheusrule.monitoring.coreos.com'])
      expect(made).toContain(kind);
  });

  it('rolls to another image, pod after pod', async () => {
    const digest = `sha256:${'b'.repeat(64)}`;
    await helmed('upgrade', 'dm', ...withValues('production', '--set', `image.digest=${digest}`));
    const { items } = await read<Listed>('get', 'pods', ...ofRelease('dm'), '--field-selector', 'status.phase=Running');
    expect(items.length).toBeGreaterThanOrEqual(12);
    for (const { spec } of items) expect(spec.containers?.[0]?.image).toContain(digest);
  });

  it('takes another template of the setup Job, as a hook and as a plain Job, again and again', async () => {
    for (const more of [
      ['--set', 'setup.backoffLimit=1'],
      ['--set', 'setup.hooks=false'],
      ['--set', 'setup.hooks=false', '--set', 'logLevel=debug'],
      ['--set', 'setup.hooks=false', '--set', 'logLevel=debug', '--set', 'setup.activeDeadlineSeconds=900'],
    ])
      await helmed('upgrade', 'dm', ...withValues('production', ...more));
    const jobs = (await read<Listed>('get', 'jobs')).items.map(({ metadata }) => metadata.name);
    expect(jobs).toEqual([expect.stringMatching(/^dm-setup-[0-9a-f]{10}$/)]);
  });

  it.each([
    ['kafka.prefix=other.', /kafka\.prefix: the data of this release is under `rap\.`/],
    ['kafka.partitions=25', /kafka\.partitions: the topics of this release were made with 24/],
    ['mongodb.database=fresh', /mongodb\.database: the threads of this release are in `agents`/],
  ])('refuses an upgrade that would orphan data: %s', async (change, sentence) => {
    const before = await helmed('history', 'dm', '--output', 'json');
    await expect(helmed('upgrade', 'dm', ...withValues('production', '--set', change))).rejects.toThrow(sentence);
    expect(await helmed('history', 'dm', '--output', 'json')).toBe(before);
  });

  it('goes back with a rollback', async () => {
    await helmed('rollback', 'dm', '1', '--wait', '--timeout', '8m');
    const { items } = await read<Listed>('get', 'deployments', ...ofRelease('dm'));
    for (const { spec, status } of items) expect(status.readyReplicas).toBe(spec.replicas);
  });

  it('lets a node be drained: budgets hold, and every pod is somewhere else', async () => {
    await running().kubectl('drain', 'node-0', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s');
    for (const name of services)
      await running().kubectl('--namespace', namespace, 'rollout', 'status', `deployment/dm-${name}`, '--timeout=120s');
    const { items } = await read<Listed>('get', 'pods', ...ofRelease('dm'), '--field-selector', 'status.phase=Running');
    expect(items.filter(({ spec }) => spec.nodeName === 'node-0')).toEqual([]);
    await running().kubectl('uncordon', 'node-0');
  });

  it('is left with what the notes say, and nothing else', async () => {
    await helmed('uninstall', 'dm', '--wait', '--timeout', '5m');
    // Pods go a moment later: the collector of Kubernetes follows their owners.
    await expect.poll(() => everythingOf('dm')).toEqual(['configmap/dm-data']);
  });

  it('refuses a later install beside the data, and takes one over it', async () => {
    const other = helmed('install', 'dm', ...withValues('production', '--set', 'mongodb.database=fresh'));
    await expect(other).rejects.toThrow(/mongodb\.database: the threads of this release are in `agents`/);
    await helmed('install', 'dm', ...withValues('production'));
    await helmed('uninstall', 'dm', '--wait', '--timeout', '5m');
  });

  it.each(['minimal', 'keda', 'gateway-api', 'secured', 'argo-cd', 'private-network', 'ipv6'])(
    'takes the values of %s',
    async (name) => {
      await helmed('install', `v-${name}`, ...withValues(name));
      const { items } = await read<Listed>('get', 'deployments', ...ofRelease(`v-${name}`));
      expect(items).toHaveLength(5);
      await helmed('uninstall', `v-${name}`, '--wait', '--timeout', '5m');
      await expect.poll(() => everythingOf(`v-${name}`)).toEqual([`configmap/v-${name}-data`]);
    },
  );
});
