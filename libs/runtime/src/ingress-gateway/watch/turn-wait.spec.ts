import type { ThreadLog } from '@dormouse/ports';
import { settle } from '@dormouse/adapter-memory';
import { type ThreadEvent, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { openCommit } from '../../log/envelope.ts';
import { loadThread } from '../../log/thread-reader.ts';
import { key, spoken, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';
import { createTurnWait } from './turn-wait.ts';

const posted = { id: 'msg_hi', inputId: 'c:hi', mayBeOld: false };
const repeated = { ...posted, mayBeOld: true };
const before = unopenedThread(key.tenant, key.thread);

const saying = (text: string): ThreadEvent =>
  ({
    type: 'CompletionRecorded',
    completionId: 'cmp_1',
    message: { role: 'assistant', text, calls: [] },
    final: true,
    usage: { inputTokens: 1, outputTokens: 1 },
    model: 'demo',
  }) as unknown as ThreadEvent;
const answer = saying('hello');

/** A message and its answer in one commit. */
async function turnAtOnce(at: IngressRig, input: string, said: ThreadEvent): Promise<void> {
  await at.commit(key, [{ ...spoken('hi'), messageId: posted.id } as ThreadEvent, said], [input]);
}

/** A whole turn, as the processor of another process writes it. */
async function turn(at: IngressRig): Promise<void> {
  await at.commit(key, [{ ...spoken('hi'), messageId: posted.id } as ThreadEvent], [posted.inputId]);
  await at.commit(key, [answer], ['m:cmp_1']);
}

/** Where `findByInputs` is answered, and the turn happens before the answer is read. */
const turnAfterLookup = (at: IngressRig): ThreadLog => ({
  ...at.ports.log,
  findByInputs: async (of, inputs) => {
    const found = await at.ports.log.findByInputs(of, inputs);
    await turn(at);
    return found;
  },
});

describe('waiting for a turn', () => {
  it('Y1 sees a turn that begins and ends between two looks at the log', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, log: turnAfterLookup(at), clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const ended = waiting.end(repeated);
    await settle();
    await at.clock.advance(31_000);
    expect(await ended).toMatchObject({ id: posted.id, message: { text: 'hello' } });
  });

  it('Y3 reads a thread that it does not know once, and one that it knows not at all', async () => {
    const at = ingressRig();
    await at.commit(key, [spoken('before')]);
    const asked: string[] = [];
    const log = new Proxy(at.ports.log, {
      get: (of, name: keyof ThreadLog) => {
        if (name !== 'append') asked.push(name);
        return of[name];
      },
    });
    const watch = createTurnWait({ ...at.ports, log, clock: at.clock });
    for (const input of ['c:first', 'c:second']) {
      const waiting = await watch(key, 30_000, new AbortController().signal);
      const ended = waiting.end({ ...posted, inputId: input });
      await turnAtOnce(at, input, answer);
      expect(await ended).toMatchObject({ message: { text: 'hello' } });
    }
    expect(asked).toHaveLength(1);
  });

  it('Y5 answers before it lets go of the hints, and lets go of them once', async () => {
    const at = ingressRig();
    let watching = 0;
    const subscribe: typeof at.ports.feed.subscribe = async (of, listener) => {
      watching += 1;
      const unsubscribe = await at.ports.feed.subscribe(of, listener);
      return () => {
        watching -= 1;
        unsubscribe();
      };
    };
    const watch = createTurnWait({ ...at.ports, feed: { ...at.ports.feed, subscribe }, clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const ended = waiting.end(posted);
    await turnAtOnce(at, posted.inputId, answer);
    await ended;
    expect(watching).toBe(1);
    await new Promise(setImmediate);
    expect(watching).toBe(0);
  });

  it('Y1 takes nothing that was said before for the answer', async () => {
    const at = ingressRig();
    await turn(at);
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const ended = waiting.end({ ...posted, inputId: 'c:later' });
    await turnAtOnce(at, 'c:later', saying('later'));
    expect(await ended).toMatchObject({ message: { text: 'later' } });
  });

  it('Y4 reads nothing of a commit whose hint brings its events and its thread', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const said = { ...spoken('hi'), messageId: posted.id } as ThreadEvent;
    const commit = await at.commit(key, [said, answer], [posted.inputId], true);
    const after = { before, events: openCommit(commit).events, thread: (await loadThread(at.ports, key)).thread };
    const ended = waiting.end(posted);
    at.ports.feed.publish(key, { hint: 'committed', commit: { ...commit, body: 'unreadable' }, after });
    expect(await ended).toMatchObject({ message: { text: 'hello' } });
  });

  /** A commit whose hint brings what it made of the thread, as in one process. */
  async function fold(at: IngressRig, events: readonly ThreadEvent[], input: string): Promise<void> {
    const commit = await at.commit(key, events, [input], true);
    const after = { before, events: openCommit(commit).events, thread: (await loadThread(at.ports, key)).thread };
    at.ports.feed.publish(key, { hint: 'committed', commit, after });
    await settle();
  }
  const accepted = { ...spoken('hi'), messageId: posted.id } as ThreadEvent;
  const requested = { type: 'CompletionRequested', completionId: 'cmp_1', model: 'demo' } as ThreadEvent;

  it('Y2 goes on waiting through what cannot end a turn, and has seen it when the turn ends', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    let ended = false;
    const end = waiting.end(posted).finally(() => (ended = true));
    await settle();
    await fold(at, [accepted, requested], posted.inputId);
    expect(ended).toBe(false);
    await fold(at, [answer], 'm:cmp_1');
    expect(await end).toMatchObject({ message: { text: 'hello' } });
  });

  it('Y2 is told at once of a refusal while the thread is at work', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    await fold(at, [spoken('before'), requested], 'c:before');
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const refusal = { type: 'MessageRefused', messageId: posted.id, code: 'CALLS_PENDING', detail: 'busy' };
    const end = waiting.end(posted);
    await settle();
    await fold(at, [refusal as ThreadEvent], posted.inputId);
    expect(await end).toMatchObject({ lastError: { code: 'CALLS_PENDING' } });
  });

  it('Y3 looks at the log once more when its time is up: a hint may have been lost', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    const waiting = await watch(key, 10_000, new AbortController().signal);
    const end = waiting.end(posted);
    await settle();
    await at.commit(key, [{ ...spoken('hi'), messageId: posted.id } as ThreadEvent, answer], [posted.inputId], true);
    await at.clock.advance(10_000);
    expect(await end).toMatchObject({ message: { text: 'hello' } });
  });

  it('ends at once when its process is stopping already', async () => {
    const at = ingressRig();
    const watch = createTurnWait({ ...at.ports, clock: at.clock });
    const waiting = await watch(key, 30_000, AbortSignal.abort());
    expect(await waiting.end(posted)).toBeNull();
  });
});
