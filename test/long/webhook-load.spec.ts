// Ten thousand webhooks of one tenant, and fifty events per second, each for one of them: how long it takes from a
// commit to the POST, at the 99th percentile, in both topologies. Threads are opened first; what is told is their end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { endClusters, startCluster } from '../cluster/cluster-process.ts';
import type { System } from '../e2e/conversation.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { endReceivers, type Posted, startReceiver } from '../e2e/webhook-receiver.ts';
import { startOwnServers } from '../services/own-servers.ts';

const endpoints = 10_000;
const eventsPerS = 50;
const seconds = 40;
const events = eventsPerS * seconds;
const p99MsMax = 5_000;
const atOnce = 16;
const deliveredWithinMs = 120_000;

const directory = mkdtempSync(join(tmpdir(), 'dormouse-webhooks-'));
const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await endReceivers();
  await endClusters();
  await cleanUp();
  rmSync(directory, { recursive: true, force: true });
});

async function inParallel(count: number, work: (nth: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let nth = next++; nth < count; nth = next++) await work(nth);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function done(at: System, method: string, path: string, body: unknown, status: number): Promise<string> {
  const answer = await at.request(method, path, body);
  if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json.id as string;
}

const customerOf = (nth: number): string => `customer-${(nth * 7) % endpoints}`;

/** Milliseconds from commit to POST, ascending. */
async function measured(at: System): Promise<readonly number[]> {
  const lateness = new Map<string, number>();
  const wrong: Posted[] = [];
  const receiver = await startReceiver((response, posted) => {
    response.writeHead(204).end();
    const { type, timestamp, data } = posted.body;
    if (type !== 'thread.closed' || !posted.path.endsWith(customers.get(data.thread_id) ?? '?')) wrong.push(posted);
    if (!lateness.has(posted.id)) lateness.set(posted.id, Date.now() - Date.parse(timestamp));
  });
  const customers = new Map<string, string>();
  const base = receiver.url.replace(/\?.*/, '');
  await inParallel(endpoints, async (nth) => {
    const customer = `customer-${nth}`;
    const filter = { metadata: { customer } };
    await done(at, 'POST', '/v1/webhooks', { url: `${base}/${customer}`, events: ['thread.closed'], filter }, 201);
  });
  const agent = { name: 'quiet', model: { provider: 'demo' } };
  await done(at, 'POST', '/v1/agents', agent, 201);
  const threads: string[] = [];
  await inParallel(events, async (nth) => {
    const customer = customerOf(nth);
    const thread = await done(at, 'POST', '/v1/threads', { agent: 'quiet', metadata: { customer } }, 201);
    customers.set(thread, customer);
    threads.push(thread);
  });
  const began = performance.now();
  const closes: Promise<unknown>[] = [];
  for (const [nth, thread] of threads.entries()) {
    await sleep(Math.max(0, began + (nth * 1_000) / eventsPerS - performance.now()));
    closes.push(done(at, 'POST', `/v1/threads/${thread}/close`, undefined, 202));
  }
  await Promise.all(closes);
  const deadline = performance.now() + deliveredWithinMs;
  while (lateness.size < events && performance.now() < deadline) await sleep(100);
  expect(wrong).toEqual([]);
  expect([lateness.size, receiver.posts.length]).toEqual([events, events]);
  return [...lateness.values()].toSorted((one, other) => one - other);
}

function judge(topology: string, ascending: readonly number[]): void {
  const at = (share: number): number => ascending[Math.ceil(ascending.length * share) - 1] ?? Number.NaN;
  const [p50, p99, max] = [at(0.5), at(0.99), at(1)];
  process.stdout.write(`${topology}: ${ascending.length} events, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms\n`);
  expect(p99).toBeLessThanOrEqual(p99MsMax);
}

describe('10 000 webhooks, 50 events/s, each for one of them: p99 from commit to POST within 5 s', () => {
  it('standalone', async () => {
    judge('standalone', await measured(await startStandalone({ args: ['--no-example-tools'] })));
  });

  it('in a cluster', async (context) => {
    const own = await startOwnServers(directory);
    closing.push(() => Promise.all([...own.servers.values()].map((server) => server.stop())));
    context.skip(own.missing !== null, own.missing ?? undefined);
    const [kafka = '', mongo = '', redis = ''] = (['kafka', 'mongo', 'redis'] as const).map(
      (name) => own.servers.get(name)?.url,
    );
    judge('cluster', await measured(await startCluster({ kafka, mongo, redis })));
  });
});
