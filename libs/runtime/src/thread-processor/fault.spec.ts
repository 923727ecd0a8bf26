// Faults that do not pass: of one thread, and of all threads. Poison by an exception is tested in `parking.spec.ts`.
import { Fault, type ThreadKey } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import type { ProcessorSettings } from './settings.ts';
import {
  calls,
  createRig,
  inTurn,
  key,
  message,
  opened,
  opening,
  says,
  type RigOptions,
} from './spec/processor-rig.ts';
import { soundProtocol } from './rules/protocol.ts';

const other = (thread: string): ThreadKey => ({ tenant: key.tenant, thread });
const hour = 3_600_000;

/** The threads whose state cannot be read, or the marker for all threads. */
async function failing(settings: Partial<ProcessorSettings> = {}, topology: RigOptions['topology'] = 'durable') {
  const rig = createRig({ topology });
  const broken: { threads: Set<string> | 'everybody' } = { threads: new Set() };
  const actor = await rig.processor('p1', {
    settings: { cacheBytesMax: 1, ...settings },
    protocol: {
      readThread: async (sources, of, from) => {
        if (broken.threads === 'everybody' || broken.threads.has(of.thread))
          throw new Fault('STATE_UNAVAILABLE', `${of.thread} cannot be read`);
        return soundProtocol.readThread(sources, of, from);
      },
    },
  });
  const open = async (threads: readonly ThreadKey[]): Promise<void> => {
    for (const thread of threads) void actor.ports.inputs.publish(thread, opening());
    await rig.clock.advance(1_000);
  };
  const say = (to: ThreadKey, name: string): void => void actor.ports.inputs.publish(to, message(name)).catch(() => {});
  const mark = (of: ThreadKey) => actor.ports.parked.mark(of);
  /** Lets time pass, with a message to this thread every few seconds. */
  const pass = async (ms: number, busy: ThreadKey | null): Promise<void> => {
    for (let step = 0; step < ms / 20_000; step++) {
      if (busy !== null) say(busy, `${busy.thread} ${rig.clock.now()}`);
      await rig.clock.advance(20_000);
    }
  };
  return { rig, actor, broken, open, say, mark, pass };
}

describe('a Fault that never passes', () => {
  it('parks the thread that meets it while others pass, and holds up no partition; mended, it goes on', async () => {
    const { rig, actor, broken, open, say, mark, pass } = await failing();
    await open([key, other('t2')]);
    broken.threads = new Set([key.thread]);
    say(key, 'one');
    say(key, 'two');
    await pass(600_000, other('t2'));
    expect(await mark(key)).toBeNull(); // a server may come back
    await pass(600_000, other('t2'));
    expect(await mark(key)).toBe('parked');
    expect(await actor.ports.parked.get(key)).toMatchObject({
      reason: expect.stringMatching(
        /^after \d+ attempts: STATE_UNAVAILABLE, of this thread alone: thr_1 cannot be read$/,
      ),
    });
    expect(rig.world.durable.broker.lag('inputs')).toBe(0);
    broken.threads = new Set();
    await actor.ports.parked.replay(key);
    say(key, 'three');
    await rig.clock.advance(60_000);
    const decided = rig.commits().flatMap(({ inputs }) => inputs);
    expect(decided.filter((id) => id.startsWith('c:'))).toEqual(['c:one', 'c:two', 'c:three']);
  });

  it('is an outage where all meet it, for however long: nothing is parked, and all go on', async () => {
    const { rig, broken, open, say, mark, pass } = await failing({ retryDelayMsMax: 120_000 });
    const threads = Array.from({ length: 10 }, (_, index) => other(`t${index}`));
    await open(threads);
    broken.threads = 'everybody';
    for (const [index, thread] of threads.entries()) {
      say(thread, `m${index}`);
      await pass(index % 5 === 0 ? hour : 20_000, null);
    }
    await pass(hour, null);
    broken.threads = new Set();
    await pass(180_000, null);
    for (const [index, thread] of threads.entries()) {
      expect(await mark(thread)).toBeNull();
      expect(rig.commits(thread).flatMap(({ inputs }) => inputs)).toContain(`c:m${index}`);
    }
  });

  it('counts from the end of an outage, not from its beginning', async () => {
    const { broken, open, say, mark, pass } = await failing();
    await open([key, other('t2'), other('t3')]);
    broken.threads = new Set([key.thread]);
    say(key, 'one');
    await pass(600_000, other('t2'));
    broken.threads = 'everybody';
    say(other('t3'), 'falls too');
    await pass(hour, null);
    broken.threads = new Set([key.thread]);
    await pass(600_000, other('t2'));
    expect(await mark(key)).toBeNull();
    await pass(600_000, other('t2'));
    expect(await mark(key)).toBe('parked');
  });
});

describe('the queue of inputs', () => {
  it('is never one thread’s alone: others’ inputs go on being taken', async () => {
    const { rig, broken, open, say, mark, pass } = await failing({
      queuedInputsMax: 20,
      queuedInputsPerThreadMax: 5,
    });
    await open([key, other('t2')]);
    broken.threads = new Set([key.thread]);
    for (let index = 0; index < 30; index++) say(key, `m${index}`);
    await rig.clock.advance(1_000);
    say(other('t2'), 'hello');
    await rig.clock.advance(1_000);
    expect(rig.commits(other('t2')).flatMap(({ inputs }) => inputs)).toContain('c:hello');
    for (let index = 30; index < 100; index++) say(key, `m${index}`);
    await pass(120_000, other('t2')); // a crowded thread is parked sooner: its inputs wait in the store
    expect(await mark(key)).toBe('parked');
    expect(rig.world.durable.broker.lag('inputs')).toBe(0);
  });
});

describe('a call that is too large for the bus', () => {
  for (const topology of ['durable', 'standalone'] as const)
    it(`fails with a code that says so, and its thread goes on (${topology})`, async () => {
      const gate: RigOptions['gate'] = {
        pass: async (_node, { name }, apply) => {
          if (name === 'dispatches.publish' && stuck.now) throw new Fault('RECORD_TOO_LARGE', 'a record of 3 MB');
          return apply();
        },
      };
      const stuck = { now: false };
      const play = inTurn(calls('weather', '{"city":"Rome"}'), says('I cannot'));
      const { rig, actor } = await opened({ topology, play, gate });
      if (topology === 'standalone') {
        const publish = actor.ports.work.publish.bind(actor.ports.work);
        Object.assign(actor.ports.work, {
          publish: async (...work: Parameters<typeof publish>) => {
            if (stuck.now) throw new Fault('RECORD_TOO_LARGE', 'a record of 3 MB');
            return publish(...work);
          },
        });
      }
      stuck.now = true;
      void actor.ports.inputs.publish(key, message('m1'));
      await rig.clock.advance(20_000);
      expect(rig.told().at(-1)).toBe('CompletionRecorded');
      const body = rig
        .commits()
        .map((commit) => commit.body)
        .join('');
      expect(body).toContain(
        '"outcome":"error","content":[{"type":"text","text":"Error: the call is too large to be sent"}],"code":"RECORD_TOO_LARGE"',
      );
      expect(rig.world.durable.broker.lag('inputs')).toBe(0);
      if (topology === 'standalone') expect(rig.world.durable.log.owed.size).toBe(0);
    });
});
