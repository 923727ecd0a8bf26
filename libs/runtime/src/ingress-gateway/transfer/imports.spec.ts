import { createHash } from 'node:crypto';
import { createSeededEntropy } from '@dormouse/adapter-memory';
import { tenantId, type Commit, type InputDelivery, type ThreadKey } from '@dormouse/ports';
import { defaultLimits, defaultPolicies, type ThreadEvent } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { chainHash, openCommit, sealCommit } from '../../log/envelope.ts';
import { nameOfText, publicId } from '../access/client-id.ts';
import { unlimited } from '../../tenants/tenant-limits.ts';
import { createImportApi } from './imports.ts';
import { spoken, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';

const acme = tenantId('acme');

const opened: ThreadEvent = {
  type: 'ThreadOpened',
  agent: { name: 'helper', version: 1 },
  model: 'demo',
  toolServers: ['tools'],
  policies: defaultPolicies,
  limits: defaultLimits,
  userId: null,
  title: null,
};
const elsewhere: ThreadKey = { tenant: tenantId('elsewhere'), thread: 'thr_there' };

/** What another installation exported: one commit per event. */
function exported(events: readonly ThreadEvent[], thread = elsewhere.thread): Commit[] {
  const commits: Commit[] = [];
  for (const [version, event] of events.entries()) {
    const recorded = { ...event, turnId: 'turn', cause: { kind: 'request', id: 'req_1' } } as const;
    const effects = [{ do: 'SetTimer', id: `tmr_${version}`, timerId: `tmr_${version}`, due: 1 }] as const;
    const rest = { inputs: [`c:${version}`], at: 1_000 + version, nonce: `n${version}`, trace: null };
    const prev = commits.at(-1)?.hash ?? '';
    commits.push(sealCommit({ key: { ...elsewhere, thread }, version, ...rest, prev, events: [recorded], effects }));
  }
  return commits;
}

/** The events of several commits as the first one of a thread. */
function sealedOf(commits: readonly Commit[], thread: string): Commit {
  const events = commits.flatMap((commit) => openCommit(commit).events);
  const rest = { inputs: ['c:0'], at: 1_000, nonce: 'n0', trace: null, prev: '', effects: [] };
  return sealCommit({ key: { ...elsewhere, thread }, version: 0, events, ...rest });
}

async function installation(): Promise<IngressRig> {
  const at = ingressRig();
  await at.ingress.agents.create(acme, 'helper', {
    instructions: '',
    model: {
      provider: 'demo',
      name: '',
      baseUrl: null,
      apiKeySecret: null,
      parameters: {},
      contextWindowTokens: 1_000,
      outputTokensMax: null,
      images: false,
    },
    toolServers: [],
    policies: defaultPolicies,
    limits: defaultLimits,
  });
  return at;
}

const whole = exported([opened, spoken('a'), spoken('b'), spoken('c')]);
const headOf = (commits: readonly Commit[]): string => commits.at(-1)?.hash ?? '';

interface Sent {
  readonly of?: string;
  readonly origin?: string | null;
  readonly last?: boolean;
}

const take = (
  at: IngressRig,
  commits: readonly Commit[],
  { of = headOf(whole), origin = null, last = false }: Sent = {},
) => at.ingress.imports.take(acme, { of, origin, commits, last });
const detailOf = (answer: Awaited<ReturnType<typeof take>>): string =>
  answer.ok ? 'taken' : (answer.refusal.errors?.[0]?.detail ?? '');
const threadOf = (answer: Awaited<ReturnType<typeof take>>): string => (answer.ok ? answer.value.thread : '');
const rows = async (at: IngressRig) => (await at.ports.directory.list(acme, {}, { limit: 10, cursor: null })).data;
const eventsOf = async (at: IngressRig, thread: string) =>
  (await at.ports.log.read({ tenant: acme, thread }, 0)).flatMap((commit) => openCommit(commit).events);

it('M1 M2 parts follow each other; one that was sent before changes nothing', async () => {
  const at = await installation();
  const first = await take(at, whole.slice(0, 2));
  await take(at, whole.slice(0, 3));
  const last = await take(at, whole.slice(2));
  expect(last).toEqual(await take(at, whole.slice(2)));
  expect([first, last]).toMatchObject([{ value: { position: 2 } }, { value: { position: 4 } }]);
  const stored = await at.ports.log.read({ tenant: acme, thread: threadOf(last) }, 0);
  expect(stored.map(({ version, at: time, inputs }) => [version, time, inputs])).toEqual(
    whole.map(({ version, at: time, inputs }) => [version, time, inputs]),
  );
  for (const [place, commit] of stored.entries()) {
    expect(commit.hash).toBe(chainHash(commit));
    expect(commit.prev).toBe(stored[place - 1]?.hash ?? '');
    expect(commit.body).toContain('"effects":[]'); // (M2)
  }
});

it('M3 nobody sees a thread before its last part, which closes it; twice is once, and no tool server hears of it', async () => {
  const at = await installation();
  expect(detailOf(await take(at, whole.slice(0, 2), { last: true }))).toBe('is not the part that ends this thread');
  const begun = await take(at, whole.slice(0, 2));
  expect(await at.ingress.threads.get({ tenant: acme, thread: threadOf(begun) })).toMatchObject({ ok: false });
  const ended = await take(at, whole.slice(2), { last: true });
  expect(await take(at, whole, { last: true })).toEqual(ended);
  expect(await rows(at)).toMatchObject([
    { thread: threadOf(begun), status: 'closed', position: 5, family: threadOf(begun) },
  ]);
  const stored = await at.ports.log.read({ tenant: acme, thread: threadOf(ended) }, 0);
  expect(openCommit(stored[4] as Commit)).toMatchObject({ events: [{ type: 'ThreadClosed' }], effects: [] });
  expect(stored).toHaveLength(5);
});

it('M1 M2 parts of two files do not make one thread', async () => {
  const at = await installation();
  const other = exported([opened, spoken('a'), spoken('x'), spoken('c')]);
  await take(at, whole.slice(0, 3));
  expect(detailOf(await take(at, other.slice(3)))).toBe('does not follow what is here');
  expect(detailOf(await take(at, other.slice(2)))).toBe('is not the one that is here');
  expect(detailOf(await take(at, whole.slice(3), { last: true }))).toBe('taken');
  expect(detailOf(await take(at, other.slice(3)))).toBe('is not the one that is here');
});

it('M1 what was exported later is another thread', async () => {
  const at = await installation();
  const early = await take(at, whole.slice(0, 3), { of: headOf(whole.slice(0, 3)), last: true });
  const late = await take(at, whole, { last: true });
  expect(threadOf(early)).not.toBe(threadOf(late));
  expect(await rows(at)).toHaveLength(2);
});

it('M2 M4 what is altered, missing, out of order or not here is refused, and nothing of it is seen', async () => {
  const at = await installation();
  const [first, second, third] = whole;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are four');
  const altered = { ...second, body: second.body.replace('"a"', '"x"') };
  expect(detailOf(await take(at, [first, altered]))).toBe('does not have the hash that it says');
  expect(detailOf(await take(at, [first, third]))).toBe('does not follow the commit before');
  expect(detailOf(await take(at, [second]))).toBe('does not follow what is here, which ends at 0');
  const [headless] = exported([spoken('a')]);
  if (headless === undefined) throw new Error('there is one');
  expect(detailOf(await take(at, [headless]))).toBe('is not the first commit of a thread');
  const [unknown] = exported([{ ...opened, agent: { name: 'helper', version: 9 } }]);
  if (unknown === undefined) throw new Error('there is one');
  expect(detailOf(await take(at, [unknown]))).toContain('needs the agent helper, version 9');
  expect(await rows(at)).toEqual([]);
});

/** A file that was never exported: its hashes hold. */
const forged = (...events: readonly object[]): Commit[] => exported(events as ThreadEvent[]);
const events = (body: unknown): Commit[] => {
  const [first] = whole;
  if (first === undefined) throw new Error('there is one');
  const commit = { ...first, body: typeof body === 'string' ? body : JSON.stringify(body) };
  return [{ ...commit, hash: chainHash(commit) }];
};
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}7${']'.repeat(levels)}`) as unknown;
const from = { threadId: elsewhere.thread, position: 2 };
const spawnedBy = { kind: 'call', toolCallId: 'call_1' } as const;
const child = { ...opened, parent: from, ancestors: ['thr_there'], spawnedBy };

it.each([
  ['holds no events', events(null)],
  ['holds no events', events({ events: 7, effects: [] })],
  ['holds events that nobody could read', events({ events: [null], effects: [] })],
  ['does not hold as many events as it says', events({ events: [], effects: [] })],
  ['holds events that nobody could read', events(`{"events":${'['.repeat(50_000)}{"\\u0061":1}${']'.repeat(50_000)}}`)],
  ['is not the first commit of a thread', forged({ ...opened, ancestors: ['thr_other'] })],
  ['begins a thread that has begun', forged(opened, { ...opened, parent: from, ancestors: [], spawnedBy })],
  ['begins a thread that has begun', forged(opened, { type: 'ThreadForked', from, askAgain: false })],
  ['begins in two other threads', [sealedOf(forged(child, { type: 'ThreadForked', from, askAgain: false }), 'thr_1')]],
  ['holds events that nobody could read', forged({ ...opened, agent: undefined })],
  ['holds events that nobody could read', forged({ ...opened, agent: { name: 7, version: 'x' } })],
  ['holds events that nobody could read', forged({ ...opened, policies: 7 })],
  ['holds events that nobody could read', forged({ ...opened, parent: 'thr_1' })],
  ['holds events that nobody could read', forged({ ...child, parent: { threadId: 'thr_1', position: 0 } })],
  ['holds events that nobody could read', forged({ ...child, parent: { threadId: 'thr_1', position: -1 } })],
  ['holds events that nobody could read', forged(opened, { type: 'Nonsense' })],
  ['holds events that nobody could read', forged(opened, { type: 'constructor' })],
  ['holds events that nobody could read', forged(opened, { ...spoken('a'), content: [7] })],
  ['holds events that nobody could read', forged(opened, { ...spoken('a'), content: [{ type: 'text' }] })],
  ['holds events that nobody could read', forged(opened, { ...spoken('a'), messageId: '__proto__' })],
  ['holds events that nobody could read', forged(opened, { ...spoken('a'), more: nested(60) })],
  ['holds events that nobody could read', forged(opened, { ...spoken('a'), more: nested(1_000) })],
  ['holds events that nobody could read', forged(opened, { type: 'MessageAccepted', messageId: 'msg_1', content: 7 })],
  ['holds events that nobody could read', forged(opened, { type: 'ToolCallRequested', toolCallId: 'tcl_1' })],
  ['holds events that nobody could read', forged(opened, { type: 'TimerSet', due: 1e300 })],
])('M5 what is forged is refused before it is stored: %s', async (detail, commits) => {
  const at = await installation();
  const of = headOf(commits);
  expect(detailOf(await take(at, commits, { of, last: true }))).toBe(detail);
  expect(await rows(at)).toEqual([]);
  const thread = publicId('thr', nameOfText(JSON.stringify(['acme', 'import', of])));
  expect(await at.ports.log.head({ tenant: acme, thread })).toBeNull();
});

it('M1 M2 says what the store did not take', async () => {
  const at = await installation();
  const [first, second] = whole;
  if (first === undefined || second === undefined) throw new Error('there are four');
  const again = { ...second, inputs: first.inputs };
  const twice = [first, { ...again, hash: chainHash(again) }];
  expect(detailOf(await take(at, twice, { of: headOf(twice) }))).toBe('decides what a commit before it has decided');
  const [both] = await Promise.all([take(at, whole), take(at, whole)]);
  expect(detailOf(both)).toBe('taken');
});

it('M5 each part begins where the one before ended, without folding it again', async () => {
  const at = await installation();
  const begun = await take(at, whole.slice(0, 3));
  const snapshot = await at.ports.snapshots.latest({ tenant: acme, thread: threadOf(begun) });
  expect(snapshot).toMatchObject({ version: 3 });
});

it('M4 a blob comes before the commit that refers to it, and has the hash that it says', async () => {
  const at = await installation();
  const bytes = new TextEncoder().encode('a picture');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const image = { type: 'image', mediaType: 'image/png', blob: sha256 } as const;
  const picture = exported([opened, { type: 'MessageAccepted', messageId: 'msg_1', content: [image] }]);
  const sent = { of: headOf(picture), last: true };
  expect(detailOf(await take(at, picture, sent))).toContain(`needs the blob ${sha256}`);
  const blob = { sha256, mediaType: 'image/png', bytes };
  expect(await at.ingress.imports.takeBlob(acme, { ...blob, sha256: 'e'.repeat(64) })).toMatchObject({
    refusal: { errors: [{ pointer: '/data', detail: 'does not have the hash that it says' }] },
  });
  expect(await at.ingress.imports.takeBlob(acme, blob)).toMatchObject({ ok: true });
  expect(detailOf(await take(at, picture, sent))).toBe('taken');
});

it('M4 what looks like a blob in the arguments of a call is none', async () => {
  const at = await installation();
  const image = { type: 'image', mediaType: 'image/png', blob: 'e'.repeat(64) };
  const usage = { inputTokens: 1, outputTokens: 1 };
  const finished = { finishReason: 'tool_calls', usage, interrupted: false, final: false };
  const called = { toolServer: null, argumentsHash: '', providerCallId: '' };
  const round = { type: 'CompletionRecorded', completionId: 'cmp_1', message: { text: '' }, ...finished };
  const asked = { type: 'ToolCallRequested', toolCallId: 'call_1', operation: 'draw', arguments: { image }, ...called };
  expect(detailOf(await take(at, forged(opened, round, asked)))).toBe('taken');
});

it('M3 M4 a fork comes after the thread that it was forked from, and refers to it by its id here', async () => {
  const at = await installation();
  const inherited = whole.slice(0, 2);
  const origin = headOf(inherited);
  const fork = exported([opened, { type: 'ThreadForked', from, askAgain: false }, spoken('d')], 'thr_fork');
  const both = [sealedOf(fork, 'thr_fork')];
  const sent = { of: headOf(both), origin, last: true };
  expect(detailOf(await take(at, both, { ...sent, origin: null }))).toContain('and no origin is given');
  expect(detailOf(await take(at, both, sent))).toContain('2 events must be here first');
  expect(detailOf(await take(at, whole, { of: headOf(whole), origin }))).toContain('begins in no other thread');
  const there = await take(at, inherited, { of: origin });
  expect(await rows(at)).toEqual([]);
  const here = await take(at, both, sent);
  expect(await take(at, both, sent)).toEqual(here);
  const seen = Object.fromEntries((await rows(at)).map(({ thread, status, parent }) => [thread, { status, parent }]));
  const closed = { status: 'closed', parent: null };
  expect(seen).toEqual({ [threadOf(there)]: closed, [threadOf(here)]: closed });
  expect((await eventsOf(at, threadOf(here)))[1]).toMatchObject({ from: { threadId: threadOf(there), position: 2 } });
  const read = await at.ingress.readable.list({ tenant: acme, thread: threadOf(here) }, { limit: 9, cursor: null });
  expect(read).toMatchObject({ value: { data: [{ text: 'a', threadId: threadOf(there) }, { text: 'd' }] } });
});

it('M4 a child comes after its parent, in the family of the parent', async () => {
  const at = await installation();
  const origin = headOf(whole);
  const childs = exported([child as ThreadEvent, spoken('d')], 'thr_child');
  const parent = await take(at, whole);
  const here = await take(at, childs, { of: headOf(childs), origin, last: true });
  expect((await rows(at)).find(({ thread }) => thread === threadOf(here))).toMatchObject({
    ...{ status: 'closed', parent: threadOf(parent), family: threadOf(parent) },
  });
  expect((await eventsOf(at, threadOf(here)))[0]).toMatchObject({
    ...{ parent: { threadId: threadOf(parent), position: 2 }, ancestors: [threadOf(parent)] },
  });
  expect(await eventsOf(at, threadOf(parent))).toHaveLength(5); // closed itself, and got no report of the child
});

it('M2 nobody goes back in time', async () => {
  const at = await installation();
  const [first, second] = whole;
  if (first === undefined || second === undefined) throw new Error('there are four');
  const before = { ...second, at: first.at - 1 };
  const earlier = [first, { ...before, hash: chainHash(before) }];
  expect(detailOf(await take(at, earlier, { of: headOf(earlier) }))).toBe('was decided before the commit before it');
  const [late] = exported([opened]);
  if (late === undefined) throw new Error('there is one');
  for (const when of [-1, 8_640_000_000_000_001]) {
    const commit = { ...late, at: when };
    const never = [{ ...commit, hash: chainHash(commit) }];
    expect(detailOf(await take(at, never, { of: headOf(never) }))).toBe('holds events that nobody could read');
  }
});

it('M1 the same part at the same moment is taken twice, whatever comes between two reads of the other', async () => {
  for (let turn = 0; turn < 6; turn += 1) {
    const at = await installation();
    let reads = 0;
    let others = 0;
    const meanwhile = async (): Promise<void> => {
      reads += 1;
      if (reads - 1 !== turn) return;
      others += 1;
      expect(detailOf(await take(at, whole))).toBe('taken');
    };
    const { log, agents, blobs, directory, snapshots } = at.ports;
    const api = createImportApi({
      ...{ agents, blobs, directory, snapshots, clock: at.clock, entropy: createSeededEntropy(1) },
      limits: unlimited,
      log: {
        append: (group) => meanwhile().then(() => log.append(group)),
        read: (key, start, limit) => meanwhile().then(() => log.read(key, start, limit)),
        at: (key, position) => meanwhile().then(() => log.at(key, position)),
        head: (key) => meanwhile().then(() => log.head(key)),
        findByInputs: (key, inputs) => log.findByInputs(key, inputs),
      },
    });
    const part = { of: headOf(whole), origin: null, last: false };
    await take(at, whole.slice(0, 1));
    expect(detailOf(await api.take(acme, { ...part, commits: whole.slice(1) }))).toBe('taken');
    expect(others).toBe(reads > turn ? 1 : 0);
  }
});

it('M3 M4 a thread goes on from one that is here to its end, and always from the same', async () => {
  const at = await installation();
  const both = [sealedOf(exported([opened, { type: 'ThreadForked', from, askAgain: false }]), 'thr_fork')];
  const sent = { of: headOf(both), origin: headOf(whole) };
  await take(at, whole.slice(0, 3));
  expect(detailOf(await take(at, both, { ...sent, last: true }))).toContain('2 events must be here first');
  await take(at, whole);
  expect(detailOf(await take(at, both, sent))).toBe('taken');
  const shorter = whole.slice(0, 3);
  await take(at, shorter, { of: headOf(shorter) });
  expect(detailOf(await take(at, both, { ...sent, origin: headOf(shorter) }))).toBe('begins here in another thread');
  expect(detailOf(await take(at, both, { ...sent, origin: sent.of }))).toBe('begins here in another thread');
  expect(detailOf(await take(at, both, { ...sent, last: true }))).toBe('taken');
  const other = [sealedOf(exported([opened, { type: 'ThreadForked', from, askAgain: true }]), 'thr_fork')];
  expect(detailOf(await take(at, other, { of: headOf(other), origin: headOf(whole) }))).toBe('taken'); // now closed
});

it.each([
  ['timers', (n: number): object => ({ type: 'TimerSet', timerId: `tmr_${n}`, due: 1, reason: 'sleep' })],
  ['messages', (n: number): object => spoken(`${n}`)],
])('F1 F2 a history with more %s than a thread may have is refused before it costs much', async (_what, make) => {
  const at = await installation();
  const commits = [sealedOf(forged(opened, ...Array.from({ length: 30_000 }, (_, n) => make(n))), 'thr_1')];
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  expect(detailOf(await take(at, commits, { of: headOf(commits) }))).toBe('holds events that nobody could read');
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
});

it('T3 a fork lives with what its agent is here, whatever the file says', async () => {
  const at = await installation();
  const arrived: InputDelivery[] = [];
  await at.ports.inputs.consume({
    assigned: () => {},
    revoked: () => Promise.resolve(),
    busy: () => false,
    deliver: (_assignment, delivery) => {
      if (delivery.what === 'input') arrived.push(delivery);
      delivery.decided(0);
      delivery.release();
    },
  });
  const policies = { ...defaultPolicies, approve: { mode: 'none', tools: {} } };
  const limits = { ...defaultLimits, completionsPerWakeMax: 1_000_000 };
  const hostile = forged({ ...opened, policies, limits, toolServers: ['payments'] }, spoken('pay them'));
  const thread = threadOf(await take(at, hostile, { of: headOf(hostile), last: true }));
  const origin = { tenant: acme, method: 'POST', path: `/v1/threads/${thread}/fork`, idempotencyKey: null };
  const fork = await at.ingress.threads.fork({ tenant: acme, thread }, { position: 2, askAgain: true }, origin);
  expect(fork).toMatchObject({ ok: true });
  expect(arrived).toMatchObject([
    {
      input: {
        agent: { name: 'helper', version: 1, toolServers: [], policies: defaultPolicies, limits: defaultLimits },
        fork: { from: { threadId: thread, position: 2 } },
      },
    },
  ]);
  await at.ports.agents.remove(acme, 'helper');
  const late = await at.ingress.threads.fork({ tenant: acme, thread }, { position: 2, askAgain: true }, origin);
  expect(late).toMatchObject({ ok: false, refusal: { code: 'INVALID_BODY' } });
});
