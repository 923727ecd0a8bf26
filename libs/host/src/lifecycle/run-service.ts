// One service per process, as on a cluster.
//
// Invariants:
//   R1. Health is answered from the start; ready is reported only when the process does its work.
//   R2. A dependency that is unavailable at the start is retried and logged once; one that is unfit (a missing index, a
//       changed topic, a wrong setting) ends the process with the step that repairs it.
//   R3. Stop: the HTTP server first, then the service, which drains, then the stores; exit code 0, and 1 where the time
//       of its keys is over. A later signal ends it at once.
import 'reflect-metadata';
import { fileURLToPath } from 'node:url';
import type { ShardingStatement } from '@dormouse/adapter-mongo';
import { Fault, type Logger } from '@dormouse/ports';
import type { Service } from '@dormouse/runtime';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type ClusterConfig, clusterHealthPort, isCluster, readConfig } from '../config.ts';
import { createCallbackServer } from '../http/server/callback-server.ts';
import { createHttpServer, type HttpServer } from '../http/server/http-server.ts';
import { PassOnFilter } from '../microservice/pass-on-filter.ts';
import { RecordSpans } from '../microservice/record-spans.ts';
import { RecordStrategy } from '../microservice/record-strategy.ts';
import {
  InputSweeperModule,
  NotifierModule,
  ThreadProcessorModule,
  ToolDispatcherModule,
} from '../microservice/service-modules.ts';
import { examineServers, exitCodeOf, textOf } from '../doctor/inside.ts';
import { createJsonLogger } from '../platform/json-logger.ts';
import { openPlatform, type Platform } from '../platform/platform.ts';
import { type Need, setUpCluster, shardingOf } from '../platform/topology.ts';
import { type Services, servicesOf } from '../services.ts';
import { arrivalLimitsOf } from './arrival-limits.ts';
import { clientServerOptions } from './client-server.ts';
import { finish, settingsText, type Undo, unwind } from './ending.ts';
import { startHealthServer } from './health-server.ts';
import { openProcessMetrics } from './process-metrics.ts';
import { clusterTenant } from './standalone-seed.ts';
import { startFailureText } from './start-failure.ts';
import { stopSignal } from './stop-signal.ts';

export type ServiceName = 'ingress-gateway' | 'callback-gateway' | 'thread-processor' | 'tool-dispatcher' | 'notifier';

const stopWithinMs = 30_000;
const retryMsFirst = 500;
const retryMsMax = 10_000;

/** What a start reports about itself: null once it works. */
interface Progress {
  waitingFor: string | null;
  platform: Platform | null;
}

/** Runs until a signal comes; the directory `builtConsole` need not be there. Never returns: it ends the process. */
export async function runService(name: ServiceName, builtConsole: URL | null = null): Promise<never> {
  const { config, task, isJson } = clusterConfigOrEnd();
  const logger = createJsonLogger(config.LOG_LEVEL, name);
  const stopped = stopSignal();
  const undo: Undo = [];
  let platform: Platform;
  try {
    if (task === 'doctor') {
      const findings = await examineServers(config, createJsonLogger('silent', name));
      process.stdout.write(textOf(findings, isJson));
      return process.exit(exitCodeOf(findings));
    }
    if (task === 'shard') return finish(0, shardingText(await shardingOf(config), isJson));
    if (task === 'setup') {
      await patiently(() => setUpCluster(config, logger), { logger, stopped });
      return finish(0, 'The topics and indexes are there.\n');
    }
    const consoleDir = builtConsole && fileURLToPath(builtConsole);
    platform = await start({ name, consoleDir }, config, logger, stopped, undo);
  } catch (failure) {
    await unwind(undo);
    if (failure === interrupted) return finish(0, '');
    return finish(1, `dormouse ${name}: ${startFailureText(failure, config.PORT)}\n`);
  }
  const keysOver = await Promise.race([stopped.then(() => null), platform.keysOver]);
  await unwind(undo); // (R3)
  return keysOver === null ? finish(0, '') : finish(1, `dormouse ${name}: ${keysOver}\n`);
}

const jsonFlag = '--json';
const shardFlag = '--shard';

interface Asked {
  readonly config: ClusterConfig;
  readonly task: 'run' | 'setup' | 'shard' | 'doctor';
  readonly isJson: boolean;
}

function clusterConfigOrEnd(): Asked {
  const { task, isJson, flags } = askedBy(process.argv.slice(2));
  const reading = readConfig(flags);
  if (reading.ok === 'help') return finish(0, reading.text);
  if (!reading.ok) return finish(1, settingsText(reading.problems));
  if (!isCluster(reading.config)) return finish(1, settingsText([clusterWanted]));
  return { config: reading.config, task, isJson };
}

/** `flags`: those of settings. */
function askedBy(args: readonly string[]): Omit<Asked, 'config'> & { readonly flags: string[] } {
  const [first, ...rest] = args;
  const without = (...own: readonly string[]): string[] => rest.filter((flag) => !own.includes(flag));
  const isJson = rest.includes(jsonFlag);
  if (first === 'doctor') return { task: 'doctor', isJson, flags: without(jsonFlag) };
  if (first !== 'setup') return { task: 'run', isJson: false, flags: [...args] };
  if (!rest.includes(shardFlag)) return { task: 'setup', isJson: false, flags: rest };
  return { task: 'shard', isJson, flags: without(shardFlag, jsonFlag) };
}

/** A script for mongosh, or a line of JSON for each statement. */
function shardingText(statements: readonly ShardingStatement[], isJson: boolean): string {
  const lines = statements.map((each) => (isJson ? JSON.stringify(each) : `${each.run}; // ${each.why}`));
  return `${lines.join('\n')}\n`;
}

const clusterWanted =
  'one service per process needs DORMOUSE_KAFKA_BROKERS, DORMOUSE_MONGO_URL, DORMOUSE_REDIS_URL and DORMOUSE_MASTER_KEY; everything in one process needs none of them: npm start';

/** A service, and the built console where it serves one. */
interface Deployed {
  readonly name: ServiceName;
  readonly consoleDir: string | null;
}

async function start(
  { name, consoleDir }: Deployed,
  config: ClusterConfig,
  logger: Logger,
  stopped: Promise<unknown>,
  undo: Undo,
): Promise<Platform> {
  const progress: Progress = { waitingFor: 'starting', platform: null };
  const ready = async (): Promise<string | null> =>
    progress.waitingFor ?? (await progress.platform?.problem(needs[name])) ?? null;
  const stalled = (): string | null => progress.platform?.stalled() ?? null;
  const arrivals = arrivalLimitsOf(config);
  const measured = await openProcessMetrics(config, [name], `dormouse-${name}`, logger);
  const { HOST, HEALTH_PORT = clusterHealthPort } = config;
  const health = await startHealthServer(HOST, HEALTH_PORT, { ready, stalled, metrics: measured.text }, arrivals); // (R1)
  undo.push(() => health.close());
  const waiting: Waiting = { logger, stopped, waitingFor: (reason) => (progress.waitingFor = reason) };
  const platform = await patiently(() => openPlatform(name, config, logger, measured.metrics), waiting);
  progress.platform = platform;
  undo.push(() => platform.close());
  undo.push(() => measured.close()); // the last push reads the stores
  await patiently(() => parts[name](config, platform, undo, consoleDir), waiting);
  progress.waitingFor = null;
  logger.info('ready');
  process.stdout.write(`ready ${name}\n`);
  return platform;
}

/** Required servers per service. A callback is durable in Kafka; a service that records its own work needs MongoDB. */
const needs: Readonly<Record<ServiceName, readonly Need[]>> = {
  'ingress-gateway': ['kafka', 'mongo'],
  'callback-gateway': ['kafka'],
  'thread-processor': ['kafka', 'mongo'],
  'tool-dispatcher': ['kafka', 'mongo'],
  notifier: ['kafka', 'mongo'],
};

type StartPart = (config: ClusterConfig, platform: Platform, undo: Undo, consoleDir: string | null) => Promise<void>;

const parts: Readonly<Record<ServiceName, StartPart>> = {
  'ingress-gateway': startIngress,
  'callback-gateway': async (config, platform, undo) => {
    const { logger, tracing, metrics } = platform;
    const callbacks = servicesOf(config, platform, callbackBaseOf(config)).callbackGateway();
    undo.push(() => callbacks.flush());
    const arrivals = arrivalLimitsOf(config);
    const door = await createCallbackServer({ callbacks, logger, tracing, arrivals, metrics });
    await open(door, config, undo);
  },
  'thread-processor': microservice(ThreadProcessorModule, (services) => services.threadProcessor()),
  'tool-dispatcher': microservice(ToolDispatcherModule, (services) => services.toolDispatcher()),
  notifier: microservice(NotifierModule, (services) => services.notifier()),
};

async function startIngress(
  config: ClusterConfig,
  platform: Platform,
  undo: Undo,
  consoleDir: string | null,
): Promise<void> {
  const services = servicesOf(config, platform, callbackBaseOf(config), publicBaseOf(config));
  const ingress = services.ingress();
  undo.push(() => ingress.limits.flush());
  await ingress.tenants.ensure(clusterTenant);
  if (config.BOOTSTRAP_KEY !== undefined) await ingress.keys.ensure(clusterTenant, 'bootstrap', config.BOOTSTRAP_KEY);
  for (const service of services.housekeeping(ingress)) {
    await service.start();
    undo.push(() => service.stop(stopWithinMs));
  }
  await microservice(InputSweeperModule, (services) => services.inputSweeper())(config, platform, undo, null);
  const door = await createHttpServer({
    ...clientServerOptions(config, platform, ingress),
    callbacks: null,
    devClock: null,
    consoleDir,
    ready: () => platform.problem(needs['ingress-gateway']),
  });
  await open(door, config, undo);
}

async function open(door: HttpServer, config: ClusterConfig, undo: Undo): Promise<void> {
  undo.push(() => door.close());
  await door.listen(config.HOST, config.PORT);
}

interface ServiceModule {
  over(parts: { readonly service: Service; readonly consumers: RecordStrategy['consumers'] }): DynamicModule;
}

/** A microservice of Nest: the records of its bus pass through its controller's handlers. */
function microservice(module: ServiceModule, make: (services: Services) => Service): StartPart {
  return async (config, platform, undo) => {
    const strategy = new RecordStrategy(platform.stores, platform.logger, stopWithinMs);
    const stores = { ...platform.stores, ...strategy.buses };
    const service = make(servicesOf(config, { ...platform, stores }, callbackBaseOf(config)));
    strategy.run([service]);
    const root = module.over({ service, consumers: strategy.consumers });
    const app = await NestFactory.createMicroservice(root, { strategy, logger: false, abortOnError: false });
    if (platform.tracing.tracer.isOn) app.useGlobalInterceptors(new RecordSpans(platform.tracing));
    app.useGlobalFilters(new PassOnFilter());
    await app.listen();
    undo.push(() => app.close());
  };
}

/** A stop was requested while the start was waiting. */
const interrupted = Symbol('interrupted');

interface Waiting {
  readonly logger: Logger;
  readonly stopped: Promise<unknown>;
  /** Is told the reason of each wait. */
  readonly waitingFor?: (reason: string) => void;
}

/** (R2) @throws `interrupted`, or a failure that waiting does not repair. */
async function patiently<Result>(
  attempt: () => Promise<Result>,
  { logger, stopped, waitingFor }: Waiting,
): Promise<Result> {
  let said: string | null = null;
  for (let delayMs = retryMsFirst; ; delayMs = Math.min(delayMs * 2, retryMsMax)) {
    try {
      return await attempt();
    } catch (failure) {
      if (!(failure instanceof Fault) || failure.code !== 'UNAVAILABLE') throw failure;
      if (failure.message !== said) logger.warn('waiting', { reason: failure.message });
      said = failure.message;
      waitingFor?.(failure.message);
    }
    const pause = new Promise((resolve) => setTimeout(resolve, delayMs));
    if ((await Promise.race([pause, stopped.then(() => interrupted)])) === interrupted) throw interrupted;
  }
}

/** Where clients and senders of deliveries reach the ingress gateway. */
const publicBaseOf = (config: ClusterConfig): string => config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`;

/** Where tool servers answer; in a cluster the callback gateway has an address of its own. */
const callbackBaseOf = (config: ClusterConfig): string => config.CALLBACK_BASE_URL ?? publicBaseOf(config);
