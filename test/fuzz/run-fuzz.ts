// A fuzz run: rounds of cases against one system, and after each round the threads beside it.
//
// Invariants:
//   R1. A case that is found wrong is shrunk: mutations are left out one by one for as long as it stays wrong.
//   R2. Beside answers (judge.ts) and threads (canary.ts) it is wrong when a process has ended, when a line of the log
//       is not one JSON object or is one of an error, and when memory or sockets do not return to what they were.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mulberry32 } from '../chaos/random.ts';
import type { System } from '../e2e/conversation.ts';
import { type Canary, startCanary } from './canary.ts';
import { exchange, type Exchange } from './exchange.ts';
import { caseOf, type FuzzCase } from './fuzz-case.ts';
import { beginAttack } from './fuzz-world.ts';
import { wrongEnd, wrongOf } from './judge.ts';
import { wrongLines } from './log-lines.ts';
import { type Held, heldBy } from './process-gauge.ts';
import { encode, type EncodedRequest, type NameReader } from './request-plan.ts';

export interface FuzzOrder {
  readonly seed: number;
  /** The first round, from 0. */
  readonly from: number;
  /** No round begins later than this after the start. */
  readonly ms: number;
  readonly roundsMax: number;
  /** It ends early with so many. */
  readonly findingsMax: number;
  readonly say: (line: string) => void;
}

export interface FuzzTarget {
  readonly system: System;
  /** Manages its tenants. */
  readonly platformKey: string;
  /** Where its processes are gauged. */
  readonly gauges: string;
}

export interface Finding {
  readonly round: number;
  /** Null for what a whole round has done. */
  readonly case: number | null;
  readonly wrong: string;
  /** The request, shrunk, as it was sent. */
  readonly request: string;
  readonly answers: readonly string[];
}

export interface FuzzReport {
  readonly seed: number;
  readonly rounds: number;
  readonly cases: number;
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Operations and callbacks that were answered 2xx at least once. */
  readonly reached: readonly string[];
  readonly findings: readonly Finding[];
}

export const casesPerRound = 200;
const atOnce = 8;
const answerWithinMs = 20_000;
/** Rounds of one pair of tenants: their logs are read whole, and registrations add up. */
const renewedAfter = 20;
const shownMax = 2_000;

/** Memory that caches may grow by, and sockets of pools. */
const growthBytesMax = 96 * 1_024 * 1_024;
const growthSocketsMax = 24;
const restWithinMs = 30_000;

/** The settings of a system that is to be fuzzed: no rate of a tenant hides what is behind it. */
export const fuzzedSettings = {
  DORMOUSE_LOG_LEVEL: 'info',
  DORMOUSE_TENANT_REQUESTS_PER_S: '0',
  DORMOUSE_TENANT_CALLBACKS_PER_S: '0',
} as const;

export async function runFuzz({ system, platformKey, gauges }: FuzzTarget, order: FuzzOrder): Promise<FuzzReport> {
  const startLines = new Set(system.output().split('\n'));
  const tenant = (id: string): Promise<System> => newTenant(system, platformKey, id);
  const secret = `secret-${randomBytes(12).toString('hex')}`;
  const count: Counted = { cases: 0, requests: 0, statuses: new Map(), reached: new Set(), findings: [] };
  const until = Date.now() + order.ms;
  let scene: Scene | null = null;
  let before: ReadonlyMap<string, Held> = new Map();
  let round = order.from;
  const isOver = (): boolean =>
    round >= order.from + order.roundsMax || Date.now() >= until || count.findings.length >= order.findingsMax;
  for (; !isOver(); round++) {
    try {
      if (scene === null || (round - order.from) % renewedAfter === 0) {
        await closeScene(scene);
        scene = await sceneOf(await tenant(`fuzz-${round}`), await tenant(`beside-${round}`), secret);
      }
      const attack = await beginAttack(scene.fuzz, round, ...scene.canaries);
      await playRound({ order, round, names: attack.names, secret, count, until, system });
      await attack.close();
    } catch (error) {
      note(count, round, null, `the tenant that is attacked does not go on: ${String(error)}`);
      break;
    }
    for (const canary of scene.canaries) note(count, round, null, await wrongOfCanary(canary));
    const held = await heldBy(gauges);
    if (before.size === 0) before = held; // programs and caches are warm
    note(count, round, null, endedOf(before, held));
    order.say(`round ${round}: ${count.cases} cases, ${count.requests} requests, ${count.findings.length} findings`);
  }
  await closeScene(scene);
  for (const wrong of wrongLines(system.output(), startLines)) note(count, round, null, wrong);
  note(count, round, null, await grown(gauges, before));
  const { cases, requests, statuses, reached, findings } = count;
  return {
    ...{ seed: order.seed, rounds: round - order.from, cases, requests, findings },
    statuses: Object.fromEntries([...statuses].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    reached: [...reached].toSorted(),
  };
}

/** Two tenants, and a thread of each that is not attacked. */
interface Scene {
  readonly fuzz: System;
  readonly canaries: readonly [same: Canary, other: Canary];
}

async function sceneOf(fuzz: System, beside: System, secret: string): Promise<Scene> {
  return {
    fuzz,
    canaries: [
      await startCanary('the same tenant', fuzz, 'beside'),
      await startCanary('another tenant', beside, secret),
    ],
  };
}

async function closeScene(scene: Scene | null): Promise<void> {
  for (const canary of scene?.canaries ?? []) await canary.close();
}

interface Counted {
  cases: number;
  requests: number;
  readonly statuses: Map<string, number>;
  readonly reached: Set<string>;
  readonly findings: Finding[];
}

async function newTenant(system: System, platformKey: string, id: string): Promise<System> {
  const made = await system.request('POST', '/v1/tenants', { id }, { key: platformKey });
  if (made.status !== 201) throw new Error(`tenant: ${made.status} ${made.text}`);
  const { key } = made.json;
  return {
    ...system,
    key,
    request: (method, path, body, sent) => system.request(method, path, body, { key, ...sent }),
  };
}

/** A finding without a request. */
function note(count: Counted, round: number, index: number | null, wrong: string | null): void {
  if (wrong !== null) count.findings.push({ round, case: index, wrong, request: '', answers: [] });
}

interface Round {
  readonly order: FuzzOrder;
  readonly round: number;
  readonly names: NameReader;
  readonly secret: string;
  readonly count: Counted;
  readonly until: number;
  readonly system: System;
}

async function playRound(playing: Round): Promise<void> {
  const { order, round, count, until } = playing;
  let next = round * casesPerRound;
  const end = next + casesPerRound;
  const player = async (): Promise<void> => {
    while (next < end && count.findings.length < order.findingsMax && Date.now() < until + restWithinMs) {
      const fuzzCase = caseOf(order.seed, next++);
      const tried = await play(fuzzCase, playing);
      count.cases += 1;
      if (tried.wrong !== null) count.findings.push(await shrunk(fuzzCase, tried, playing));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, player));
}

interface Tried {
  readonly requests: readonly EncodedRequest[];
  readonly bytes: Buffer;
  readonly answers: Exchange['answers'];
  readonly wrong: string | null;
}

async function play(fuzzCase: FuzzCase, { names, secret, count }: Round): Promise<Tried> {
  const { plans, manner, seed } = fuzzCase;
  const requests = plans.map((plan) => encode(plan, names));
  const door = plans[0]?.door ?? (seed % 2 === 0 ? 'api' : 'callback'); // all plans of a case have one door
  const bytes = plans.length === 0 ? noise(seed) : Buffer.concat(requests.map((request) => request.bytes));
  const url = new URL(`http://${names(`host.${door}`)}`);
  const came = await exchange({
    ...{ host: url.hostname, port: Number(url.port), bytes, seed, withinMs: answerWithinMs },
    manner: plans.length === 0 ? 'half_closed' : manner,
    methods: requests.map(({ method }) => method),
    answersMax: Math.max(1, requests.length),
  });
  count.requests += Math.max(1, requests.length);
  for (const [index, { status }] of came.answers.entries()) {
    count.statuses.set(String(status), (count.statuses.get(String(status)) ?? 0) + 1);
    const name = requests[index]?.plan.name;
    if (status < 300 && name !== undefined) count.reached.add(name);
  }
  const wrong =
    came.answers
      .map((answer, index) => wrongOf(answer, requests[index] ?? null, secret))
      .find((said) => said !== null) ??
    (manner === 'aborted' ? null : wrongEnd(requests, came, manner === 'half_closed' || plans.length === 0));
  return { requests, bytes, answers: came.answers, wrong };
}

/** No request at all. */
function noise(seed: number): Buffer {
  const random = mulberry32(seed);
  const bytes = Array.from({ length: Math.floor(random() * 3_000) }, () => Math.floor(random() * 256));
  return Buffer.concat([
    Buffer.from(random() < 0.5 ? 'POST /callback/' : ''),
    Buffer.from(bytes),
    Buffer.from('\r\n\r\n'),
  ]);
}

/** (R1) */
async function shrunk(found: FuzzCase, first: Tried, playing: Round): Promise<Finding> {
  let [smallest, tried] = [found, first];
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const smaller of smallerOnes(smallest)) {
      const again = await play(smaller, playing);
      if (again.wrong !== tried.wrong) continue;
      [smallest, tried, isSmaller] = [smaller, again, true];
      break;
    }
  }
  return {
    ...{ round: playing.round, case: found.index, wrong: `${first.wrong ?? ''} (${smallest.manner})` },
    request: shown(tried.bytes),
    answers: tried.answers.map(({ status, body }) => `${status} ${shown(body)}`),
  };
}

function* smallerOnes(found: FuzzCase): Generator<FuzzCase> {
  if (found.manner !== 'whole' && found.plans.length > 0) yield { ...found, manner: 'whole' };
  for (const [index, plan] of found.plans.entries()) {
    if (found.plans.length > 1) yield { ...found, plans: found.plans.filter((_, at) => at !== index) };
    for (const mutation of plan.mutations) {
      const smaller = { ...plan, mutations: plan.mutations.filter((each) => each !== mutation) };
      yield { ...found, plans: found.plans.map((each, at) => (at === index ? smaller : each)) };
    }
  }
}

/** One line of letters that a terminal can show. */
function shown(bytes: Buffer): string {
  const text = JSON.stringify(bytes.toString('latin1'));
  return text.length > shownMax ? `${text.slice(0, shownMax)}… (${bytes.length} bytes)` : text;
}

async function wrongOfCanary(canary: Canary): Promise<string | null> {
  try {
    return await canary.check();
  } catch (error) {
    return `the thread of ${canary.name} does not go on: ${String(error)}`;
  }
}

/** (R2) */
function endedOf(before: ReadonlyMap<string, Held>, now: ReadonlyMap<string, Held>): string | null {
  const ended = [...before.keys()].filter((pid) => !now.has(pid));
  return ended.length === 0 ? null : `${ended.length} of ${before.size} processes ended`;
}

/** (R2) Sockets that the attack has left half open end by themselves. */
async function grown(gauges: string, before: ReadonlyMap<string, Held>): Promise<string | null> {
  for (const until = Date.now() + restWithinMs; ; await sleep(500)) {
    const now = await heldBy(gauges);
    const found = [...before].flatMap(([pid, { bytes, sockets }]) => {
      const held = now.get(pid);
      if (held === undefined) return [];
      const [more, moreSockets] = [held.bytes - bytes, held.sockets - sockets];
      const tells = [
        ...(more > growthBytesMax ? [`holds ${Math.round(more / 1_048_576)} MiB more than before`] : []),
        ...(moreSockets > growthSocketsMax ? [`holds ${moreSockets} sockets more than before`] : []),
      ];
      return tells.map((tell) => `a process ${tell}`);
    });
    if (found.length === 0) return null;
    if (Date.now() > until) return found.join('; ');
  }
}
