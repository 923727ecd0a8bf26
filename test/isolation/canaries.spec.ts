// Two tenants that use everything at once: nothing of one is in what the other sees, nothing of either is in a log, a
// trace or a metric, and what the servers of a cluster store names its owner. Credentials are in no store at all.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../cluster/cluster-process.ts';
import { everyDocument, everyRecord, type RedisWatch, textOfRecord, watchRedis } from '../cluster/stored-bytes.ts';
import { eventually } from '../e2e/conversation.ts';
import { type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { endSystems } from '../e2e/system.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../traces/otlp-receiver.ts';
import { canariesIn, canaryOf, foreignIn, hiddenIn, hiddenOf } from './canary.ts';
import { beginLife, type Life, type Place, placeNames } from './mixed-workload.ts';
import { platformKey } from './tenant-system.ts';

const servers = servicesOrSkipFile();
/** Operations ports of the services are from ten above the API's on. */
const operationsPorts = [10, 11, 12, 13, 14];

type Topology = { readonly alone: Standalone } | { readonly cluster: Cluster };

let topology: Topology;
let receiver: OtlpReceiver;
let redis: RedisWatch | null = null;
let lives: readonly Life[] = [];
let metrics = '';

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const env = {
    ...{ DORMOUSE_PLATFORM_KEY: platformKey, DORMOUSE_LOG_LEVEL: 'trace' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    ...{ OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_SCHEDULE_DELAY: '50' },
  };
  if (servers !== null) redis = await watchRedis(servers);
  topology =
    servers === null ? { alone: await startStandalone({ env }) } : { cluster: await startCluster(servers, env) };
  const root = rootOf(topology);
  lives = [await beginLife(root, 'aria'), await beginLife(root, 'boreas')];
  await Promise.all(lives.map((life) => life.live()));
  metrics = await metricsOf(topology);
  await eventually(async () => receiver.spans.length > 50);
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // the last spans are on their way
});
afterAll(async () => {
  redis?.stop();
  await Promise.all(lives.map((life) => life.close()));
  await endSystems();
  await receiver.close();
});

const rootOf = (of: Topology): Standalone | Cluster => ('alone' in of ? of.alone : of.cluster);

async function metricsOf(of: Topology): Promise<string> {
  if ('alone' in of) return (await of.alone.request('GET', '/metrics')).text;
  const { port } = new URL(of.cluster.url);
  const all = operationsPorts.map(async (above) =>
    (await fetch(`http://127.0.0.1:${Number(port) + above}/metrics`)).text(),
  );
  return (await Promise.all(all)).join('\n');
}

/** Contents that have to be there, or the search would prove nothing. */
const expected: Readonly<Record<Place, readonly string[]>> = {
  answers: ['title', 'metadata', 'user', 'message', 'argument', 'result', 'view', 'reason', 'event', 'outside'],
  streams: ['message', 'said', 'answer', 'result', 'display', 'view', 'question', 'event'],
  prompts: ['instructions', 'message', 'argument', 'result', 'event', 'child-event', 'outside', 'reason', 'delivery'],
  'tool requests': ['argument', 'user'],
  webhooks: ['webhook'],
};

describe.each(placeNames)('the %s of a tenant', (place) => {
  it('have what is its own, and nothing of another', () => {
    for (const life of lives) {
      const text = life.seenAt(place);
      const own = canariesIn(text).map(({ what }) => what);
      expect(own).toEqual(expect.arrayContaining([...expected[place]]));
      expect(
        foreignIn(
          text,
          life.tenant,
          lives.map(({ tenant }) => tenant),
        ),
      ).toEqual([]);
    }
  });

  it('have no credential', () => {
    for (const life of lives) {
      const found = hiddenIn(life.seenAt(place)).map(({ what }) => what);
      expect(found).toEqual(place === 'streams' ? ['login'] : []); // the page on which its person logs in
    }
  });
});

const shown = (): Readonly<Record<'logs' | 'traces' | 'metrics', string>> => ({
  logs: rootOf(topology).output(),
  traces: receiver.raw.join('\n'),
  metrics,
});

const credentialsIn = (text: string): readonly string[] => [
  ...hiddenIn(text).map(({ what }) => what),
  ...lives.flatMap((life) => life.credentials()).filter((credential) => text.includes(credential)),
];

describe('what an operator sees', () => {
  it.each(['logs', 'traces', 'metrics'] as const)('has no content and no credential of any tenant: %s', (what) => {
    const text = shown()[what];
    expect(text).toContain({ logs: '"level"', traces: 'invoke_agent', metrics: 'dormouse_turns_total' }[what]);
    expect(canariesIn(text)).toEqual([]);
    expect(credentialsIn(text)).toEqual([]);
  });
});

/** What belongs to no tenant, or to another one than it names. */
function strayIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const owners = new Set(canariesIn(text).map(({ tenant }) => tenant));
    const named = lives.map(({ tenant }) => tenant).filter((tenant) => nameOutside(text, tenant));
    const isRight = owners.size === 0 || (owners.size === 1 && named.length === 1 && owners.has(named[0] ?? ''));
    return isRight ? [] : [`of ${[...owners].join()} under ${named.join() || 'no name'}: ${text.slice(0, 300)}`];
  });
}

/** Whether the tenant is named beside its canaries. */
const nameOutside = (text: string, tenant: string): boolean =>
  text.replaceAll(canaryOf(tenant, ''), '').replaceAll(hiddenOf(tenant, ''), '').includes(tenant);

describe.runIf(servers === null)('the files of one process', () => {
  it('have no credential', () => {
    if (!('alone' in topology)) throw new Error('there is a cluster');
    const { dataDir } = topology.alone;
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const stored = files.filter(({ name }) => !/key/.test(name));
    const texts = stored.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    for (const { tenant } of lives) expect(texts.some((text) => text.includes(tenant))).toBe(true);
    expect(texts.flatMap(credentialsIn)).toEqual([]);
  });
});

describe.skipIf(servers === null)('what a cluster stores', () => {
  it('names its owner in each record of Kafka, and in its key', async () => {
    if (servers === null || !('cluster' in topology)) throw new Error('there is no cluster');
    const records = await everyRecord(servers, topology.cluster);
    const told = records.filter((record) => canariesIn(textOfRecord(record)).length > 0);
    expect(told.length).toBeGreaterThan(20);
    expect(strayIn(told.map(textOfRecord))).toEqual([]);
    for (const record of told) {
      const [{ tenant } = { tenant: '' }] = canariesIn(textOfRecord(record));
      expect(record.key.startsWith(tenant)).toBe(true);
      expect(JSON.parse(Buffer.from(record.value, 'latin1').toString('utf8')).tenant).toBe(tenant);
    }
    expect(records.flatMap((record) => credentialsIn(textOfRecord(record)))).toEqual([]);
  });

  it('names its owner in each document of MongoDB and each command of Redis', async () => {
    if (servers === null || !('cluster' in topology)) throw new Error('there is no cluster');
    const documents = (await everyDocument(servers, topology.cluster)).map(
      ({ collection, text }) => `${collection} ${text}`,
    );
    for (const { tenant } of lives) expect(documents.some((text) => text.includes(tenant))).toBe(true);
    expect(strayIn(documents)).toEqual([]);
    expect(documents.flatMap(credentialsIn)).toEqual([]);
    // A script carries steps of several threads: each is a command of its own behind it.
    const commands = (redis?.commands ?? []).filter((command) => !/^eval/i.test(command));
    expect(commands.some((command) => lives.some(({ tenant }) => command.includes(tenant)))).toBe(true);
    expect(strayIn(commands)).toEqual([]);
    expect(commands.flatMap(credentialsIn)).toEqual([]);
  });
});

describe('the search', () => {
  it('finds a canary in JSON, in a URL and in bytes, and tells whose it is', () => {
    const word = canaryOf('aria-0123abcd', 'title');
    for (const text of [JSON.stringify({ a: word }), encodeURIComponent(word), Buffer.from(word).toString('latin1')]) {
      expect(canariesIn(text)).toEqual([{ tenant: 'aria-0123abcd', what: 'title' }]);
      expect(foreignIn(text, 'boreas-0123abcd', ['aria-0123abcd'])).toEqual([
        'title of aria-0123abcd',
        'the name aria-0123abcd',
      ]);
      expect(foreignIn(text, 'aria-0123abcd', ['boreas-0123abcd'])).toEqual([]);
    }
    expect(hiddenIn(hiddenOf('aria-0123abcd', 'token'))).toHaveLength(1);
  });
});
