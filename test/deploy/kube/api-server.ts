// A cluster of Kubernetes without machines: a real API server with etcd, controllers and scheduler on loopback, and
// three nodes that kwok plays. Pods become ready by kwok's rules: no image runs, no probe is asked, no packet is
// filtered.
//
// Invariants:
//   K1. Everything listens on loopback, with its data in one folder; each run has its own ports, key and token.
//   K2. It stops in reverse order: an API server without its etcd does not end.
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../services/free-ports.ts';
import { runCommand } from '../../services/run-command.ts';
import { type ServerProcess, startServer } from '../../services/server-process.ts';

export interface KubernetesCluster {
  readonly kubeconfig: string;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Makes or changes objects. */
  apply(objects: readonly object[], ...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

const startWithinMs = 180_000;
const commandWithinMs = 300_000;
const loopback = '127.0.0.1';

export async function startKubernetes(programs: string, folder: string): Promise<KubernetesCluster> {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  const program = join(programs, 'control-plane');
  const [api = 0, etcd = 0, peers = 0, controllers = 0, scheduler = 0, nodes = 0] = await freePorts(6);
  const token = randomBytes(24).toString('hex');
  writeFileSync(at('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  await runCommand('openssl', ['genrsa', '-out', at('accounts.key'), '2048'], { withinMs: 60_000 });
  await runCommand('openssl', ['rsa', '-in', at('accounts.key'), '-pubout', '-out', at('accounts.pub')], {
    withinMs: 60_000,
  });
  const kubeconfig = at('kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(configOf(api, token)), { mode: 0o600 });
  const started: ServerProcess[] = [];
  const start = async (name: string, port: number, args: readonly string[], command = program): Promise<void> => {
    const given = command === program ? [name, ...args] : args;
    const output = at(`${name}.out`);
    started.push(await startServer({ command, args: given, output, port, withinMs: startWithinMs }));
  };
  const stop = async (): Promise<void> => {
    for (let server = started.pop(); server !== undefined; server = started.pop()) await server.stop(); // (K2)
  };
  const kubectl = (...args: readonly string[]): Promise<string> =>
    runCommand(program, ['kubectl', '--kubeconfig', kubeconfig, ...args], {
      withinMs: commandWithinMs,
      environment: { HOME: folder },
    });
  const apply = (objects: readonly object[], ...args: readonly string[]): Promise<string> => {
    const file = at(`objects-${randomBytes(4).toString('hex')}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    return kubectl('apply', '--server-side', '-f', file, ...args);
  };
  try {
    const url = (port: number): string => `http://${loopback}:${port}`;
    await start('etcd', etcd, [
      `--data-dir=${at('etcd')}`,
      ...[`--listen-client-urls=${url(etcd)}`, `--advertise-client-urls=${url(etcd)}`],
      ...[`--listen-peer-urls=${url(peers)}`, `--initial-advertise-peer-urls=${url(peers)}`],
      ...[`--initial-cluster=default=${url(peers)}`, '--unsafe-no-fsync', '--log-level=warn'],
    ]);
    await start('kube-apiserver', api, [
      ...[`--etcd-servers=${url(etcd)}`, `--bind-address=${loopback}`, `--advertise-address=${loopback}`],
      ...[`--secure-port=${api}`, `--cert-dir=${at('certificates')}`, '--endpoint-reconciler-type=none'],
      ...[
        `--service-account-issuer=https://kubernetes.default.svc`,
        `--service-account-key-file=${at('accounts.pub')}`,
      ],
      ...[`--service-account-signing-key-file=${at('accounts.key')}`, '--service-cluster-ip-range=10.96.0.0/16'],
      ...[`--token-auth-file=${at('tokens.csv')}`, '--authorization-mode=RBAC', '--allow-privileged=true'],
    ]);
    await until(() => kubectl('get', '--raw', '/readyz'));
    await start('kube-controller-manager', controllers, [
      ...[`--kubeconfig=${kubeconfig}`, `--service-account-private-key-file=${at('accounts.key')}`],
      ...['--leader-elect=false', `--bind-address=${loopback}`, `--secure-port=${controllers}`],
      ...[`--cert-dir=${at('certificates-controllers')}`],
      '--controllers=*,-node-ipam-controller,-cloud-node-lifecycle-controller',
    ]);
    await start('kube-scheduler', scheduler, [
      ...[`--kubeconfig=${kubeconfig}`, '--leader-elect=false', `--bind-address=${loopback}`],
      ...[`--secure-port=${scheduler}`, `--cert-dir=${at('certificates-scheduler')}`],
    ]);
    writeFileSync(at('check.json'), JSON.stringify(checkSucceeds));
    const stages = [join(programs, 'stages.yaml'), at('check.json')].map((file) => `--config=${file}`);
    const played = [...stages, '--manage-all-nodes=true'];
    const asKwok = [`--kubeconfig=${kubeconfig}`, ...played, '--node-lease-duration-seconds=40'];
    await start('kwok', nodes, [...asKwok, `--server-address=${loopback}:${nodes}`], join(programs, 'kwok'));
    await until(() => apply([0, 1, 2].map(node)));
    await kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s');
  } catch (failure) {
    await stop();
    throw failure;
  }
  return { kubeconfig, kubectl, apply, stop };
}

/** The pod of `helm test` ends; a kubelet would run its conversation. */
const checkSucceeds = {
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name: 'check-succeeds' },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Pod' },
    selector: {
      matchLabels: { 'app.kubernetes.io/component': 'conversation' },
      matchExpressions: [{ key: '.status.phase', operator: 'In', values: ['Running'] }],
    },
    next: { statusTemplate: 'phase: Succeeded\n' },
  },
};

/** Its certificate is its own; the token is what both sides know. (K1) */
const configOf = (port: number, token: string): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: `https://${loopback}:${port}`, 'insecure-skip-tls-verify': true } }],
  users: [{ name: 'u', user: { token } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});

const node = (nth: number): object => {
  const room = { cpu: '16', memory: '64Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${nth}`,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': `node-${nth}`,
        'topology.kubernetes.io/zone': `zone-${nth}`,
      },
    },
    status: { allocatable: room, capacity: room },
  };
};

async function until(attempt: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + startWithinMs; ; await sleep(200)) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
