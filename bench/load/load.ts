// `npm run bench:load`: many tenants at once, at a fixed rate, on one machine; then the checkers of the promises over
// the logs of all threads. Figures: how long an acknowledgement took beside what the store takes for a write by itself,
// and how long a turn took. Every process of it, the clients included, shares the same few cores.
import { tenantId, type TenantId } from '@dormouse/ports';
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, endClusters, startCluster } from '../../test/cluster/cluster-process.ts';
import type { System } from '../../test/e2e/conversation.ts';
import { cleanUp, type Standalone, startStandalone } from '../../test/e2e/standalone-process.ts';
import {
  type RecordingToolServer,
  serverName,
  startRecordingToolServer,
} from '../../test/recovery/recording-tool-server.ts';
import { describeMachine } from '../src/machine.ts';
import { type LoadSent, sendLoad, type TenantUnderLoad } from './client.ts';
import { judgeTenant } from './judged-tenant.ts';
import { type LoadOptions, Mistake, parseLoadOptions, usage } from './options.ts';
import { type LoadResult, resultOf, textOf } from './result.ts';
import { startSlowModel } from './slow-model.ts';
import { probeStore, type StoreProbe } from './store-probe.ts';

const platformKey = 'platform-key-of-the-bench';
const warmMs = 10_000;
const restWithinMs = 180_000;
const openedAtOnce = 10;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)); // ends the children
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseLoadOptions(args);
    if (options === null) {
      process.stdout.write(usage);
      return 0;
    }
    pinTo(options.cores);
    const result = await run(options);
    process.stdout.write(options.isJson ? `${JSON.stringify(result, null, 2)}\n` : textOf(result));
    return result.violations.length === 0 && result.messages.unanswered === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    say(`${error.message}\nnpm run bench:load -- --help says what there is.`);
    return 2;
  }
}

/** This process and those that it starts. @throws Mistake where the machine cannot. */
function pinTo(cores: number): void {
  if (availableParallelism() <= cores) return;
  const { status } = spawnSync('taskset', ['-a', '-p', '-c', `0-${cores - 1}`, String(process.pid)]);
  if (status !== 0) throw new Mistake(`--cores ${cores}: needs taskset, on a machine with more of them`);
}

interface Started {
  readonly at: System;
  readonly probe: StoreProbe;
  readonly pageDirectory: string;
}

async function start({ topology }: LoadOptions): Promise<Started> {
  const env = {
    DORMOUSE_PLATFORM_KEY: platformKey,
    DORMOUSE_LOG_LEVEL: 'warn',
    DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8',
  };
  if (topology === 'standalone') {
    const at: Standalone = await startStandalone({ env });
    return { at, probe: await probeStore({ directory: at.dataDir }), pageDirectory: at.dataDir };
  }
  const at: Cluster = await startCluster('its own', env);
  return { at, probe: await probeStore({ kafka: at.servers.kafka }), pageDirectory: at.directory };
}

async function run(options: LoadOptions): Promise<LoadResult> {
  const tenantOfThread = new Map<string, TenantId>();
  const tools = await startRecordingToolServer(options.toolMs, {
    tenantOf: (thread) => tenantOfThread.get(thread) ?? tenantId('none'),
    pauseMs: () => options.toolMs,
  });
  const model = await startSlowModel(options.modelMs);
  try {
    say(`${options.topology}: starting`);
    const started = await start(options);
    const machine = describeMachine(started.pageDirectory);
    say(`making ${options.tenants} tenants with ${options.threads} threads each`);
    const tenants: TenantUnderLoad[] = [];
    for (let nth = 0; nth < options.tenants; nth += 1)
      tenants.push(await makeTenant(started.at, { nth, options, model: model.url, tools: tools.url }));
    for (const { id, threads } of tenants) for (const thread of threads) tenantOfThread.set(thread, id);
    const { sent, storeMs } = await load(started, tenants, options);
    say('waiting until everything is at rest');
    const restFrom = performance.now();
    const unrest = await rest(started.at, tools, tenants);
    const restMs = performance.now() - restFrom;
    say('reading the logs of all threads');
    const canaries = Object.fromEntries(tenants.map(({ id }) => [id, `canary-${id}.`]));
    const seen = { at: started.at, tools, messages: sent.messages, canaries, unrest };
    const judged = [];
    for (const tenant of tenants) judged.push(await judgeTenant(seen, tenant));
    await started.probe.close();
    const errors = started.at.output().match(/"level":"error".*/g) ?? [];
    return resultOf({ options, machine, sent, storeMs, restMs, judged, errors });
  } finally {
    await endClusters();
    await cleanUp();
    await model.close();
    await tools.close();
  }
}

async function load(
  { at, probe }: Started,
  tenants: readonly TenantUnderLoad[],
  { minutes, rate }: LoadOptions,
): Promise<{ readonly sent: LoadSent; readonly storeMs: readonly number[] }> {
  say(`${minutes} minutes: ${rate} turns per second, over ${tenants.length} tenants`);
  const from = performance.now() + warmMs;
  const sent = await sendLoad({ url: at.url, tenants, perSecond: rate, warmMs, forMs: minutes * 60_000 });
  return { sent, storeMs: probe.since(from) };
}

async function makeTenant(
  at: System,
  about: { readonly nth: number; readonly options: LoadOptions; readonly model: string; readonly tools: string },
): Promise<TenantUnderLoad> {
  const id = tenantId(`load-${about.nth}`);
  const made = await at.request('POST', '/v1/tenants', { id }, { key: platformKey });
  if (made.status !== 201) throw new Error(`a tenant was answered ${made.status}: ${made.text}`);
  const key = made.json.key as string;
  const post = async (path: string, body: object) => {
    const answer = await at.request('POST', path, body, { key });
    if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`);
    return answer.json as { readonly id: string };
  };
  await post('/v1/tool-servers', { name: serverName, base_url: about.tools });
  await post('/v1/agents', {
    ...{ name: 'worker', model: { provider: 'openai-compatible', name: 'slow', base_url: about.model } },
    ...{ tool_servers: [serverName], policies: { on_interrupt: 'queue', approve: { mode: 'none' } } },
  });
  const threads: string[] = [];
  while (threads.length < about.options.threads) {
    const count = Math.min(openedAtOnce, about.options.threads - threads.length);
    const opened = await Promise.all(Array.from({ length: count }, () => post('/v1/threads', { agent: 'worker' })));
    threads.push(...opened.map((thread) => thread.id));
  }
  return { id, key, threads };
}

/** Threads that are not at rest in time, each with its status. */
async function rest(
  at: System,
  tools: RecordingToolServer,
  tenants: readonly TenantUnderLoad[],
): Promise<ReadonlyMap<string, string>> {
  const deadline = performance.now() + restWithinMs;
  let unrest = new Map<string, string>();
  // Twice in a row: between an answer and its input a thread looks idle.
  for (let calm = 0; calm < 2; await sleep(500)) {
    unrest = new Map();
    for (const { key, threads } of tenants)
      for (const thread of threads) {
        const { json } = await at.request('GET', `/v1/threads/${thread}`, undefined, { key });
        if (json.status !== 'idle') unrest.set(thread, String(json.status));
      }
    calm = unrest.size === 0 && tools.busy() === 0 ? calm + 1 : 0;
    if (performance.now() > deadline) return unrest;
  }
  return unrest;
}
