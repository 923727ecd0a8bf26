// The standalone topology: all five services in one process over one SQLite file. A topology, not a mode.
//
// Invariants:
//   R1. Start: stores, services, examples, then the door; nothing is accepted before everything that works on it runs.
//   R2. Stop: the door first (no new connection, streams end, requests finish), then the services in order, then the
//       stores; exit code 0, and 1 where the time of its keys is over. A later signal ends the process at once.
//   R3. A start that fails lets go of what it holds, says what to do next, and exits with 1; when it could not listen,
//       or the settings are wrong, no data directory is made. A signal during the start ends it at once.
import 'reflect-metadata';
import { metricServices } from '@dormouse/ports';
import type { Service } from '@dormouse/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBackups, examplesDirectory } from '../backup/backups.ts';
import { type Config, isCluster, readConfig } from '../config.ts';
import { isLoopbackName } from '../http/door/caller.ts';
import { createHttpServer, type HttpServer } from '../http/server/http-server.ts';
import {
  InputSweeperModule,
  NotifierModule,
  SERVICE,
  ThreadProcessorModule,
  ToolDispatcherModule,
} from '../microservice/service-modules.ts';
import { createJsonLogger } from '../platform/json-logger.ts';
import { openPlatform, type Platform } from '../platform/platform.ts';
import { servicesOf } from '../services.ts';
import { arrivalLimitsOf } from './arrival-limits.ts';
import { bannerText } from './banner.ts';
import { clientServerOptions } from './client-server.ts';
import { finish, settingsText, unwind, type Undo } from './ending.ts';
import { resolvePort } from './free-port.ts';
import { startHealthServer } from './health-server.ts';
import { openProcessMetrics, type ProcessMetrics } from './process-metrics.ts';
import { watchDataDirectory } from './data-directory-watch.ts';
import { type ExampleAddress, seedExamples, seedKey, standaloneTenant } from './standalone-seed.ts';
import { startFailureText } from './start-failure.ts';
import { stopSignal } from './stop-signal.ts';

/** Starts a tool server with the example tools; passed in by the app, because libraries do not import apps. */
export type StartExampleTools = (options: {
  readonly port: number;
  readonly host: string;
  /** Of the examples: reminders, open questions and undelivered results survive a restart like everything else. */
  readonly dataDir: string;
}) => Promise<StartedExamples>;

export interface StartedExamples extends ExampleAddress {
  /** Writes a copy of its data directory, as of this moment, into an existing one. */
  copyInto(directory: string): void;
  close(): Promise<void>;
}

const stopWithinMs = 30_000;
const oneTopology =
  'DORMOUSE_KAFKA_BROKERS and its kin choose the cluster: start it with npm run cluster, or unset them';

/** For a failure that names a flag: npm consumes flags that come before the two dashes. */
const flagsHint = 'A flag goes behind two dashes: npm start -- --port 7430\n';

/** Runs until a signal comes; the directory `builtConsole` need not be there. Never returns: it ends the process. */
export async function runStandalone(startExampleTools: StartExampleTools, builtConsole: URL): Promise<never> {
  const reading = readConfig();
  if (reading.ok === 'help') return finish(0, reading.text);
  if (!reading.ok) return finish(1, settingsText(reading.problems));
  if (isCluster(reading.config)) return finish(1, settingsText([oneTopology]));
  const stopped = stopSignal();
  const undo: Undo = [];
  let keysOver: Promise<string>;
  try {
    const consoleDir = fileURLToPath(builtConsole);
    const starting = start(reading.config, { startExampleTools, consoleDir }, undo);
    const started = await Promise.race([starting, stopped.then(() => null)]);
    if (started === null) return finish(0, ''); // (R3) nothing was accepted yet, and what is on disk is whole
    process.stdout.write(started.banner);
    ({ keysOver } = started);
  } catch (failure) {
    await unwind(undo); // (R3)
    const text = startFailureText(failure, reading.config.PORT);
    return finish(1, `dormouse: ${text}\n${text.includes(' --') ? flagsHint : ''}`);
  }
  const reason = await Promise.race([stopped.then(() => null), keysOver]);
  print('\nstopping; once more ends it at once');
  await unwind(undo); // (R2)
  print('stopped');
  return reason === null ? finish(0, '') : finish(1, `dormouse: ${reason}\n`);
}

interface Started {
  readonly banner: string;
  /** See Platform. */
  readonly keysOver: Promise<string>;
}

/** What only the app has. */
interface AppParts {
  readonly startExampleTools: StartExampleTools;
  readonly consoleDir: string;
}

/** Starts everything; `undo` collects what must be released, last first. */
async function start(config: Config, { startExampleTools, consoleDir }: AppParts, undo: Undo): Promise<Started> {
  const logger = createJsonLogger(config.LOG_LEVEL, 'standalone');
  const dataDir = resolve(config.DATA_DIR);
  const port = await resolvePort(config.HOST, config.PORT); // (R3)
  if (config.HEALTH_PORT !== undefined) await resolvePort(config.HOST, config.HEALTH_PORT);
  const url = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${port}`;
  const measured = await openProcessMetrics(config, metricServices, 'dormouse', logger);
  const platform = await openPlatform('standalone', config, logger, measured.metrics);
  undo.push(() => platform.close());
  undo.push(() => measured.close()); // the last push reads the stores
  const operations = await openOperations(config, platform, measured, undo);
  const publicBase = config.PUBLIC_URL ?? url;
  if (platform.reusableBytes !== null) {
    const endWatch = watchDataDirectory({
      ...{ directory: dataDir, warnBytes: config.DATA_DIR_WARN_BYTES ?? null, logger, metrics: platform.metrics },
      reusableBytes: platform.reusableBytes,
    });
    undo.push(async () => endWatch());
  }
  const made = servicesOf(config, platform, config.CALLBACK_BASE_URL ?? publicBase, publicBase);
  const ingress = made.ingress();
  const callbacks = made.callbackGateway();
  undo.push(() => callbacks.flush());
  // In the order they start, and stop: the processor last, so that what a worker still has to say can be decided.
  const services = await composed([
    InputSweeperModule.over({ service: made.inputSweeper(), consumers: null }),
    ToolDispatcherModule.over({ service: made.toolDispatcher(), consumers: null }),
    NotifierModule.over({ service: made.notifier(), consumers: null }),
    ThreadProcessorModule.over({ service: made.threadProcessor(), consumers: null }),
  ]);
  const running: { examples: StartedExamples | null } = { examples: null };
  const backups =
    platform.pin &&
    createBackups({
      ...{ dataDir, pin: platform.pin, logger },
      get copyExamples() {
        const { examples } = running;
        return examples && ((directory: string) => examples.copyInto(directory));
      },
    });
  const http = await createHttpServer({
    ...clientServerOptions(config, platform, ingress),
    backups,
    callbacks,
    devClock: isLocalOnly(config) ? platform.clock : null,
    consoleDir,
    metricsText: operations === null ? measured.text : null,
    ready: () => platform.problem([]),
  });
  await ingress.tenants.ensure(standaloneTenant);
  const key = await seedKey(ingress, platform.entropy, dataDir, config.BOOTSTRAP_KEY);
  const examples = config.EXAMPLE_TOOLS
    ? await startExamples(startExampleTools, port, join(dataDir, examplesDirectory), undo)
    : null;
  running.examples = examples;
  if (examples !== null) await seedExamples(ingress, examples);
  const housekeeping = made.housekeeping(ingress);
  for (const service of [...services, ...housekeeping]) await service.start(); // (R1)
  undo.push(async () => backups?.close());
  undo.push(async () => {
    const deadline = performance.now() + stopWithinMs;
    for (const service of housekeeping) await service.stop(stopWithinMs);
    for (const service of services) await service.stop(Math.max(0, deadline - performance.now()));
  });
  await openDoor(http, config.HOST, port, undo);
  logger.info('ready', { port });
  const metricsUrl = measured.text === null ? null : `${operations ?? url}/metrics`;
  const isMetricsKeyWanted = operations === null;
  const toolsUrl = examples?.url ?? null;
  const code = (await ingress.sessions.issueCode(key.key))?.code ?? null; // null: the key was revoked
  const clockAheadMs = platform.clock.offset();
  const { PUBLIC_URL: publicUrl = url } = config;
  const shown = { url: publicUrl, dataDir, key, code, toolsUrl, clockAheadMs, metricsUrl, isMetricsKeyWanted };
  return { banner: bannerText(shown), keysOver: platform.keysOver };
}

/** The operations port, where one is set; its address, or null. */
async function openOperations(
  config: Config,
  platform: Platform,
  { text }: ProcessMetrics,
  undo: Undo,
): Promise<string | null> {
  if (config.HEALTH_PORT === undefined) return null;
  const health = { ready: () => platform.problem([]), stalled: () => platform.stalled(), metrics: text };
  const server = await startHealthServer(config.HOST, config.HEALTH_PORT, health, arrivalLimitsOf(config));
  undo.push(() => server.close());
  return server.url;
}

@Module({})
class StandaloneModule {}

/** The services of these modules, in their order. Without a transport each subscribes to its bus itself. */
async function composed(modules: readonly DynamicModule[]): Promise<readonly Service[]> {
  const root = { module: StandaloneModule, imports: [...modules] };
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  return modules.map((each) => context.select(each).get<Service>(SERVICE, { strict: true }));
}

async function openDoor(http: HttpServer, host: string, port: number, undo: Undo): Promise<void> {
  undo.push(() => http.close());
  await http.listen(host, port);
}

async function startExamples(
  startExampleTools: StartExampleTools,
  port: number,
  dataDir: string,
  undo: Undo,
): Promise<StartedExamples> {
  const common = { host: '127.0.0.1', dataDir };
  const beside = port < 65_535 ? port + 1 : 0;
  const tools = await startExampleTools({ port: beside, ...common }).catch(() =>
    startExampleTools({ port: 0, ...common }),
  );
  undo.push(() => tools.close());
  return tools;
}

/** For a terminal only: a pipe may be closed long ago, and programs read the exit code. */
function print(word: string): void {
  if (process.stdout.isTTY) process.stdout.write(`${word}\n`);
}

/** Time may be moved only without a proxy: a proxy listens elsewhere, though this process listens on loopback. */
const isLocalOnly = ({ HOST, PUBLIC_URL, CALLBACK_BASE_URL }: Config): boolean =>
  [HOST, ...[PUBLIC_URL, CALLBACK_BASE_URL].flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]))].every(
    isLoopbackName,
  );
