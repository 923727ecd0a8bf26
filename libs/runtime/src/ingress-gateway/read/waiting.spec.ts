import type { Attempt, Stores } from '@dormouse/ports';
import { defaultLimits, defaultPolicies, type ThreadEvent } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { encodeSnapshot, loadThread, snapshotShape } from '../../log/thread-reader.ts';
import { key, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';

type Counted = Pick<Stores, 'log' | 'snapshots' | 'directory' | 'parked' | 'ledger' | 'feed'>;

interface Watched extends IngressRig {
  readonly position: () => Promise<number>;
  /** The sentence, and the reads that its thread cost. */
  ask(at?: number): Promise<{ readonly waiting: string | null; readonly reads: readonly string[] }>;
}

async function watched(): Promise<Watched> {
  const at = ingressRig();
  const { ports, clock } = at;
  await ports.directory.insert({
    ...{ ...key, status: 'idle', agent: 'helper', agentVersion: 1, parent: null, family: key.thread, userId: null },
    ...{ externalId: null, title: null, metadata: {}, createdAt: clock.now(), updatedAt: clock.now(), position: 0 },
    opening: null,
  });
  await at.commit(key, [opened]);
  const reads: string[] = [];
  const { log, snapshots, directory, parked, ledger, feed } = ports;
  const counting = <Name extends keyof Counted>(name: Name, port: Counted[Name]): Counted[Name] =>
    new Proxy(port, {
      get: (target, method) => {
        reads.push(`${name}.${String(method)}`);
        return Reflect.get(target, method);
      },
    });
  const ingress = at.ingressWith({
    log: counting('log', log),
    snapshots: counting('snapshots', snapshots),
    directory: counting('directory', directory),
    parked: counting('parked', parked),
    ledger: counting('ledger', ledger),
    feed: counting('feed', feed),
  });
  return {
    ...at,
    position: async () => (await loadThread(ports, key)).thread.position,
    async ask(position) {
      reads.length = 0;
      const answer = await ingress.threads.get(key, position);
      if (!answer.ok) throw new Error('the thread is not there');
      return { waiting: answer.value.waiting, reads: [...reads] };
    },
  };
}

const opened: ThreadEvent = {
  ...{ type: 'ThreadOpened', agent: { name: 'helper', version: 1 }, model: 'm', toolServers: [], userId: null },
  ...{ title: null, policies: defaultPolicies, limits: defaultLimits },
};
const requested = (toolCallId: string, operation = 'deploy', args = {}): ThreadEvent => ({
  ...{ type: 'ToolCallRequested', toolCallId, operation, toolServer: 'weather-tools', arguments: args },
  ...{ argumentsHash: '', providerCallId: toolCallId },
});
const settled = (toolCallId: string): ThreadEvent => ({
  ...{ type: 'ToolCallSettled', toolCallId, outcome: 'result', content: [{ type: 'text', text: 'done' }] },
});
const asked: ThreadEvent = { type: 'CompletionRequested', completionId: 'cmp_1', model: 'm' };
/** The model's answer that requests calls. */
const recorded: ThreadEvent = {
  ...{ type: 'CompletionRecorded', completionId: 'cmp_1', message: { text: '' }, finishReason: 'tool_calls' },
  ...{ usage: { inputTokens: 1, outputTokens: 1 }, interrupted: false, final: false },
};
const attempt = (toolCallId: string, at: number): Attempt => ({
  ...{ toolCallId, number: 1, at, status: 202, durationMs: 12 },
});

const always = ['directory.get', 'snapshots.latest', 'log.read'];

describe('GET of a thread: what it waits for, and what that reads', () => {
  it('reads nothing more for a thread that is idle, asks the model, or waits for a person or a time', async () => {
    const at = await watched();
    expect(await at.ask()).toEqual({ waiting: null, reads: always });
    await at.commit(key, [asked]);
    const { waiting, reads } = await at.ask();
    expect(waiting).toBe('waiting 0 ms for the answer of the model (m)');
    expect(reads).toEqual([...always, 'feed.retrying', 'feed.soFar']);
    const choice: ThreadEvent = {
      ...{ type: 'ChoiceRequested', choiceId: 'chc_1', kind: 'approval', toolCallId: 'call_1', prompt: '?' },
      ...{ choices: ['allow', 'deny'], default: 1, expiresAt: 1 },
    };
    await at.commit(key, [recorded, requested('call_1'), choice]);
    await at.clock.advance(61_000);
    expect(await at.ask()).toEqual({
      waiting: 'waiting 1 min 1 s for a person to allow `call_1` (deploy) at weather-tools',
      reads: always,
    });
    const due = at.clock.now() + 3_600_000;
    await at.commit(key, [settled('call_1'), { type: 'TimerSet', timerId: 'tmr_1', due, reason: 'sleep' }]);
    const asleep = await at.ask();
    expect(asleep.waiting).toMatch(/^sleeping until \w+ \d\d:\d\d UTC \(in 1 h\)$/);
    expect(asleep.reads).toEqual(always);
  });

  it('reads the attempts of the call that it waits for, and measures the calls before on what it has read', async () => {
    const at = await watched();
    for (const [id, seconds] of [
      ['call_1', 40],
      ['call_2', 10],
      ['call_3', 90],
    ] as const) {
      await at.commit(key, [asked, recorded, requested(id)]);
      await at.clock.advance(seconds * 1_000);
      await at.commit(key, [settled(id)]);
    }
    await at.commit(key, [asked, recorded, requested('call_4'), requested('call_5', 'other')]);
    await at.ports.ledger.settle(key, 'call_4', 'sent', null, attempt('call_4', at.clock.now()));
    await at.clock.advance(3 * 3_600_000 + 12 * 60_000);
    expect(await at.ask()).toEqual({
      waiting:
        'waiting 3 h 12 min for `call_4` (deploy) at weather-tools: ' +
        'acknowledged in 12 ms, no result since; usual time 40 s; and 1 more',
      reads: [...always, 'ledger.attempts'],
    });
  });

  it('says no usual time of calls that asked a person, that failed, or that only a snapshot knows', async () => {
    const at = await watched();
    const login: ThreadEvent = { type: 'OauthRequested', toolCallId: 'call_1', expiresAt: 1 };
    await at.commit(key, [asked, recorded, requested('call_1'), login]);
    await at.commit(key, [settled('call_1'), asked, recorded, requested('call_2')]);
    await at.commit(key, [
      { ...settled('call_2'), outcome: 'error' } as ThreadEvent,
      asked,
      recorded,
      requested('call_3'),
    ]);
    const waiting = 'waiting 0 ms for `call_3` (deploy) at weather-tools: not acknowledged yet';
    expect((await at.ask()).waiting).toBe(waiting);
    await at.commit(key, [settled('call_3'), asked, recorded, requested('call_4')]);
    const measured = waiting.replace('call_3', 'call_4');
    expect((await at.ask()).waiting).toBe(`${measured}; the last such call took 0 ms`);
    const { thread, tail, lastHash } = await loadThread(at.ports, key);
    const state = encodeSnapshot({ thread, tail, lastHash });
    await at.ports.snapshots.put(key, { version: thread.position, shape: snapshotShape, state });
    expect((await at.ask()).waiting).toBe(measured);
  });

  it('ends a sleep in the offset that the call named', async () => {
    const at = await watched();
    const due = Math.floor(at.clock.now() / 1_000) * 1_000 + 2 * 3_600_000;
    const sleep: ThreadEvent = { type: 'TimerSet', timerId: 'tmr_1', due, reason: 'sleep' };
    const named = `${new Date(due + 5.5 * 3_600_000).toISOString().slice(0, 19)}+0530`;
    await at.commit(key, [asked]);
    await at.commit(key, [
      recorded,
      { ...requested('call_1', 'sleep_until', { at: named }), toolServer: null } as ThreadEvent,
    ]);
    await at.commit(key, [settled('call_1'), sleep]);
    const { waiting, reads } = await at.ask();
    expect(waiting).toMatch(new RegExp(`^sleeping until \\w+ ${named.slice(11, 16)} \\+05:30 \\(in `));
    expect(reads).toEqual(always);
  });

  it('reads the mark of a parked thread, and shows of its reason no more than code and attempts', async () => {
    const at = await watched();
    await at.commit(key, [asked, recorded, requested('call_1')]);
    const position = await at.position();
    await at.ports.parked.park(key, 'after 5 attempts: cannot decide "swordfish"', at.clock.now());
    await at.ports.directory.project([{ ...key, status: 'parked', title: null, updatedAt: at.clock.now(), position }]);
    await at.clock.advance(7_000);
    expect(await at.ask()).toEqual({
      waiting: 'parked after 5 attempts, 7 s ago: an input that fails every time; next: `dormouse parked show thr_1`',
      reads: [...always, 'parked.get'],
    });
  });

  it('says nothing about a past position', async () => {
    const at = await watched();
    await at.commit(key, [asked, recorded, requested('call_1')]);
    expect(await at.ask(await at.position())).toEqual({ waiting: null, reads: always });
  });
});
