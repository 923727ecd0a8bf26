// `npm run bench:fairness`: ten tenants, of which one sends a hundred times as much as each of the others. Measured is
// what the others lose by it, how evenly what there is was shared, and whether anything acknowledged was lost.
//
// One run: tenants and threads are made; the nine alone; the nine beside the storm; the nine alone again. Their agents
// answer in words, so a turn is two commits and a completion without a provider. Every request, the client included,
// shares the cores of the machine.
import { parseArgs } from 'node:util';
import { endClusters, startCluster } from '../../test/cluster/cluster-process.ts';
import type { System } from '../../test/e2e/conversation.ts';
import { cleanUp, startStandalone } from '../../test/e2e/standalone-process.ts';
import { percentile } from '../src/statistics.ts';
import { inOwnThread } from './client.ts';
import { type Loaded, type LoadResult, openLoop } from './open-loop.ts';

const usage = `npm run bench:fairness [-- --topology standalone|cluster] [--seconds 20] [--rate 5] [--times 100] [--quota N]

  --rate   turns per second of each of the nine
  --times  how often as much the tenth sends
  --quota  requests per second that each tenant may send (default: none is set)
`;

const platformKey = 'platform-key-of-the-bench';
const quietThreads = 8;
const stormThreads = 400;
const stormOpenMax = 512;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

interface Options {
  readonly topology: 'standalone' | 'cluster';
  readonly seconds: number;
  readonly rate: number;
  readonly times: number;
  readonly quota: number | null;
}

interface Phase {
  readonly quiet: readonly LoadResult[];
  readonly storm: LoadResult | null;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const options = optionsOf(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(usage);
    return 2;
  }
  const env = { DORMOUSE_PLATFORM_KEY: platformKey, DORMOUSE_LOG_LEVEL: 'warn' };
  const at = options.topology === 'cluster' ? await startCluster('its own', env) : await startStandalone({ env });
  try {
    return await measure(at, options);
  } finally {
    await endClusters();
    await cleanUp();
  }
}

function optionsOf(args: readonly string[]): Options | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { topology: text, seconds: text, rate: text, times: text, quota: text, help: { type: 'boolean' } },
  });
  const { topology = 'standalone', seconds = '20', rate = '5', times = '100', quota } = values;
  if (values.help === true || (topology !== 'standalone' && topology !== 'cluster')) return null;
  const numbers = { seconds: Number(seconds), rate: Number(rate), times: Number(times) };
  const perSecond = quota === undefined ? null : Number(quota);
  const isUsable = [...Object.values(numbers), perSecond ?? 1].every((number) => number > 0);
  return isUsable ? { topology, ...numbers, quota: perSecond } : null;
}

async function measure(at: System, options: Options): Promise<number> {
  const { rate, times, quota } = options;
  say(`${options.topology}: making ten tenants`);
  const quiet: Loaded[] = [];
  for (let nth = 0; nth < 9; nth += 1) quiet.push(await tenant(at, `quiet-${nth}`, quietThreads));
  const storm = await tenant(at, 'storm', stormThreads);
  for (const { name } of [...quiet, storm]) await limit(at, name, quota);
  await phase(options, quiet, null, 5);
  const before = await phase(options, quiet, null);
  const beside = await phase(options, quiet, storm);
  const drained = await settled(at, [...quiet, storm]);
  const after = await phase(options, quiet, null);
  for (const { name } of [...quiet, storm]) await limit(at, name, null); // what follows reads much
  const alone = [...before.quiet, ...after.quiet].flatMap(({ latencies }) => latencies);
  const together = beside.quiet.flatMap(({ latencies }) => latencies);
  const lost = await lostOf(at, storm, beside.storm);
  let quietLost = 0;
  for (const [nth, each] of quiet.entries())
    for (const { quiet: results } of [before, beside, after])
      quietLost += (await lostOf(at, each, results[nth] ?? null)).lost;
  const shares = beside.quiet.map(({ answered, offered }) => answered / offered);
  const most = Math.max(...beside.quiet.map(({ answered }) => answered));
  const ofStorm = beside.storm?.answered ?? 0;
  const jain = jainIndex([...shares, Math.min(1, ofStorm / most)]);
  const p99 = [percentile(alone, 0.99), percentile(together, 0.99)] as const;
  const line = {
    ...options,
    jain: round(jain, 4),
    quiet: {
      offered: sum(beside.quiet, ({ offered }) => offered),
      answered: sum(beside.quiet, ({ answered }) => answered),
      p50_ms: [round(percentile(alone, 0.5)), round(percentile(together, 0.5))],
      p99_ms: p99.map((value) => round(value)),
      p99_ratio: round(p99[1] / p99[0], 2),
      lost: quietLost,
    },
    storm: {
      offered: beside.storm?.offered ?? 0,
      skipped: beside.storm?.skipped ?? 0,
      statuses: Object.fromEntries(beside.storm?.statuses ?? []),
      ...lost,
      drained_s: round(drained / 1_000),
    },
  };
  process.stdout.write(`${JSON.stringify(line, null, 2)}\n`);
  return lost.lost === 0 && quietLost === 0 ? 0 : 1;

  async function phase(
    { seconds }: Options,
    nine: readonly Loaded[],
    tenth: Loaded | null,
    forS = seconds,
  ): Promise<Phase> {
    say(`${forS} s: nine tenants${tenth === null ? '' : ', and the tenth'}`);
    const forMs = forS * 1_000;
    const all = nine.map((each) => openLoop(each, { perSecond: rate, forMs, waits: true, openMax: 256 }));
    const stormed =
      tenth && inOwnThread(tenth, { perSecond: rate * times, forMs, waits: false, openMax: stormOpenMax });
    return { quiet: await Promise.all(all), storm: await stormed };
  }
}

async function tenant(at: System, name: string, count: number): Promise<Loaded> {
  const made = await at.request('POST', '/v1/tenants', { id: name }, { key: platformKey });
  if (made.status !== 201) throw new Error(`tenant: ${made.status} ${made.text}`);
  const { key } = made.json;
  const post = (path: string, body: unknown) => at.request('POST', path, body, { key });
  const script = [[{ text: 'ok' }]];
  const agent = await post('/v1/agents', { name: 'echo', model: { provider: 'scripted', parameters: { script } } });
  if (agent.status !== 201) throw new Error(`agent: ${agent.status} ${agent.text}`);
  const threads: string[] = [];
  while (threads.length < count) {
    const some = Array.from({ length: Math.min(20, count - threads.length) }, () =>
      post('/v1/threads', { agent: 'echo' }),
    );
    for (const { status, json, text } of await Promise.all(some)) {
      if (status !== 201) throw new Error(`thread: ${status} ${text}`);
      threads.push(json.id as string);
    }
  }
  return { name, url: at.url, key, threads };
}

async function limit(at: System, name: string, perSecond: number | null): Promise<void> {
  const quotas = { requests_per_s: perSecond };
  const changed = await at.request('PATCH', `/v1/tenants/${name}`, { quotas }, { key: platformKey });
  if (changed.status !== 200) throw new Error(`quota: ${changed.status} ${changed.text}`);
}

/** Milliseconds until every thread is at rest. */
async function settled(at: System, all: readonly Loaded[]): Promise<number> {
  const began = performance.now();
  for (const { key, threads } of all)
    for (const thread of threads)
      while ((await at.request('GET', `/v1/threads/${thread}`, undefined, { key })).json.status !== 'idle')
        await new Promise((resolve) => setTimeout(resolve, 50));
  return performance.now() - began;
}

/** Messages that were acknowledged, and those of them that their threads did not take exactly once, in order. */
async function lostOf(
  at: System,
  { key, threads }: Loaded,
  result: LoadResult | null,
): Promise<{ readonly acknowledged: number; readonly lost: number }> {
  let acknowledged = 0;
  let lost = 0;
  for (const thread of threads) {
    const ids = result?.acknowledged.get(thread) ?? [];
    if (ids.length === 0) continue;
    acknowledged += ids.length;
    const taken = await takenBy(at, key, thread);
    for (const id of ids) if (taken.filter((each) => each === id).length !== 1) lost += 1;
  }
  return { acknowledged, lost };
}

async function takenBy(at: System, key: string, thread: string): Promise<readonly string[]> {
  const taken: string[] = [];
  for (let after = 0; ;) {
    const { json } = await at.request('GET', `/v1/threads/${thread}/events?after=${after}&limit=200`, undefined, {
      key,
    });
    for (const event of json.data)
      if (event.type === 'message_accepted' || event.type === 'message_refused') taken.push(event.message_id as string);
    if (json.data.length === 0) return taken;
    after = json.data.at(-1).position as number;
  }
}

/** 1 where all have the same. (Jain, Chiu and Hawe, 1984) */
function jainIndex(shares: readonly number[]): number {
  const total = shares.reduce((all, share) => all + share, 0);
  return total ** 2 / (shares.length * shares.reduce((all, share) => all + share ** 2, 0));
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
