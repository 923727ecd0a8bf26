import { createSeededEntropy, plainSealer } from '@dormouse/adapter-memory';
import { answerOwner, Fault } from '@dormouse/ports';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../service.ts';
import { broken, createRig, key, never, type Peer, type Rig, status } from '../tool-dispatcher/spec/dispatcher-rig.ts';
import { faulty } from '../tool-dispatcher/spec/faulty.ts';
import { createNotifier } from './notifier.ts';

let rig: Rig;
let peers: Peer[];
let notifier: Service;
let lives = 0;
const toolServers = ['one', 'two', 'three'];

beforeEach(async () => {
  rig = createRig();
  peers = [];
  for (const name of toolServers)
    peers.push(
      await rig.register(name, {
        baseUrl: `https://${name}.example/base/`,
        endpointOverride: 'https://elsewhere.example/',
      }),
    );
  notifier = await start();
});

async function start(ports: Partial<Rig['ports']> = {}): Promise<Service> {
  const service = createNotifier({
    ...rig.ports,
    inputs: rig.inputBus,
    ...ports,
    sealer: plainSealer,
    clock: rig.clock,
    entropy: createSeededEntropy(2, `life${(lives += 1)}`),
    logger: rig.logger,
  });
  await service.start();
  return service;
}
async function owe(
  effect: { readonly do: 'SendCloseNotices' } | { readonly do: 'SendCancelNotices'; readonly toolCallId: string },
  id = 'ntc_1',
): Promise<{ paid: boolean }> {
  const receipt = await rig.ports.work.publish('notices', {
    ...key,
    effect: { ...effect, id, toolServers },
    at: 1,
    trace: null,
  });
  const debt = { paid: false };
  void receipt.handled?.then(() => (debt.paid = true));
  await rig.clock.advance(0);
  return debt;
}
const close = { do: 'SendCloseNotices' } as const;
const cancel = { do: 'SendCancelNotices', toolCallId: 'call_1' } as const;
const counts = (): readonly number[] => peers.map(({ posts }) => posts.length);

describe('close notices', () => {
  it('R59 R60 go to the base of every listed server, used or not', async () => {
    expect(await owe(close)).toEqual({ paid: true });
    expect(peers.map(({ posts }) => posts.map(({ url, body }) => [url, JSON.parse(body)]))).toEqual(
      toolServers.map((name) => [[`https://${name}.example/base/close_thread`, { thread_id: 'thr_1' }]]),
    );
  });

  it.each([status(500), status(404), status(302), broken('ECONNRESET', true), broken('ECONNREFUSED', false)])(
    'R61 R63 are never repeated, whatever comes back',
    async (answer) => {
      for (const peer of peers) peer.answers = [answer];
      expect(await owe(close)).toEqual({ paid: true });
      await owe(close); // the same debt, paid again
      await rig.clock.advance(3_600_000);
      expect(counts()).toEqual([1, 1, 1]);
    },
  );

  it('R62 reach the others at once when one hangs', async () => {
    if (peers[0] !== undefined) peers[0].answers = [never];
    await owe(close);
    expect(counts()).toEqual([1, 1, 1]);
  });

  it('R62 a server that is not registered any more stops no other', async () => {
    await rig.ports.toolServers.remove(key.tenant, 'one');
    expect(await owe(close)).toEqual({ paid: true });
    expect(counts()).toEqual([0, 1, 1]);
  });
});

describe('cancel notices', () => {
  it('R64 R65 go to the base of every listed server with thread and call', async () => {
    await owe(cancel);
    expect(peers.map(({ posts }) => posts.map(({ url, body }) => [url, JSON.parse(body)]))).toEqual(
      toolServers.map((name) => [
        [`https://${name}.example/base/cancel_tool_call`, { thread_id: 'thr_1', tool_call_id: 'call_1' }],
      ]),
    );
  });

  it('R66 R68 are never repeated, not even by another life', async () => {
    for (const peer of peers) peer.answers = [status(503)];
    await owe(cancel);
    await notifier.stop(0);
    await start();
    await owe(cancel);
    await rig.clock.advance(3_600_000);
    expect(counts()).toEqual([1, 1, 1]);
  });

  it('R67 each notice is its own: two calls, two notices', async () => {
    await owe(cancel);
    await owe({ ...cancel, toolCallId: 'call_2' }, 'ntc_2');
    expect(counts()).toEqual([2, 2, 2]);
  });

  it('R67 an unclaimed one is sent later when the store fails for one server, and no other is repeated', async () => {
    await notifier.stop(0);
    let down = true;
    const isTwo = ([, subject]: readonly unknown[]): boolean => String(subject).endsWith(':two');
    const reason = (given: readonly unknown[]): Error | null =>
      down && isTwo(given) ? new Fault('UNAVAILABLE', 'down') : null;
    const ledger = faulty(rig.ports.ledger, 'claim', reason);
    await start({ ledger });
    const debt = await owe(cancel);
    expect([debt.paid, counts()]).toEqual([false, [1, 0, 1]]);
    down = false;
    await rig.clock.advance(60_000);
    expect([debt.paid, counts()]).toEqual([true, [1, 1, 1]]);
  });
});

describe('answers to choices', () => {
  const answer = () => {
    const url = 'https://one.example/base/answers';
    const answerTo = plainSealer.seal(answerOwner(key.tenant, key.thread, 'call_1'), url);
    const call = { toolCallId: 'call_1', toolServer: 'one', answerTo } as const;
    const effect = { do: 'AnswerChoice', id: 'answer:chc_1', choiceId: 'chc_1', ...call, selected: 1 } as const;
    return { ...key, effect, at: rig.clock.now(), trace: null };
  };

  it.each([400, 404, 410, 429])(
    'R91 that are refused with %i are posted once, and the call hears of it',
    async (code) => {
      const [one] = peers;
      if (one === undefined) throw new Error('there is no peer');
      one.answers = [status(code)];
      await rig.ports.work.publish('notices', answer());
      await rig.clock.advance(3_600_000);
      expect(one.posts).toHaveLength(1);
      expect(rig.inputs).toMatchObject([
        { kind: 'ChoiceAnswerFailure', toolCallId: 'call_1', detail: expect.stringContaining(`HTTP ${code}`) },
      ]);
    },
  );

  it('R91 R94 are posted until they are taken, and never again, whoever owes them once more', async () => {
    const [one] = peers;
    if (one === undefined) throw new Error('there is no peer');
    one.answers = [status(503), status(200)];
    const owed = answer();
    await rig.ports.work.publish('notices', owed);
    await rig.clock.advance(60_000);
    expect(one.posts).toHaveLength(2);
    await rig.ports.work.publish('notices', owed);
    await rig.clock.advance(60_000);
    expect(one.posts).toHaveLength(2);
  });

  it('W4 are posted once when they are owed twice at the same moment', async () => {
    const owed = answer();
    const receipts = await Promise.all([owed, owed].map(async (one) => rig.ports.work.publish('notices', one)));
    await rig.clock.advance(1_000);
    for (const { handled } of receipts) await handled;
    expect(peers[0]?.posts).toHaveLength(1);
  });
});

describe('stopping', () => {
  it('ends what hangs', async () => {
    for (const peer of peers) peer.answers = [never];
    await owe(close);
    const stopped = notifier.stop(1_000);
    await rig.clock.advance(1_000);
    await stopped;
    expect(counts()).toEqual([1, 1, 1]);
  });
});
