import { type FairSemaphore, createFairSemaphore, withPlace } from '@dormouse/collections';
import { Fault, placeKeyOf, type SendOutcome, type SendRequest, type WorkBus } from '@dormouse/ports';
import type { InvokeTool } from '@dormouse/thread';
import { parseInvocation, type ToolInvocation } from '@dormouse/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { faulty } from './spec/faulty.ts';
import {
  broken,
  createRig,
  invoke,
  key,
  never,
  type Peer,
  sha256Of,
  type Rig,
  status,
  weather,
} from './spec/dispatcher-rig.ts';

let rig: Rig;
let peer: Peer;

beforeEach(async () => {
  rig = createRig();
  peer = await rig.register('weather');
  await rig.store(weather);
});

function read(request: SendRequest | undefined): ToolInvocation {
  const parsed = parseInvocation(JSON.parse(request?.body ?? ''));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.invocation;
}
const failures = (): readonly unknown[] =>
  rig.inputs.map((input) =>
    input.kind === 'DispatchFailure' ? { id: input.id, outcome: input.outcome, code: input.code } : input.kind,
  );
const told = (): string => rig.inputs.map((input) => (input.kind === 'DispatchFailure' ? input.detail : '')).join();
const ledger = async (): Promise<unknown> => (await rig.ports.ledger.read(key, 'call_1'))?.outcome ?? null;
const statuses = async (): Promise<readonly unknown[]> =>
  (await rig.ports.ledger.attempts(key, ['call_1'])).map((attempt) => [attempt.number, attempt.status]);
const advance = (ms: number): Promise<void> => rig.clock.advance(ms);

describe('a call of a suspended tenant', () => {
  const suspended = { is: true };
  const held: string[] = [];
  const holding = {
    holds: async ({ thread }: { readonly thread: string }): Promise<boolean> => {
      if (suspended.is) held.push(thread);
      return suspended.is;
    },
    holdsAgent: () => Promise.resolve(false),
    holdForServer: () => Promise.resolve(),
  };

  it('T4 D7 is not sent, and leaves nothing behind: sent again, it is a new one', async () => {
    suspended.is = true;
    await rig.dispatcher({}, { holding });
    for (const delivery of ['at_least_once', 'at_most_once'] as const) await rig.owe(invoke({ delivery }));
    await advance(60_000);
    expect([peer.posts.length, await ledger(), await statuses(), rig.inputs.length]).toEqual([0, null, [], 0]);
    expect(new Set(held)).toEqual(new Set([key.thread]));
    suspended.is = false;
    await rig.owe(invoke());
    await advance(1_000);
    expect([peer.posts.length, await ledger()]).toEqual([1, 'sent']);
  });

  it('D7 is not tried again while it is suspended', async () => {
    suspended.is = false;
    peer.answers = [status(503)];
    await rig.dispatcher({}, { holding });
    void rig.owe(invoke());
    await advance(100);
    suspended.is = true;
    await advance(120_000);
    expect([peer.posts.length, await ledger()]).toEqual([1, null]);
  });
});

describe('a call to a paused tool server, or of a paused agent', () => {
  const held: string[] = [];
  const paused = { agent: false };
  const holding = {
    holds: () => Promise.resolve(false),
    holdsAgent: async (): Promise<boolean> => {
      if (paused.agent) held.push('agent');
      return paused.agent;
    },
    holdForServer: async (_key: unknown, toolServer: string): Promise<void> => void held.push(toolServer),
  };
  beforeEach(() => {
    held.length = 0;
    paused.agent = false;
  });
  const pause = async (isPaused: boolean): Promise<void> => {
    const server = await rig.ports.toolServers.get(key.tenant, 'weather');
    if (server === null) throw new Error('not registered');
    const resumed = isPaused ? {} : { resumedAt: rig.clock.now() };
    await rig.ports.toolServers.replace({ ...server, paused: isPaused, ...resumed }, server);
  };

  it.each(['at_least_once', 'at_most_once'] as const)(
    'T4 D7 waits: it is marked, and sent once afterwards, %s',
    async (delivery) => {
      await pause(true);
      await rig.dispatcher({}, { holding });
      expect(await rig.owe(invoke({ delivery }))).toEqual({ paid: true });
      await advance(3_600_000);
      expect([peer.posts.length, await ledger(), await statuses(), rig.inputs.length]).toEqual([0, null, [], 0]);
      expect(held).toEqual(['weather']);
      await pause(false);
      await rig.owe(invoke({ delivery }));
      await advance(1_000);
      expect([peer.posts.length, await ledger(), held.length]).toEqual([1, 'sent', 1]);
    },
  );

  it('D7 of an agent waits as well', async () => {
    paused.agent = true;
    await rig.dispatcher({}, { holding });
    expect(await rig.owe(invoke())).toEqual({ paid: true });
    await advance(60_000);
    expect([peer.posts.length, await ledger(), new Set(held)]).toEqual([0, null, new Set(['agent'])]);
  });

  it('D8 has its whole schedule again, however long the pause was', async () => {
    peer.answers = [status(503)];
    await rig.dispatcher({}, { holding });
    void rig.owe(invoke());
    await advance(100);
    await pause(true);
    await advance(3_600_000);
    const tried = peer.posts.length;
    expect([await ledger(), failures(), held.length]).toEqual([null, [], 1]);
    await pause(false);
    void rig.owe(invoke());
    await advance(30_000);
    expect(peer.posts.length).toBeGreaterThan(tried);
    expect(failures()).toEqual([]);
    peer.answers = [status(202)];
    await advance(120_000);
    expect([await ledger(), failures()]).toEqual(['sent', []]);
  });

  it('D7 of which nothing was sent gives its claim back: it is sent at most once all the same', async () => {
    peer.answers = [broken('ECONNREFUSED', false)];
    await rig.dispatcher({}, { holding });
    void rig.owe(invoke({ delivery: 'at_most_once' }));
    await advance(100);
    await pause(true);
    await advance(600_000);
    expect((await rig.ports.ledger.read(key, 'call_1'))?.nonce ?? null).toBeNull();
    peer.answers = [status(202)];
    const tried = peer.posts.length;
    await pause(false);
    void rig.owe(invoke({ delivery: 'at_most_once' }));
    await advance(1_000);
    expect([peer.posts.length - tried, await ledger(), failures()]).toEqual([1, 'sent', []]);
  });

  it('D7 whose outcome is unknown is no call that waits', async () => {
    peer.answers = [broken('ECONNRESET', true)];
    await rig.dispatcher({}, { holding });
    void rig.owe(invoke({ delivery: 'at_most_once' }));
    await advance(100);
    await pause(true);
    await advance(600_000);
    expect([peer.posts.length, await ledger(), held]).toEqual([1, 'unknown', []]);
  });
});

describe('an invocation', () => {
  it('R1 R2 R3 R9 R10 R11 R12 R13 goes to the endpoint of the manifest with what RAP asks for', async () => {
    await rig.dispatcher();
    await rig.owe(invoke());
    expect(peer.posts).toHaveLength(1);
    expect(peer.posts[0]?.url).toBe('https://weather.example/rap/invoke');
    const { callbackUrl, ...rest } = read(peer.posts[0]);
    expect(rest).toEqual({
      operation: 'forecast',
      arguments: { city: 'Zürich ☃', days: 3 },
      id: 'call_1',
      callId: 'toolu_7',
      groupId: 'thr_1',
      toolsetVersion: '1',
    });
    expect(callbackUrl).toMatch(/^https:\/\/agents\.example\/hooks\/callback\/[\w-]+$/);
    const verdict = rig.tokens.verify(callbackUrl.split('/').at(-1) ?? '', 0);
    expect(verdict).toMatchObject({
      ok: true,
      scope: { ...key, toolCallId: 'call_1', toolServer: 'weather', expiresAt: null },
    });
    expect(peer.posts[0]?.headers).toEqual({ 'idempotency-key': 'call_1' });
    expect(peer.posts[0]?.timeoutMs).toBe(10_000);
  });

  it('R105 carries the user only where the registration says so', async () => {
    await rig.ports.toolServers.remove(key.tenant, 'weather');
    peer = await rig.register('weather', { forwardUserId: true });
    await rig.dispatcher();
    await rig.owe(invoke());
    expect(read(peer.posts[0]).userId).toBe('ada');
  });

  it('R107 leaves the version out when the manifest has none', async () => {
    const { toolset_version: _version, ...plain } = weather;
    await rig.dispatcher();
    await rig.owe(invoke({ toolsetSha256: await rig.store(plain) }));
    expect(read(peer.posts[0]).toolsetVersion).toBeUndefined();
  });

  it('goes to the override of the registration, with the trace of its thread', async () => {
    await rig.ports.toolServers.remove(key.tenant, 'weather');
    peer = await rig.register('weather', { endpointOverride: 'https://weather.example/inside' });
    await rig.dispatcher();
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await rig.owe(invoke(), { trace });
    expect(peer.posts[0]).toMatchObject({ url: 'https://weather.example/inside', headers: { traceparent: trace } });
  });

  it('drops a trace that is not one', async () => {
    await rig.dispatcher();
    await rig.owe(invoke(), { trace: 'a\r\nb: c' });
    expect(peer.posts[0]?.headers).toEqual({ 'idempotency-key': 'call_1' });
  });

  it.each(['', 'x'.repeat(201), 'call_\ud800'])(
    'leaves a provider id out that the protocol cannot carry',
    async (providerCallId) => {
      await rig.dispatcher();
      await rig.owe(invoke({ providerCallId }));
      expect(read(peer.posts[0]).callId).toBeUndefined();
    },
  );
});

describe('at least once', () => {
  it.each([200, 201, 202, 204, 299])('R4 takes %s for the acknowledgement', async (code) => {
    peer.answers = [status(code)];
    await rig.dispatcher();
    expect(await rig.owe(invoke())).toEqual({ paid: true });
    expect(await ledger()).toBe('sent');
    expect(await statuses()).toEqual([[1, code]]);
    expect(rig.inputs).toEqual([]);
  });

  it('R5 repeats the same bytes with growing gaps until the server is back', async () => {
    peer.answers = [status(503), broken('ECONNREFUSED', false), broken('TIMEOUT', true), status(500), status(200)];
    await rig.dispatcher();
    const debt = await rig.owe(invoke());
    await advance(60_000);
    expect(debt.paid).toBe(true);
    expect(new Set(peer.posts.map(({ body, headers }) => body + JSON.stringify(headers))).size).toBe(1);
    const gaps = peer.at.slice(1).map((at, index) => at - (peer.at[index] ?? 0));
    expect(gaps).toHaveLength(4);
    gaps.forEach((gap, index) => {
      expect(gap).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(gap).toBeLessThanOrEqual(1_000 * 2 ** index);
    });
    expect(await statuses()).toEqual([
      [1, 503],
      [2, 'ECONNREFUSED'],
      [3, 'TIMEOUT'],
      [4, 500],
      [5, 200],
    ]);
  });

  it('honours Retry-After', async () => {
    peer.answers = [status(503, 45_000), status(200)];
    await rig.dispatcher();
    await rig.owe(invoke());
    await advance(44_999);
    expect(peer.posts).toHaveLength(1);
    await advance(1);
    expect(peer.posts).toHaveLength(2);
  });

  it.each([300, 302, 307, 400, 401, 404, 408, 422, 425, 429])(
    'R6 R14 never repeats after %s, and tells the model',
    async (code) => {
      peer.answers = [status(code, 1_000)];
      await rig.dispatcher();
      const debt = await rig.owe(invoke());
      await advance(3_600_000);
      expect(peer.posts).toHaveLength(1);
      expect(debt.paid).toBe(true);
      expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'DISPATCH_FAILED' }]);
      expect(told()).toContain(`HTTP ${code}`);
      expect(await ledger()).toBe('refused');
    },
  );

  it('R14 R56 gives up after ten minutes, and tells the model', async () => {
    peer.answers = [status(500)];
    await rig.dispatcher();
    const debt = await rig.owe(invoke());
    await advance(600_001);
    expect(debt.paid).toBe(true);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'DISPATCH_FAILED' }]);
    expect(told()).toMatch(/did not take the call in 1\d attempts; at last: HTTP 500/);
    expect(await ledger()).toBe('exhausted');
  });

  it('I-08 does not POST again after a 4xx was recorded, and still tells the model when that had failed', async () => {
    peer.answers = [status(404), status(200)];
    rig.publishFails = new Fault('UNAVAILABLE', 'no bus');
    await rig.dispatcher();
    const debt = await rig.owe(invoke());
    expect(await ledger()).toBe('refused');
    expect(debt.paid).toBe(false);
    rig.publishFails = null;
    await advance(60_000);
    expect(debt.paid).toBe(true);
    expect(peer.posts).toHaveLength(1);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'DISPATCH_FAILED' }]);
    expect(told()).toContain('HTTP 404');
  });

  it('does not POST again when it was acknowledged in an earlier life', async () => {
    await rig.ports.ledger.settle(key, 'call_1', 'sent', null);
    await rig.dispatcher();
    expect(await rig.owe(invoke())).toEqual({ paid: true });
    expect(peer.posts).toEqual([]);
  });

  it('goes on after a restart where the schedule was', async () => {
    peer.answers = [status(500)];
    const first = await rig.dispatcher();
    const debt = await rig.owe(invoke());
    await advance(5_000);
    const made = peer.posts.length;
    const stopped = first.stop(1_000);
    await advance(1_000);
    await stopped;
    expect(debt.paid).toBe(false);
    await advance(100_000);
    expect(peer.posts).toHaveLength(made);
    await rig.dispatcher();
    await rig.owe(invoke());
    await advance(600_000);
    const attempts = await rig.ports.ledger.attempts(key, ['call_1']);
    expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_attempt, index) => index + 1));
    expect(failures()).toHaveLength(1);
    expect((attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0)).toBeLessThanOrEqual(600_000);
  });

  it('does not repeat a call whose result has come, though it was never acknowledged', async () => {
    peer.answers = [broken('TIMEOUT', true)];
    await rig.dispatcher();
    const debt = await rig.owe(invoke());
    await rig.decide('r:call_1');
    await advance(600_000);
    expect([debt.paid, peer.posts.length, rig.inputs, await ledger()]).toEqual([true, 1, [], 'sent']);
  });

  it('T2 posts a call once that is delivered twice at a time', async () => {
    let answer: (outcome: ReturnType<typeof status>) => void = () => {};
    peer.answers = [new Promise((resolve) => (answer = resolve))];
    await rig.dispatcher();
    const debts = [await rig.owe(invoke()), await rig.owe(invoke())];
    answer(status(200));
    await advance(0);
    expect(debts).toEqual([{ paid: true }, { paid: true }]);
    expect(peer.posts).toHaveLength(1);
  });

  it('insists on the ledger when it fails after the POST', async () => {
    let down = 3;
    const ledgerOf = faulty(rig.ports.ledger, 'settle', () => (down-- > 0 ? new Fault('UNAVAILABLE', 'down') : null));
    await rig.dispatcher({}, { ledger: ledgerOf });
    const debt = await rig.owe(invoke());
    await advance(10_000);
    expect(debt.paid).toBe(true);
    expect(peer.posts).toHaveLength(1);
  });
});

describe('a call that cannot be sent', () => {
  it.each([
    ['is not registered any more', async () => void (await rig.ports.toolServers.remove(key.tenant, 'weather'))],
  ])('R14 says so when the server %s', async (words, change) => {
    await change();
    await rig.dispatcher();
    expect(await rig.owe(invoke())).toEqual({ paid: true });
    expect(told()).toContain(words);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'DISPATCH_FAILED' }]);
    expect(peer.posts).toEqual([]);
  });

  it('says so when the manifest is gone', async () => {
    await rig.dispatcher();
    await rig.owe(invoke({ toolsetSha256: 'f'.repeat(64) }));
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'TOOLSET_INVALID' }]);
  });

  it.each([
    ['OUTBOUND_FORBIDDEN', 'OUTBOUND_FORBIDDEN'],
    ['SECRET_UNUSABLE', 'DISPATCH_FAILED'],
  ])('I-22 says so when the transport will not send it: %s', async (code, said) => {
    peer.answers = [broken(code, false)];
    await rig.dispatcher();
    await rig.owe(invoke());
    await advance(3_600_000);
    expect(peer.posts).toHaveLength(1);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: said }]);
  });

  it('is not decided by a store that fails: the debt stays', async () => {
    let down = true;
    const toolServers = faulty(rig.ports.toolServers, 'get', () => (down ? new Fault('UNAVAILABLE', 'down') : null));
    await rig.dispatcher({}, { toolServers });
    const debt = await rig.owe(invoke());
    expect([debt.paid, rig.inputs, await ledger()]).toEqual([false, [], null]);
    down = false;
    await advance(60_000);
    expect(debt.paid).toBe(true);
    expect(peer.posts).toHaveLength(1);
  });
});

describe('a toolset that has changed', () => {
  const next = {
    ...weather,
    toolset_version: '2',
    tools: [
      { name: 'forecast', description: 'The weather', inputSchema: { type: 'object', required: ['place'] } },
      { name: 'radar', description: '', inputSchema: {} },
    ],
  };

  it('R107 409: one POST, one GET, and an error that names the change', async () => {
    peer.answers = [status(409)];
    peer.manifest = next;
    await rig.dispatcher();
    await rig.owe(invoke());
    await advance(3_600_000);
    expect([peer.posts.length, peer.gets]).toEqual([1, ['https://weather.example/.well-known/rap-toolset']]);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'TOOLSET_CHANGED' }]);
    expect(told()).toContain('version "1" is now "2"; added: radar; changed: forecast');
    expect(told()).toContain('{"type":"object","required":["place"]}');
    expect(await ledger()).toBe('refused');
  });

  it('R107 the next call is decided on the new manifest and carries its version', async () => {
    peer.answers = [status(409), status(200)];
    peer.manifest = next;
    await rig.dispatcher();
    await rig.owe(invoke());
    await rig.owe({ do: 'LoadToolsets', id: 'ts:tsl_2', loadId: 'tsl_2', toolServers: ['weather'] });
    const loaded = rig.inputs.at(-1);
    const toolsetSha256 = loaded?.kind === 'ToolsetsResult' ? loaded.toolsets[0]?.sha256 : undefined;
    await rig.owe(invoke({ id: 'call_2', toolCallId: 'call_2', toolsetSha256 }));
    expect(peer.posts.map((post) => read(post).toolsetVersion)).toEqual(['1', '2']);
  });

  it('R107 says that the tool is gone', async () => {
    peer.answers = [status(409)];
    peer.manifest = { ...next, tools: next.tools.slice(1) };
    await rig.dispatcher();
    await rig.owe(invoke());
    expect(told()).toContain('added: radar; removed: forecast. There is no tool "forecast" any more');
  });

  it('R107 still answers when the new manifest cannot be had', async () => {
    peer.answers = [status(409)];
    peer.manifest = { ok: false, code: 'TOOLSET_UNREACHABLE', detail: 'nobody home' };
    await rig.dispatcher();
    await rig.owe(invoke());
    expect(told()).toContain('could not be read: nobody home');
    expect(peer.posts).toHaveLength(1);
  });
});

describe('at most once', () => {
  const once = invoke({ delivery: 'at_most_once' });

  it('I-07 claims, posts once, and is sent', async () => {
    await rig.dispatcher();
    expect(await rig.owe(once)).toEqual({ paid: true });
    expect(peer.posts).toHaveLength(1);
    expect(await rig.ports.ledger.read(key, 'call_1')).toMatchObject({ outcome: 'sent', nonce: expect.any(String) });
  });

  it.each([
    ['500', status(500)],
    ['a timeout', broken('TIMEOUT', true)],
    ['a broken connection', broken('ECONNRESET', true)],
  ])('I-07 %s: one POST, and after the grace the outcome is unknown', async (_what, answer) => {
    peer.answers = [answer, status(200)];
    await rig.dispatcher();
    const debt = await rig.owe(once);
    await advance(29_999);
    expect(rig.inputs).toEqual([]);
    await advance(1);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'unknown', code: 'OUTCOME_UNKNOWN' }]);
    expect([debt.paid, peer.posts.length, await ledger()]).toEqual([true, 1, 'unknown']);
  });

  it('does not count a connection that failed before a byte was sent', async () => {
    peer.answers = [broken('ECONNREFUSED', false), broken('ENOTFOUND', false), status(202)];
    await rig.dispatcher();
    const debt = await rig.owe(once);
    await advance(10_000);
    expect([debt.paid, peer.posts.length, await ledger()]).toEqual([true, 3, 'sent']);
    expect(rig.inputs).toEqual([]);
  });

  it('R6 tells the model of a 4xx at once', async () => {
    peer.answers = [status(403)];
    await rig.dispatcher();
    await rig.owe(once);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'error', code: 'DISPATCH_FAILED' }]);
  });

  it('V7 a claim of somebody who died: no POST, unknown only after a POST may take and the grace', async () => {
    await rig.ports.ledger.claim(key, 'call_1', 'of the dead', rig.clock.now());
    await rig.dispatcher();
    const debt = await rig.owe(once);
    await advance(49_999);
    expect(rig.inputs).toEqual([]);
    await advance(1);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'unknown', code: 'OUTCOME_UNKNOWN' }]);
    expect([debt.paid, peer.posts]).toEqual([true, []]);
  });

  it('V7 a claim of somebody who is alive after all: what he says counts', async () => {
    await rig.ports.ledger.claim(key, 'call_1', 'of another', rig.clock.now());
    await rig.dispatcher();
    const debt = await rig.owe(once);
    await advance(10_000);
    await rig.ports.ledger.settle(key, 'call_1', 'sent', null);
    await advance(60_000);
    expect([debt.paid, peer.posts, rig.inputs]).toEqual([true, [], []]);
  });

  it('V7 recognises its own claim after an outcome that was unknown', async () => {
    let lost = 1;
    const unheard = (): Error | null => (lost-- > 0 ? new Fault('UNKNOWN_OUTCOME', 'the answer was lost') : null);
    await rig.dispatcher({}, { ledger: faulty(rig.ports.ledger, 'claim', unheard, 'after') });
    const debt = await rig.owe(once);
    await advance(1_000);
    expect([debt.paid, peer.posts.length, await ledger()]).toEqual([true, 1, 'sent']);
  });

  it('dies between claim and answer: the next life waits and reports unknown, without a POST', async () => {
    peer.answers = [never];
    const first = await rig.dispatcher();
    await rig.owe(once);
    const stopped = first.stop(1_000);
    await advance(2_000);
    await stopped;
    peer.answers = [status(200)];
    await rig.dispatcher();
    const debt = await rig.owe(once);
    await advance(60_000);
    expect(failures()).toEqual([{ id: 'd:call_1', outcome: 'unknown', code: 'OUTCOME_UNKNOWN' }]);
    expect([debt.paid, peer.posts.length]).toEqual([true, 1]);
  });
});

describe('a call that is withdrawn', () => {
  const withdraw = { do: 'WithdrawCall', id: 'w:call_1', toolCallId: 'call_1' } as const;

  it('H9 V7 never begins when that came first', async () => {
    await rig.dispatcher();
    await rig.owe(withdraw);
    expect(await rig.owe(invoke())).toEqual({ paid: true });
    expect([peer.posts, rig.inputs, await ledger()]).toEqual([[], [], 'cancelled']);
  });

  it.each(['at_least_once', 'at_most_once'] as const)('H9 stops being repeated: %s', async (delivery) => {
    peer.answers = [broken('ECONNREFUSED', false)];
    await rig.dispatcher();
    const debt = await rig.owe(invoke({ delivery }));
    await advance(3_000);
    const made = peer.posts.length;
    expect(await rig.owe(withdraw)).toEqual({ paid: true });
    expect(debt.paid).toBe(true);
    await advance(3_600_000);
    expect([peer.posts.length, rig.inputs, await ledger()]).toEqual([made, [], 'cancelled']);
  });

  it('H9 stops when another process wrote it, before the next POST', async () => {
    peer.answers = [status(500)];
    await rig.dispatcher();
    const debt = await rig.owe(invoke());
    await advance(3_000);
    const made = peer.posts.length;
    await rig.ports.ledger.settle(key, 'call_1', 'cancelled', null);
    await advance(3_600_000);
    expect([debt.paid, peer.posts.length, rig.inputs]).toEqual([true, made, []]);
  });

  it('H9 never begins while it waits for its turn', async () => {
    peer.answers = [never];
    await rig.dispatcher({ perServerConcurrentMax: 1 });
    await rig.owe(invoke({ id: 'call_0', toolCallId: 'call_0' }));
    const debt = await rig.owe(invoke());
    await rig.owe(withdraw);
    expect([debt.paid, peer.posts.length, await ledger()]).toEqual([true, 1, 'cancelled']);
  });

  it('changes nothing when it was sent already', async () => {
    await rig.dispatcher();
    await rig.owe(invoke());
    expect(await rig.owe(withdraw)).toEqual({ paid: true });
    expect([peer.posts.length, await ledger()]).toEqual([1, 'sent']);
  });
});

describe('the span of a call', () => {
  const agent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const withdraw = { do: 'WithdrawCall', id: 'w:call_1', toolCallId: 'call_1' } as const;
  const spans = (): readonly unknown[] =>
    rig.spans.map(({ name, parentId, error, attributes }) => [
      ...[name, parentId === 'b'.repeat(16), error, attributes['dormouse.outcome']],
    ]);

  it('ends at the acknowledgement, and once: not again when the call comes again', async () => {
    await rig.dispatcher();
    await rig.owe(invoke(), { agent });
    expect(spans()).toEqual([['execute_tool forecast', true, null, 'sent']]);
    await rig.owe(invoke(), { agent });
    await advance(60_000);
    expect([spans().length, peer.posts.length]).toEqual([1, 1]);
  });

  it('ends at the withdrawal of a call that waits for its next attempt', async () => {
    peer.answers = [status(503)];
    await rig.dispatcher();
    await rig.owe(invoke(), { agent });
    expect(spans()).toEqual([]);
    await rig.owe(withdraw);
    await advance(0);
    expect(spans()).toEqual([['execute_tool forecast', true, 'cancelled', 'cancelled']]);
  });

  it('ends at the withdrawal of a call that is never begun', async () => {
    await rig.dispatcher();
    await rig.owe(withdraw);
    await rig.owe(invoke(), { agent });
    expect(spans()).toEqual([['execute_tool forecast', true, 'cancelled', 'cancelled']]);
  });

  it('does not end when the process does: the next one goes on', async () => {
    peer.answers = [status(503)];
    const first = await rig.dispatcher();
    await rig.owe(invoke(), { agent });
    const stopped = first.stop(1);
    await advance(10_000);
    await stopped;
    expect(spans()).toEqual([]);
  });
});

describe('one server among many', () => {
  it('I-20 a server that hangs holds up no call of another', async () => {
    const other = await rig.register('calm');
    peer.answers = [never];
    await rig.dispatcher({ perServerConcurrentMax: 2 });
    for (let index = 0; index < 50; index += 1)
      await rig.owe(invoke({ id: `call_h${index}`, toolCallId: `call_h${index}` }));
    expect(peer.posts).toHaveLength(2);
    const calm = { ...weather, endpoint: 'https://calm.example/invoke' };
    expect(await rig.owe(invoke({ toolServer: 'calm', toolsetSha256: await rig.store(calm) }))).toEqual({
      paid: true,
    });
    expect(other.posts).toHaveLength(1);
  });

  it('I-20 a server that keeps failing is asked by one call at a time, and all go when it is back', async () => {
    peer.answers = [status(500)];
    await rig.dispatcher();
    const debts: { paid: boolean }[] = [];
    for (let index = 0; index < 20; index += 1)
      debts.push(await rig.owe(invoke({ id: `call_${index}`, toolCallId: `call_${index}` })));
    await advance(30_000);
    const before = peer.posts.length;
    await advance(60_000);
    expect(peer.posts.length - before).toBeLessThan(12);
    peer.answers = [status(200)];
    await advance(100_000);
    expect(debts.every(({ paid }) => paid)).toBe(true);
    expect(rig.inputs).toEqual([]);
  });
});

describe('stopping', () => {
  it('lets a POST on its way finish and keeps the record', async () => {
    let answer: (outcome: ReturnType<typeof status>) => void = () => {};
    peer.answers = [new Promise((resolve) => (answer = resolve))];
    const dispatcher = await rig.dispatcher();
    await rig.owe(invoke());
    const stopped = dispatcher.stop(5_000);
    await advance(100);
    answer(status(200));
    await advance(0);
    await stopped;
    expect(await ledger()).toBe('sent');
  });

  it('ends a POST that takes too long, writes nothing any more, and leaves the debt', async () => {
    peer.answers = [never];
    const dispatcher = await rig.dispatcher();
    const debt = await rig.owe(invoke());
    const stopped = dispatcher.stop(5_000);
    await advance(5_000);
    await stopped;
    expect([debt.paid, await ledger(), await statuses(), rig.inputs]).toEqual([false, null, [], []]);
  });
});

describe('R15 the log of invocations', () => {
  it('has operation and outcome, and no arguments', async () => {
    await rig.dispatcher();
    await rig.owe(invoke());
    const line = rig.lines.find(({ event }) => event === 'tool_call_dispatched');
    expect(line?.fields).toMatchObject({ ...key, operation: 'forecast', toolServer: 'weather', outcome: 'sent' });
    expect(JSON.stringify(rig.lines)).not.toMatch(/Zürich|callback/);
  });
});

describe('a crowd of calls to a server that is away', () => {
  /** Places as a bus has them, over the memory bus. */
  const withPlaces = (max: number, isCrowded = false): { readonly work: WorkBus; readonly places: FairSemaphore } => {
    const places = createFairSemaphore(max);
    const { work } = rig.ports;
    const consume: WorkBus['consume'] = (topic, handle) =>
      work.consume(topic, (message) =>
        withPlace(places, placeKeyOf(message), (place) => handle(message, { ...place, isCrowded })),
      );
    return { work: { ...work, consume }, places };
  };
  const elsewhere = { ...weather, endpoint: 'https://healthy.example/rap/invoke' };
  const call = (toolServer: string, nth: number): InvokeTool => {
    const id = `call_${toolServer}${nth}`;
    const toolsetSha256 = sha256Of(toolServer === 'healthy' ? elsewhere : weather);
    return invoke({ id, toolCallId: id, toolServer, toolsetSha256 });
  };
  let healthy: Peer;
  beforeEach(async () => {
    healthy = await rig.register('healthy');
    await rig.store(elsewhere);
  });

  it.each([status(503), broken('ECONNREFUSED', false)])(
    'D6 holds no place while it waits: a healthy server is called, and a toolset loaded, at once (%o)',
    async (answer) => {
      const { work, places } = withPlaces(64);
      peer.answers = [answer];
      await rig.dispatcher({}, { work });
      for (let nth = 0; nth < 1_152; nth += 1) await rig.owe(call('weather', nth));
      await advance(100);
      expect(places.isFree).toBe(true);
      const postsBefore = peer.posts.length;
      await rig.owe(call('healthy', 1));
      await rig.owe({ do: 'LoadToolsets', id: 'tsl_1', loadId: 'tsl_1', toolServers: ['healthy'] });
      expect(healthy.posts).toHaveLength(1);
      expect(healthy.gets).toHaveLength(1);
      expect(peer.posts.length).toBe(postsBefore);
    },
  );

  it('D6 a server that hangs keeps as many places as it may have POSTs, and calls of others take turns with its calls', async () => {
    const { work } = withPlaces(64);
    peer.answers = [never];
    await rig.dispatcher({ perServerConcurrentMax: 16 }, { work });
    for (let nth = 0; nth < 200; nth += 1) await rig.owe(call('weather', nth));
    expect(peer.posts).toHaveLength(16);
    await rig.owe(call('healthy', 1));
    expect(healthy.posts).toHaveLength(1);
  });

  it('D6 takes at most as much room as it leaves free; a call beyond that is refused, and the model is told', async () => {
    peer.answers = [never];
    await rig.dispatcher({ callsHeldMax: 100, perServerConcurrentMax: 4 });
    for (let nth = 0; nth < 60; nth += 1) await rig.owe(call('weather', nth));
    expect(rig.inputs).toHaveLength(10);
    expect(rig.inputs[0]).toMatchObject({ kind: 'DispatchFailure', code: 'DISPATCH_FAILED' });
    expect(told()).toContain('too many calls are waiting for tool server "weather"');
    await rig.owe(call('healthy', 1));
    expect(healthy.posts).toHaveLength(1);
  });

  it('T6 a call of a tenant that has too many waiting is refused, and nothing is sent', async () => {
    const { work } = withPlaces(64, true);
    await rig.dispatcher({}, { work });
    await rig.owe(call('weather', 1));
    expect([peer.posts.length, rig.inputs]).toMatchObject([0, [{ kind: 'DispatchFailure', code: 'DISPATCH_FAILED' }]]);
  });

  it('D6 a call whose turn has come and that still waits for a place does not begin once the process stops', async () => {
    const { work } = withPlaces(2);
    const [first, other] = [Promise.withResolvers<SendOutcome>(), Promise.withResolvers<SendOutcome>()];
    peer = await rig.register('third', { baseUrl: 'https://weather.example' });
    peer.answers = [first.promise, never];
    healthy.answers = [other.promise];
    const dispatcher = await rig.dispatcher({ perServerConcurrentMax: 1 }, { work });
    await rig.owe(call('weather', 1));
    await rig.owe(call('weather', 2)); // at the gate, aside
    await rig.owe(call('healthy', 1));
    await rig.owe(call('third', 1)); // both places are taken
    first.resolve(status(200));
    await advance(0);
    const stopped = dispatcher.stop(5_000);
    other.resolve(status(200));
    await advance(10_000);
    await stopped;
    expect(peer.posts.map((post) => read(post).id)).toEqual(['call_weather1', 'call_third1']);
  });

  it('D6 loads of toolsets from a server that hangs leave places for everybody else', async () => {
    const { work } = withPlaces(64);
    const other = await rig.register('hanging');
    rig.world.durable.network.set('https://hanging.example', {
      post: () => never,
      get: ({ url }) => {
        other.gets.push(url);
        return new Promise(() => {});
      },
    });
    await rig.dispatcher({}, { work });
    for (let nth = 0; nth < 200; nth += 1)
      await rig.owe({ do: 'LoadToolsets', id: `tsl_${nth}`, loadId: `tsl_${nth}`, toolServers: ['hanging'] });
    await rig.owe(call('healthy', 1));
    expect([healthy.posts.length, other.gets.length]).toEqual([1, 16]);
  });

  it('D6 a migration that waits for the outcome of another process holds no place', async () => {
    const { work, places } = withPlaces(1);
    peer.manifest = { ...weather, needsMigration: true };
    (await rig.register('moved')).manifest = weather;
    await rig.dispatcher({}, { work });
    await rig.ports.ledger.claim(key, 'mig_1:weather', 'of another', rig.clock.now());
    const toolServers = { weather: 'https://moved.example' };
    await rig.owe({ do: 'MigrateToolServers', id: 'mig_1', migrationId: 'mig_1', session: 's', toolServers });
    expect([places.isFree, rig.inputs]).toEqual([true, []]);
    await rig.ports.ledger.settle(key, 'mig_1:weather', 'sent', null);
    await advance(2_000);
    expect(rig.inputs).toMatchObject([{ kind: 'MigrationResult', migrated: ['weather'] }]);
  });

  it('D4 ends every call with its schedule, also those that the breaker held back all the time', async () => {
    peer.answers = [status(503)];
    await rig.dispatcher();
    const debts: { paid: boolean }[] = [];
    for (let nth = 0; nth < 200; nth += 1) debts.push(await rig.owe(call('weather', nth)));
    await advance(1_200_001); // so long after the first attempt, which may come so long after the call
    expect(debts.filter(({ paid }) => !paid)).toHaveLength(0);
    expect(new Set(failures().map((failure) => JSON.stringify(failure))).size).toBe(200);
    expect(told()).toContain('it keeps failing');
  });
});
