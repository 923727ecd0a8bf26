import {
  createManualClock,
  createMemoryMetrics,
  createMemoryWorld,
  createSeededEntropy,
  type Gate,
  type ManualClock,
  type MemoryMetrics,
  type MemoryWorld,
} from '@dormouse/adapter-memory';
import { Fault, type SendOutcome, type ToolServer, tenantId } from '@dormouse/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import type { HoldingGate } from '../tool-dispatcher/deliver/server-gate.ts';
import { healthOf, type ToolHealth } from './tool-health.ts';
import { createToolWatch, type ToolWatch } from './tool-watch.ts';

const acme = tenantId('acme');

const serverOf = (name: string, id = `tsv_${name}`): ToolServer => ({
  ...{ tenant: acme, id, name, createdAt: 1, updatedAt: 1, baseUrl: 'http://tools', endpointOverride: null },
  ...{ auth: null, forwardUserId: false, trustAnnotations: false, pinnedSha256: null, paused: false },
});
const mail = serverOf('mail');
const answered = (status: number): SendOutcome => ({ sent: true, status, retryAfterMs: null });
const broken = (code: string, reached = false): SendOutcome => ({ sent: false, reached, code, detail: '' });

let clock: ManualClock;
let metrics: MemoryMetrics;
let world: MemoryWorld;
let puts: number;
let isAway: boolean;
let warned: string[];

beforeEach(async () => {
  clock = createManualClock(1_764_000_000_000); // a full minute
  metrics = createMemoryMetrics();
  [puts, isAway, warned] = [0, false, []];
  const gate: Gate = {
    pass: async (_node, { name }, apply) => {
      if (name === 'toolActivity.put') {
        if (isAway) throw new Fault('UNAVAILABLE', 'away');
        puts += 1;
      }
      return apply();
    },
  };
  world = createMemoryWorld({ clock, gate });
  await world.ports('setup').toolServers.insert(mail);
});

function watching(name = 'one', seed = 1): ToolWatch {
  const { toolActivity: activity, toolServers } = world.ports(name);
  const logger = { info: () => {}, error: () => {}, warn: (event: string) => void warned.push(event) };
  return createToolWatch({ activity, toolServers, clock, entropy: createSeededEntropy(seed), logger, metrics });
}

async function health(id = mail.id): Promise<ToolHealth> {
  const known = await world.ports('reader').toolActivity.read(acme, id, 0);
  return healthOf(mail, known, null, clock.now());
}

describe('what a process saw of a tool server', () => {
  it('W1 W3 is written within a second, in one write, and costs nothing at rest', async () => {
    const watch = watching();
    for (let n = 0; n < 1_000; n++) watch.posted(mail, answered(202), 10);
    watch.posted(mail, answered(503), 10);
    expect(puts).toBe(0);
    await clock.advance(1_000);
    expect(puts).toBe(1);
    expect(await health()).toMatchObject({ state: 'healthy', errors: { '5m': 1, '1h': 1, '24h': 1 } });
    await clock.advance(3_600_000);
    expect(puts).toBe(1);
  });

  it.each([
    ['5xx', answered(500)],
    ['4xx', answered(404)],
    ['4xx', answered(301)],
    ['timeouts', broken('TIMEOUT', true)],
    ['timeouts', broken('UND_ERR_CONNECT_TIMEOUT')],
    ['resets', broken('ECONNRESET', true)],
    ['resets', broken('ECONNREFUSED')],
  ] as const)('counts as %s: %j', async (error, outcome) => {
    const watch = watching();
    watch.posted(mail, outcome, 10);
    await clock.advance(1_000);
    const seen = await health();
    expect(seen.errorsByClass['5m']).toEqual({ '5xx': 0, resets: 0, timeouts: 0, '4xx': 0, [error]: 1 });
    expect(seen.ackMs.p50).toBeNull();
    expect([...metrics.counted]).toEqual([[`dormouse_tool_errors_total mail ${error}`, 1]]);
  });

  it.each(['OUTBOUND_FORBIDDEN', 'SECRET_UNUSABLE', 'UNAVAILABLE', 'ABORTED'])('says nothing with %s', async (code) => {
    watching().posted(mail, broken(code), 1);
    await clock.advance(1_000);
    expect([puts, (await health()).state, metrics.counted.size]).toEqual([0, 'unknown', 0]);
  });

  it('W5 adds up over minutes, processes and repeated writes', async () => {
    const [one, other] = [watching('one', 1), watching('other', 2)];
    for (let minute = 0; minute < 3; minute++)
      for (let second = 0; second < 60; second += 20) {
        one.posted(mail, answered(500), 1);
        other.posted(mail, answered(500), 1);
        await clock.advance(20_000);
      }
    expect((await health()).errors['1h']).toBe(18);
    await Promise.all([one.flush(), other.flush(), one.flush()]);
    expect((await health()).errors['1h']).toBe(18);
  });

  it('W2 is kept while the store is away, with one warning', async () => {
    const watch = watching();
    isAway = true;
    watch.posted(mail, answered(500), 1);
    await clock.advance(30_000);
    watch.posted(mail, answered(500), 1);
    await clock.advance(90_000);
    expect(warned).toEqual(['tool_activity_unwritten']);
    isAway = false;
    await clock.advance(1_000);
    expect((await health()).errors['5m']).toBe(2);
  });

  it('W2 is written when the process stops', async () => {
    const watch = watching();
    watch.posted(mail, answered(500), 1);
    watch.answered(acme, 'mail', 5_000);
    await watch.flush();
    const { errors, callbackMs } = await health();
    expect([errors['5m'], callbackMs.p50]).toEqual([1, expect.closeTo(5_000, -3)]);
  });

  it('W4 does not grow with the endpoints of a server, and is bounded in servers', async () => {
    const watch = watching();
    for (let n = 0; n < 20_000; n++) watch.posted({ ...mail, endpointOverride: `http://tools/${n}` }, answered(500), n);
    await clock.advance(1_000);
    expect(world.durable.toolActivity.rows.size).toBe(1);
    for (let n = 0; n < 20_000; n++) watch.posted(serverOf(`hostile-${n}`), answered(202), n);
    await clock.advance(1_000);
    expect(world.durable.toolActivity.rows.size).toBe(10_000);
    expect(warned).toEqual(['tool_activity_dropped']);
    await clock.advance(60_000);
    watch.posted(serverOf('next'), answered(202), 1);
    await clock.advance(1_000);
    watch.posted(serverOf('later'), answered(202), 1);
    await clock.advance(1_000);
    expect((await health('tsv_later')).state).toBe('healthy');
  });

  it('W7 callbacks of a name that is gone are dropped, and those of its successor are its own', async () => {
    const { toolServers } = world.ports('setup');
    const watch = watching();
    await toolServers.remove(acme, 'mail');
    watch.answered(acme, 'mail', 40);
    await clock.advance(2_000);
    expect(world.durable.toolActivity.rows.size).toBe(0);
    await toolServers.insert(serverOf('mail', 'tsv_second'));
    watch.answered(acme, 'mail', 40);
    watch.answered(tenantId('zenith'), 'mail', 40);
    await clock.advance(2_000);
    expect((await health('tsv_second')).callbackMs.p50).toBeCloseTo(40, -1);
    expect((await health()).callbackMs.p50).toBeNull();
    expect(metrics.recorded.get('dormouse_tool_callback_seconds mail')).toEqual([0.04, 0.04, 0.04]);
  });

  it('has the last discovery, as a metric too', async () => {
    const watch = watching();
    watch.gates(() => []);
    watch.discovered(mail);
    await clock.advance(30_000);
    watch.discovered(mail);
    await clock.advance(12_000);
    const known = await world.ports('reader').toolActivity.read(acme, mail.id, 0);
    expect(healthOf(mail, known, null, clock.now()).discoveryAgeS).toBe(12);
    expect([...(await metrics.observe('dormouse_tool_discovery_age_seconds'))]).toEqual([['mail', 12]]);
    await clock.advance(8 * 86_400_000);
    expect(await metrics.observe('dormouse_tool_discovery_age_seconds')).toEqual(new Map());
  });
});

describe('the breaker of a tool server', () => {
  it('W6 H4 is seen while it holds, closes at once, and ends with its process', async () => {
    const watch = watching();
    let holding: readonly HoldingGate[] = [];
    watch.gates(() => holding);
    const state = async (): Promise<string> => (await health()).breaker;
    holding = [{ tenant: acme, toolServer: 'mail', breaker: 'open' }];
    watch.posted(mail, answered(500), 1);
    await clock.advance(1_000);
    expect(await state()).toBe('open');
    await clock.advance(3_600_000);
    expect(await state()).toBe('open');
    const [before, from] = [puts, clock.now()];
    await clock.advance(60_000);
    expect(puts - before).toBeLessThanOrEqual(Math.ceil((clock.now() - from) / 10_000) + 1);
    holding = [{ tenant: acme, toolServer: 'mail', breaker: 'half_open' }];
    await clock.advance(1_000);
    expect(await state()).toBe('half_open');
    holding = [];
    await clock.advance(1_000);
    expect(await state()).toBe('closed');
    const atRest = puts;
    await clock.advance(3_600_000);
    expect(puts).toBe(atRest);

    holding = [{ tenant: acme, toolServer: 'mail', breaker: 'open' }];
    watch.posted(mail, answered(500), 1);
    await clock.advance(1_000);
    expect(await state()).toBe('open');
    isAway = true; // it says nothing more, like a process that has died
    await clock.advance(31_000);
    expect(await state()).toBe('closed');
  });
});
