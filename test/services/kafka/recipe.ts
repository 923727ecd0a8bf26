// A real Apache Kafka broker (KRaft, one node) on free ports: the jars of Maven Central on this machine's Java.
//
// Invariants:
//   K1. The class path is the sorted list of jars: the class data archive is valid for exactly one order, and one Java.
//   K2. A restart finds the same ports and the same data; a later start the same data on ports that are free then.
//       Nothing is formatted twice.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { builtOnce } from '../built-once.ts';
import { aptInstall } from '../apt.ts';
import { isInstalled, runCommand } from '../run-command.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { freePorts } from '../free-ports.ts';
import { type Guard, type RunningService, type ServiceRecipe, type Started, type StartOptions } from '../service.ts';
import { startFromSource } from '../source.ts';

const version = '4.3.1';
const startWithinMs = 180_000;
export const remedy =
  'Install Java 17 or newer and Maven, or set DORMOUSE_TEST_KAFKA_BROKERS to the brokers of a Kafka that tests may use.';

export const recipe: ServiceRecipe = {
  name: 'kafka',
  variable: 'DORMOUSE_TEST_KAFKA_BROKERS',
  outputs: ['kafka.out'],
  start: (options) => startFromSource(recipe, options, startKafka),
};

/** A broker of our own; a login is by SASL, with the mechanism of the client: PLAIN or SCRAM. */
export async function startKafka(options: StartOptions, guard: Guard = {}): Promise<Started> {
  try {
    return { available: true, service: await startBroker(await brokerJars(options), options, guard) };
  } catch (error) {
    return { available: false, reason: `no Kafka here: ${(error as Error).message}`, remedy };
  }
}

type Login = NonNullable<Guard['login']>;

/** The folder of them. @throws when they are not available. */
export async function brokerJars({ cache, say }: Pick<StartOptions, 'cache' | 'say'>): Promise<string> {
  if (!(await isInstalled('java'))) {
    say('kafka: installing Java');
    await aptInstall(['openjdk-17-jre-headless']);
  }
  return builtOnce(cache, `kafka-${version}`, say, async (into) => {
    if (!(await isInstalled('mvn'))) {
      say('kafka: installing Maven');
      await aptInstall(['maven']);
    }
    say(`kafka: fetching the jars of ${version}`);
    const pom = join(import.meta.dirname, 'pom.xml');
    await runCommand(
      'mvn',
      ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${into}`],
      { withinMs: 600_000 },
    );
  });
}

const jvmFlags = [
  ...['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xss512k', '-XX:-UsePerfData'],
  ...['-Djava.awt.headless=true', '-Djava.net.preferIPv4Stack=true', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'],
];

async function startBroker(jars: string, options: StartOptions, guard: Guard): Promise<RunningService> {
  const { directory, advertisedPort } = options;
  const [client = 0, controller = 0, broker = 0] = await freePorts(3);
  const properties = join(directory, 'server.properties');
  prepareNode(directory, properties, { client, controller, broker, advertised: advertisedPort ?? client }, guard); // (K2)
  const starter = await brokerStarter(jars, options);
  const start = (): Promise<ServerProcess> =>
    starter.broker({ properties, output: join(directory, 'kafka.out'), port: client });
  let running = await start();
  if (guard.login !== undefined) await addScramUser(starter.classPath, `127.0.0.1:${broker}`, guard.login);
  return {
    url: `127.0.0.1:${client}`,
    pids: () => [running.pid],
    stop: () => running.stop('SIGTERM', 20_000),
    restart: async () => {
      await running.stop('SIGKILL'); // after `kill` it may listen, and hold its directory, for a moment
      running = await start();
    },
    kill: (signal) => running.signal(signal),
  };
}

export interface BrokerStarter {
  readonly classPath: string;
  broker(node: {
    readonly properties: string;
    readonly output: string;
    readonly port: number;
    /** After our own, so that they win. */
    readonly flags?: readonly string[];
  }): Promise<ServerProcess>;
}

export async function brokerStarter(
  jars: string,
  { cache, say }: Pick<StartOptions, 'cache' | 'say'>,
): Promise<BrokerStarter> {
  const classPath = readdirSync(jars)
    .filter((name) => name.endsWith('.jar'))
    .toSorted()
    .map((name) => join(jars, name))
    .join(':'); // (K1)
  const starterWith = (classData: readonly string[]): BrokerStarter => ({
    classPath,
    broker: ({ properties, output, port, flags = [] }) =>
      startServer({
        command: 'java',
        args: [...jvmFlags, ...classData, ...flags, '-cp', classPath, 'kafka.Kafka', properties],
        ...{ output, port },
        withinMs: startWithinMs,
      }),
  });
  const name = `${basename(jars)}-classes-of-java-${await javaVersion()}`;
  const archive = await builtOnce(cache, name, say, (into) => archiveClasses(into, starterWith));
  return starterWith([`-XX:SharedArchiveFile=${archiveIn(archive)}`]);
}

const archiveIn = (folder: string): string => join(folder, 'classes.jsa');

/** The classes of a broker as it has loaded them once: a start from them takes half of the processor time. */
async function archiveClasses(into: string, starterWith: (flags: readonly string[]) => BrokerStarter): Promise<void> {
  const [client = 0, controller = 0, broker = 0] = await freePorts(3);
  const properties = join(into, 'server.properties');
  prepareNode(into, properties, { client, controller, broker, advertised: client }, {});
  const starter = starterWith([`-XX:ArchiveClassesAtExit=${archiveIn(into)}`]);
  const running = await starter.broker({ properties, output: join(into, 'kafka.out'), port: client });
  const about = ['--bootstrap-server', `127.0.0.1:${client}`, '--entity-type', 'users', '--describe'];
  await runCommand('java', [...jvmFlags, '-cp', starter.classPath, 'kafka.admin.ConfigCommand', ...about], {
    withinMs: 60_000,
  });
  await running.stop('SIGTERM', 120_000);
  rmSync(join(into, 'log'), { recursive: true });
}

const scramMechanism = 'SCRAM-SHA-512';

/** PLAIN logins are in the settings; SCRAM logins are stored in the cluster, sent over the unguarded listener. */
async function addScramUser(classPath: string, brokers: string, { user, password }: Login): Promise<void> {
  const config = `${scramMechanism}=[password=${password}]`;
  const about = ['--alter', '--add-config', config, '--entity-type', 'users', '--entity-name', user];
  await runCommand(
    'java',
    [...jvmFlags, '-cp', classPath, 'kafka.admin.ConfigCommand', '--bootstrap-server', brokers, ...about],
    { withinMs: 60_000 },
  );
}

async function javaVersion(): Promise<string> {
  const text = await runCommand('sh', ['-c', 'java -version 2>&1'], { withinMs: 20_000 });
  return /\(build ([\w.+-]+)/.exec(text)?.[1] ?? 'unknown';
}

interface NodePorts {
  readonly client: number;
  readonly controller: number;
  /** For brokers among themselves. */
  readonly broker: number;
  readonly advertised: number;
}

/** What `kafka-storage format` writes for a node that is its own quorum. */
function prepareNode(directory: string, properties: string, ports: NodePorts, guard: Guard): void {
  const { client, controller, broker, advertised } = ports;
  const log = join(directory, 'log');
  const meta = join(log, 'meta.properties');
  if (!existsSync(meta)) {
    mkdirSync(log, { recursive: true });
    const id = (): string => randomBytes(16).toString('base64url');
    writeFileSync(meta, `version=1\ncluster.id=${id()}\nnode.id=1\ndirectory.id=${id()}\n`);
  }
  const settings = {
    ...nodeSettings,
    'node.id': 1,
    listeners: `CLIENT://127.0.0.1:${client},BROKER://127.0.0.1:${broker},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${advertised},BROKER://127.0.0.1:${broker}`,
    'listener.security.protocol.map': `CLIENT:${protocolOf(guard)},BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    ...loginSettings(guard),
    ...tlsSettings(guard),
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'log.dirs': log,
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
  };
  writeFileSync(properties, propertiesOf(settings));
}

type Settings = Readonly<Record<string, string | number>>;

export const propertiesOf = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

/** Settings of every node, for any number of them. */
export const nodeSettings: Settings = {
  'process.roles': 'broker,controller',
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'BROKER',
  'auto.create.topics.enable': 'false',
  'offsets.topic.num.partitions': 4,
  // A group's offsets must outlive the records that it has not read.
  'offsets.retention.minutes': 20_160,
  'transaction.state.log.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
  'group.min.session.timeout.ms': 1_000,
  'log.cleaner.dedupe.buffer.size': 4_194_304,
  'log.segment.bytes': 67_108_864,
  'num.network.threads': 2,
  'num.io.threads': 3,
  'num.recovery.threads.per.data.dir': 1,
  'background.threads': 2,
  'broker.session.timeout.ms': 3_000,
  'broker.heartbeat.interval.ms': 500,
};

const protocolOf = ({ login, tls }: Guard): string =>
  (login === undefined ? '' : 'SASL_') + (tls === undefined ? 'PLAINTEXT' : 'SSL');

function loginSettings({ login }: Guard): Readonly<Record<string, string>> {
  if (login === undefined) return {};
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule';
  return {
    'listener.name.client.sasl.enabled.mechanisms': `PLAIN,${scramMechanism}`,
    'listener.name.client.plain.sasl.jaas.config': `${module} required user_${login.user}="${login.password}";`,
    [`listener.name.client.${scramMechanism.toLowerCase()}.sasl.jaas.config`]: `${scram} required;`,
  };
}

function tlsSettings({ tls }: Guard): Readonly<Record<string, string>> {
  if (tls === undefined) return {};
  return {
    'listener.name.client.ssl.keystore.type': 'PEM',
    'listener.name.client.ssl.keystore.location': tls.certificate.bothFile,
    'listener.name.client.ssl.truststore.type': 'PEM',
    'listener.name.client.ssl.truststore.location': tls.authorityFile,
    'listener.name.client.ssl.client.auth': 'required',
  };
}
