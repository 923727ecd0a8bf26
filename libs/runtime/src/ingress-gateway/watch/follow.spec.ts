import { plainSealer, settle } from '@dormouse/adapter-memory';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import type { Retrying } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createFollowApi, type Frame } from './follow.ts';
import { followCommits, holdHints, type Followed, openHints } from './follow-commits.ts';
import { key, spoken, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';

/** Reads a stream in the background; `seen` grows. */
function reading(at: IngressRig, after: number): { readonly seen: Followed[]; readonly stop: () => void } {
  const stop = new AbortController();
  const seen: Followed[] = [];
  void (async () => {
    const ports = { ...at.ports, clock: at.clock };
    const hints = await holdHints(ports, key, stop.signal);
    for await (const item of followCommits(ports, key, after, hints)) seen.push(item);
  })();
  return { seen, stop: () => stop.abort() };
}

/** The frames of a stream from the beginning, read in the background. */
async function framesOf(at: IngressRig): Promise<{ readonly seen: Frame[]; readonly stop: () => void }> {
  const api = createFollowApi({
    ...at.ports,
    clock: at.clock,
    sealer: plainSealer,
    threads: {
      find: () => Promise.resolve({ ok: true as const, value: key }),
      keyOf: () => key,
      remember: () => {},
      announce: async () => {},
    },
  });
  const stop = new AbortController();
  const found = await api.follow(key, 0, stop.signal);
  if (!found.ok || found.value === 'nothing_newer') throw new Error('there is no stream');
  const frames = found.value;
  const seen: Frame[] = [];
  void (async () => {
    for await (const frame of frames) seen.push(frame);
  })();
  await settle();
  return { seen, stop: () => stop.abort() };
}

const versions = (seen: readonly Followed[]): number[] =>
  seen.flatMap((item) => (item.what === 'commit' ? [item.commit.version] : []));

describe('hints that are held', () => {
  it('say when it is time to look at the log, and are over after their time, for good', async () => {
    const at = ingressRig();
    const hints = await openHints({ ...at.ports, clock: at.clock }, key, 20_000, () => true);
    const taken = (async () => [await hints.take(), await hints.take(), await hints.take()])();
    await at.clock.advance(15_000);
    await at.clock.advance(5_000);
    expect(await taken).toEqual(['nothing', 'over', 'over']);
    await at.commit(key, [spoken('late')]);
    expect(hints.held()).toBe('over');
  });

  it('are over after their time also when the clock jumps over all of it', async () => {
    const at = ingressRig();
    const clock = { ...at.clock, now: () => at.clock.now() + jumpedMs };
    let jumpedMs = 0;
    const hints = await openHints({ ...at.ports, clock }, key, 60_000, () => true);
    const taken = (async () => [await hints.take(), await hints.take()])();
    jumpedMs = 60_000;
    await at.clock.advance(15_000);
    expect((await taken).at(-1)).toBe('over');
  });
});

describe('following a log', () => {
  it('I-19 gives what is stored, then what comes, each once and in order', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('a'), spoken('b')]);
    await at.commit(key, [spoken('c')]);
    const { seen, stop } = reading(at, 0);
    await settle();
    await at.commit(key, [spoken('d')]);
    await settle();
    stop();
    expect(seen.map(({ what }) => what)).toEqual(['commit', 'commit', 'caught_up', 'commit']);
    expect(versions(seen)).toEqual([0, 2, 3]);
  });

  it('I-19 begins inside a commit when asked to', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('a'), spoken('b')]);
    const { seen, stop } = reading(at, 1);
    await settle();
    stop();
    expect(versions(seen)).toEqual([0]);
  });

  it('reads the log when a hint shows that others were lost', async () => {
    const at = ingressRig();
    const { seen, stop } = reading(at, 0);
    await settle();
    await at.commit(key, [spoken('a')], undefined, true);
    await at.commit(key, [spoken('b')], undefined, true);
    await at.commit(key, [spoken('c')]);
    await settle();
    stop();
    expect(versions(seen)).toEqual([0, 1, 2]);
  });

  it('reads the log after a while when every hint is lost', async () => {
    const at = ingressRig();
    const { seen, stop } = reading(at, 0);
    await settle();
    await at.commit(key, [spoken('a')], undefined, true);
    await settle();
    expect(versions(seen)).toEqual([]);
    await at.clock.advance(15_000);
    stop();
    expect(versions(seen)).toEqual([0]);
  });

  it('forgets a hint about what it has given', async () => {
    const at = ingressRig();
    const commit = await at.commit(key, [spoken('a')]);
    const { seen, stop } = reading(at, 0);
    await settle();
    at.ports.feed.publish(key, { hint: 'committed', commit });
    await settle();
    stop();
    expect(versions(seen)).toEqual([0]);
  });

  it('says lagged to a reader who does not read, and ends', async () => {
    const at = ingressRig();
    const stop = new AbortController();
    const ports = { ...at.ports, clock: at.clock };
    const stream = followCommits(ports, key, 0, await holdHints(ports, key, stop.signal));
    await stream.next();
    const text = { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: 'x' } as const;
    for (let count = 0; count <= 5_000; count++) at.ports.feed.publish(key, { hint: 'delta', delta: text });
    await settle();
    expect((await stream.next()).value).toEqual({ what: 'lagged' });
    expect((await stream.next()).done).toBe(true);
  });
});

const retrying = (completionId: string, attempt = 1): Retrying => ({
  ...{ completionId, attempt, code: 'MODEL_FAILED', detail: 'connect ECONNREFUSED', host: 'models.example' },
  ...{ nextAt: 3_000, failedAt: 2_000, since: 1_000 },
});
const requested = { type: 'CompletionRequested', completionId: 'cmp_1', model: 'm' } as const;

describe('a stream', () => {
  it('S6 says that the model is asked again: on connect while it is so, and at once', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('a'), requested]);
    at.ports.feed.publish(key, { hint: 'retrying', retrying: retrying('cmp_1') });
    const { seen, stop } = await framesOf(at);
    at.ports.feed.publish(key, { hint: 'retrying', retrying: retrying('cmp_1', 2) });
    at.ports.feed.publish(key, { hint: 'retrying', retrying: retrying('cmp_of_before') });
    await settle();
    stop();
    const { failedAt: _, since: __, ...shown } = retrying('cmp_1');
    expect(seen.filter(({ frame }) => frame === 'retrying')).toEqual([
      { frame: 'retrying', data: shown },
      { frame: 'retrying', data: { ...shown, attempt: 2 } },
    ]);
  });

  it('S8 shows no text of a completion after its end', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('a'), requested]);
    const { seen, stop } = await framesOf(at);
    const text = { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: 'Hel' } as const;
    at.ports.feed.publish(key, { hint: 'delta', delta: text });
    const failed = { type: 'CompletionFailed', completionId: 'cmp_1', code: 'MODEL_FAILED', detail: 'down' } as const;
    await at.commit(key, [{ ...failed, retryable: false }]);
    await settle();
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...text, offset: 3, text: 'lo' } });
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...text, completionId: 'cmp_2', text: 'next' } });
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...text, attempt: 2, text: 'late' } });
    await settle();
    stop();
    const shown = seen.flatMap((frame) => (frame.frame === 'delta' ? [frame.data.text] : []));
    expect(shown).toEqual(['Hel', 'next']);
  });

  it('R96 R97 shows a view that changes while it is being opened', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('a')]);
    await at.ports.views.put(key, { viewType: 'chart', content: '{"v":1}' });
    const api = createFollowApi({
      ...at.ports,
      clock: at.clock,
      sealer: plainSealer,
      threads: {
        find: () => Promise.resolve({ ok: true as const, value: key }),
        keyOf: () => key,
        remember: () => {},
        announce: async () => {},
      },
    });
    const stop = new AbortController();
    const found = await api.follow(key, 0, stop.signal);
    if (!found.ok || found.value === 'nothing_newer') throw new Error('there is no stream');
    const frames = found.value[Symbol.asyncIterator]();
    const seen: Frame[] = [];
    const read = async (): Promise<void> => {
      const next = await frames.next();
      if (next.done !== true) seen.push(next.value);
    };
    await read(); // status
    await read(); // the first view; then its socket is slow
    const content = '{"v":2}';
    await at.ports.views.put(key, { viewType: 'chart', content });
    at.ports.feed.publish(key, { hint: 'view', view: { viewType: 'chart', content } });
    void read().then(read);
    await settle();
    stop.abort();
    expect(seen).toContainEqual({ frame: 'view', data: { viewType: 'chart', content } });
  });

  it('says in its status that the model is not asked yet, and when it is; so does the view of the thread', async () => {
    const at = ingressRig();
    const row = {
      ...key,
      agent: 'a',
      agentVersion: 1,
      parent: null,
      family: key.thread,
      userId: null,
      externalId: null,
    };
    const about = { status: 'thinking', title: null, metadata: {}, createdAt: 0, updatedAt: 0, position: 0 } as const;
    await at.ports.directory.insert({ ...row, ...about, opening: null });
    const requested = { type: 'CompletionRequested', completionId: 'cmp_1', model: 'm' } as const;
    const opened = {
      type: 'ThreadOpened',
      agent: { name: 'a', version: 1 },
      model: 'm',
      toolServers: [],
      policies: defaultPolicies,
      limits: defaultLimits,
      userId: null,
      title: null,
    } as const;
    await at.commit(key, [opened, spoken('a'), requested]);
    const slot = { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'slot', index: 0 } as const;
    const waits = [{ kind: 'slot', id: 'cmp_1', since: 5_000 }];
    const shown = async () => {
      const found = await at.ingress.threads.get(key);
      return found.ok ? [found.value.status, found.value.waitingOn] : null;
    };
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...slot, text: '5000' } });
    expect(await shown()).toEqual(['thinking', waits]);
    const stop = new AbortController();
    const found = await at.ingress.follow.follow(key, 0, stop.signal);
    if (!found.ok || found.value === 'nothing_newer') throw new Error('there is no stream');
    const seen: Frame[] = [];
    void (async (frames) => {
      for await (const frame of frames) seen.push(frame);
    })(found.value);
    await settle();
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...slot, text: '' } });
    at.ports.feed.publish(key, { hint: 'delta', delta: { ...slot, kind: 'text', text: 'Hello' } });
    await settle();
    stop.abort();
    expect(seen.flatMap((frame) => (frame.frame === 'status' ? [frame.data.waitingOn] : []))).toEqual([[], waits, []]);
    expect(seen.filter(({ frame }) => frame === 'delta')).toHaveLength(1);
    expect(await shown()).toEqual(['thinking', []]);
  });
});
