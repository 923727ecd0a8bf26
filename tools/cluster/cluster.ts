// The whole cluster on one machine without containers: a real Kafka, a MongoDB-compatible server and a Redis (or those
// that the environment names), the topics and indexes, the five services as processes, and the example tools.
//
// Invariants:
//   C1. Data, keys and output live in one directory; a second start finds them again.
//   C2. A service that dies is reported and restarted, and so is a server that was started here. What was started here,
//       and only that, ends with Ctrl-C: gateways first, stores last, exit code 0.
//   C3. Everything listens on loopback.
//   C4. It ends in order also when its output is not read any more, or when the process that started it with a channel
//       dies.
//   C5. It starts on ports without a listener, or not at all.
//   C6. With `--observability`, the five services send their spans to a trace store, and a Prometheus scrapes them
//       (observability.ts).
//   C7. Further copies of the services are as the first, on ports that are 20 higher each; clients and tool servers are
//       told the first.
//   C8. A flag with a value that it cannot have ends it with 2, one sentence, and nothing started.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFlags, refuse } from '../flags.ts';
import { stopSignal } from '../../libs/host/src/lifecycle/stop-signal.ts';
import { networkErrorCode } from '../../libs/ports/src/world/network-error-code.ts';
import { takenPorts } from '../../test/services/free-ports.ts';
import { recipe as kafka } from '../../test/services/kafka/recipe.ts';
import { recipe as mongo } from '../../test/services/mongo/recipe.ts';
import { recipe as redis } from '../../test/services/redis/recipe.ts';
import { serviceCache } from '../../test/services/service-cache.ts';
import type { RunningService, ServiceRecipe } from '../../test/services/service.ts';
import { startMetrics, startTraces, type Traces } from './observability.ts';
import { seedExamples } from './seed-examples.ts';

const usage = `npm run cluster -- [options]: the five services and their servers on this machine, until Ctrl+C

  --data DIR        where data, keys and output are kept (default .dormouse-cluster)
  --port N          of the API, and the first of those that follow (default 7420)
  --copies N        of each service, on ports that are 20 higher each (default 1)
  --observability   with a trace store and a Prometheus
  --json            what runs where, as JSON
  --help            this text`;

const { values } = readFlags(usage, {
  data: { type: 'string', default: '.dormouse-cluster' },
  port: { type: 'string', default: '7420' },
  copies: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  observability: { type: 'boolean', default: false },
});

const host = '127.0.0.1';
const root = join(import.meta.dirname, '..', '..');
const directory = resolve(values.data);
const copies = numberOf('copies', values.copies, 9);
const portsPerCopy = 20;
/** The last port of a copy is fourteen above its first. */
const firstPort = numberOf('port', values.port, 65_521 - (copies - 1) * portsPerCopy);
const serviceNames = [
  'thread-processor',
  'tool-dispatcher',
  'notifier',
  'callback-gateway',
  'ingress-gateway',
] as const;
type ServiceName = (typeof serviceNames)[number];

const ports: Readonly<Record<ServiceName, { readonly port: number; readonly health: number }>> = {
  'ingress-gateway': { port: firstPort, health: firstPort + 10 },
  'callback-gateway': { port: firstPort + 1, health: firstPort + 11 },
  'thread-processor': { port: firstPort + 2, health: firstPort + 12 },
  'tool-dispatcher': { port: firstPort + 3, health: firstPort + 13 },
  notifier: { port: firstPort + 4, health: firstPort + 14 },
};

interface Instance {
  /** Of its process and its output. */
  readonly label: string;
  readonly name: ServiceName;
  readonly port: number;
  readonly health: number;
}

/** (C7) */
const instances: readonly Instance[] = Array.from({ length: copies }, (_, nth) =>
  serviceNames.map((name): Instance => {
    const { port, health } = ports[name];
    const above = nth * portsPerCopy;
    return { label: nth === 0 ? name : `${name}-${nth + 1}`, name, port: port + above, health: health + above };
  }),
).flat();
const toolsPort = firstPort + 5;
const prometheusPort = firstPort + 6;
const tracePorts = { query: firstPort + 7, otlp: firstPort + 8, grpc: firstPort + 9 };
const url = `http://${host}:${firstPort}`;
const restartAfterMs = 1_000;
const readyWithinMs = 150_000;
/** Of one question: an answer that never comes must not keep this from asking again. */
const answersWithinMs = 5_000;

for (const output of [process.stdout, process.stderr]) output.on('error', () => {}); // (C4)

const children = new Map<string, ChildProcess>();
const servers = new Map<string, RunningService>();
const repairs = new Map<string, Promise<void>>();
let setup: ChildProcess | undefined;
let traces: Traces | null = null;
let stopping = false;

void stopSignal().then(() => stopping || end());
process.once('disconnect', () => stopping || end()); // (C4)

function end(): void {
  stopping = true;
  void stop().then(() => process.exit(0));
}

try {
  await start();
} catch (error) {
  if (!stopping) {
    process.stderr.write(`dormouse cluster: ${(error as Error).message}\n`);
    stopping = true;
    await stop();
    process.exit(1);
  }
}

async function start(): Promise<void> {
  await refuseTakenPorts();
  mkdirSync(directory, { recursive: true });
  say('starting Kafka, a MongoDB-compatible server and Redis');
  const [brokers, database, hints] = await Promise.all([kafka, mongo, redis].map(startServer));
  if (values.observability && !stopping) await startTraceStore();
  const masterKey = kept('master-key', () => randomBytes(32).toString('hex'));
  const key = kept('key', () => `dm_${randomBytes(24).toString('base64url')}`);
  const environment: Readonly<Record<string, string>> = {
    DORMOUSE_KAFKA_BROKERS: brokers ?? '',
    DORMOUSE_MONGO_URL: database ?? '',
    DORMOUSE_REDIS_URL: hints ?? '',
    DORMOUSE_MASTER_KEY: masterKey,
    DORMOUSE_BOOTSTRAP_KEY: key,
    DORMOUSE_CALLBACK_BASE_URL: `http://${host}:${ports['callback-gateway'].port}`,
    DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8,http://[::1],http://localhost',
    ...traces?.environment,
  };
  say('making topics and indexes');
  setup = run('setup', 'ingress-gateway', ['setup'], environment);
  await finished(setup);
  say('starting the five services');
  for (const { label, name, port, health } of instances)
    keepRunning(label, name, ['--host', host, '--port', String(port), '--health-port', String(health)], environment);
  const ofTools = ['--port', String(toolsPort), '--data', join(directory, 'example-tools')];
  keepRunning('example-tools', 'example-tools', ofTools, {});
  await Promise.all(instances.map(untilReady));
  await seedExamples(url, key, `http://${host}:${toolsPort}`);
  if (values.observability && !stopping) await startPrometheus();
  if (!stopping) process.stdout.write(values.json ? asJson(brokers, database, hints) : banner());
}

/** Ends with 2 for anything but a whole number from 1 to this. (C8) */
function numberOf(flag: 'port' | 'copies', text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  return refuse(`--${flag} takes a whole number from 1 to ${max}, and not ${JSON.stringify(text)}.`, 'npm run cluster');
}

/** Another process that answers there would be taken for ours. (C5) */
async function refuseTakenPorts(): Promise<void> {
  const ours = [...instances.flatMap(({ port, health }) => [port, health]), toolsPort];
  if (values.observability) ours.push(prometheusPort, ...Object.values(tracePorts));
  const taken = await takenPorts(ours);
  if (taken.length > 0)
    throw new Error(
      `somebody listens on ${taken.join(', ')} already, perhaps another cluster. Stop it, or choose with --port: this needs the ports from there to ${Math.max(...ours) - firstPort} above.`,
    );
}

async function startServer(recipe: ServiceRecipe): Promise<string> {
  const given =
    process.env[`DORMOUSE_${{ kafka: 'KAFKA_BROKERS', mongo: 'MONGO_URL', redis: 'REDIS_URL' }[recipe.name]}`];
  if (given !== undefined) return given;
  const started = await recipe.start({
    directory: join(directory, recipe.name),
    cache: serviceCache,
    built: true,
    say,
  });
  if (!started.available) throw new Error(`${started.reason}\n${started.remedy}`);
  serve(recipe.name, started.service);
  return started.service.url;
}

/** (C6) */
async function startTraceStore(): Promise<void> {
  traces = await startTraces({ directory, say }, tracePorts);
  if (traces.store !== null) serve('traces', traces.store);
}

/** (C6) */
async function startPrometheus(): Promise<void> {
  const targets = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      instances.flatMap((each) => (each.name === name ? [`${host}:${each.health}`] : [])),
    ]),
  );
  serve('prometheus', await startMetrics({ directory, say }, targets, prometheusPort));
}

function serve(name: string, server: RunningService): void {
  servers.set(name, server);
  void keepServing(name, server);
}

/** A private file of the directory, written once. (C1) */
function kept(name: string, make: () => string): string {
  const file = join(directory, name);
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function run(
  name: string,
  app: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const output = openSync(join(directory, `${name}.out`), 'a');
  const child = spawn(process.execPath, [join(root, 'apps', app, 'dist', 'main.js'), ...args], {
    env: { ...inherited(), ...environment },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  return child;
}

/** Settings of this shell reach the services; addresses are set here. */
function inherited(): NodeJS.ProcessEnv {
  const { DORMOUSE_PORT: _port, DORMOUSE_HOST: _host, DORMOUSE_DATA_DIR: _data, ...rest } = process.env;
  return rest;
}

/** (C2) */
function keepRunning(
  name: string,
  app: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): void {
  const child = run(name, app, args, environment);
  children.set(name, child);
  child.once('exit', (code, signal) => {
    if (stopping) return;
    say(`${name} ended (${signal ?? code}): see ${join(directory, `${name}.out`)}; starting it again`);
    setTimeout(() => {
      if (!stopping) keepRunning(name, app, args, environment);
    }, restartAfterMs);
  });
}

/** (C2) */
async function keepServing(name: string, server: RunningService): Promise<void> {
  while (!stopping) {
    await sleep(restartAfterMs, null, { ref: false });
    if (stopping || server.pids().every(isAlive)) continue;
    say(`${name} ended: see ${join(directory, name)}; starting it again`);
    const repair = restarted(name, server);
    repairs.set(name, repair);
    await repair;
  }
}

async function restarted(name: string, server: RunningService): Promise<void> {
  try {
    server.kill('SIGKILL'); // the others of several processes may still run
    await server.restart();
  } catch (error) {
    say(`${name} does not start: ${(error as Error).message}`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilReady({ label, health }: Instance): Promise<void> {
  let reason = 'it does not answer';
  for (const until = Date.now() + readyWithinMs; Date.now() < until && !stopping; await sleep(100)) {
    try {
      const signal = AbortSignal.timeout(answersWithinMs);
      const answer = await fetch(`http://${host}:${health}/readyz`, { signal });
      if (answer.ok) return;
      reason = ((await answer.json()) as { readonly reason?: string }).reason ?? String(answer.status);
    } catch (error) {
      reason = `port ${health} does not answer: ${networkErrorCode(error) ?? (error as Error).message}`; // not yet
    }
  }
  throw new Error(`${label} is not ready: ${reason}. See ${join(directory, `${label}.out`)}`);
}

async function finished(child: ChildProcess): Promise<void> {
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`setup failed: see ${join(directory, 'setup.out')}`);
}

async function stop(): Promise<void> {
  say('stopping');
  await ended(setup);
  for (const { label } of instances.toReversed()) await ended(children.get(label));
  await ended(children.get('example-tools'));
  await Promise.all(repairs.values());
  await Promise.all([...servers.values()].map((server) => server.stop()));
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await gone;
}

function asJson(...[brokers, database, hints]: readonly (string | undefined)[]): string {
  const pids = Object.fromEntries([...children].map(([name, child]) => [name, child.pid]));
  const serverPids = Object.fromEntries([...servers].map(([name, server]) => [name, server.pids()]));
  const keyFile = join(directory, 'key');
  const seen = { prometheus: servers.get('prometheus')?.url, traces: servers.get('traces')?.url };
  return `${JSON.stringify({ url, keyFile, directory, kafka: brokers, mongo: database, redis: hints, ...seen, pids, serverPids })}\n`;
}

function banner(): string {
  const lines = [
    '',
    `  Dormouse is up at ${url}: five services over Kafka, MongoDB and Redis`,
    `  data   ${directory}   (and the output of every process)`,
    `  key    ${join(directory, 'key')}`,
    `  tools  http://${host}:${toolsPort}   (examples, used by the agent "assistant")`,
    ...observabilityLines(),
    '',
    '  Type next, in another terminal:',
    `    npx @dormouse/cli chat --data ${directory}${firstPort === 7_420 ? '' : ` --url ${url}`}`,
    '',
    `ready ${url}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** (C6) */
function observabilityLines(): readonly string[] {
  const prometheus = servers.get('prometheus');
  if (prometheus === undefined) return [];
  return [
    `  metrics ${prometheus.url}   (Prometheus; alerts: ${prometheus.url}/classic/alerts)`,
    ...(traces?.lines ?? []),
  ];
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
