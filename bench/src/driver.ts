// The closed-loop driver: a process of its own that posts a message to a thread, waits for the final answer, posts the
// next.
//
// Invariants:
//   B4. One request in flight per thread, and one kept-alive connection per thread; the same for every contestant.
//   B5. An answer that does not carry its own token is an error, and a run with errors is not a measurement.
//   B6. Latency is from before the request is handed to the client until the whole body was read.
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { DriverJob, DriverResult, Target } from './driver-job.ts';

const timeoutMs = 60_000;
const errorsKept = 3;
const pools = new Map<string, Pool>();
let lastToken = 0;

async function run(job: DriverJob): Promise<DriverResult> {
  const latenciesMs: number[] = [];
  const errors: string[] = [];
  let turns = 0;
  let errorCount = 0;
  const began = performance.now();
  const warmUntil = began + job.warmupSeconds * 1_000;
  const until = warmUntil + job.seconds * 1_000;
  const lanes = Math.min(job.concurrency ?? job.targets.length, job.targets.length);

  const mayGoOn = (): boolean => job.toleratesErrors === true || errorCount < errorsKept;

  async function one(target: Target): Promise<void> {
    const from = performance.now();
    const problem = await turn(target, lanes);
    const to = performance.now();
    turns += 1;
    if (problem !== null) {
      errorCount += 1;
      if (errors.length < errorsKept) errors.push(problem);
    } else if (to >= warmUntil && to <= until) latenciesMs.push(to - from);
  }

  async function lane(index: number): Promise<void> {
    for (let at = index; at < job.targets.length; at += lanes) {
      const target = job.targets[at];
      if (!target) continue;
      for (let done = 0; done < target.turnsMax && performance.now() < until && mayGoOn(); done++) await one(target);
    }
  }

  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  const ended = performance.now();
  const seconds = Math.min(job.seconds, Math.max(0, ended - warmUntil) / 1_000);
  return { latenciesMs: latenciesMs.map((ms) => Math.round(ms * 1_000) / 1_000), turns, seconds, errorCount, errors };
}

/** Null, or what was wrong. */
async function turn(target: Target, connections: number): Promise<string | null> {
  const url = new URL(target.url);
  lastToken += 1;
  const token = `${process.pid}-${lastToken}`;
  try {
    const answer = await poolOf(url.origin, connections).request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: withToken(target.headers, token),
      body: target.body.replaceAll('{token}', token),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== target.status)
      return `${answer.statusCode} instead of ${target.status}: ${text.slice(0, 300)}`;
    const expected = target.expect.replaceAll('{token}', token);
    return text.includes(expected) ? null : `no "${expected}" in ${text.slice(0, 300)}`; // (B5)
  } catch (error) {
    return String(error);
  }
}

function withToken(headers: Readonly<Record<string, string>>, token: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll('{token}', token)]));
}

/** Enough connections for the widest run so far; a wider one gets a pool of its own. (B4) */
function poolOf(origin: string, connections: number): Pool {
  const name = `${origin} ${connections}`;
  const known = pools.get(name);
  if (known) return known;
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  pools.set(name, pool);
  return pool;
}

process.on('message', (job: DriverJob) => {
  void run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
