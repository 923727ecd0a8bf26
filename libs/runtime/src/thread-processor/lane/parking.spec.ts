import type { Gate, Topology } from '@dormouse/adapter-memory';
import { Fault, replayWake, tenantId } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { decide, text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createInputSweeper } from '../../ingress-gateway/write/input-sweeper.ts';
import {
  type Actor,
  createRig,
  key,
  newRow,
  opening,
  type Play,
  says,
  type Rig,
  type RigOptions,
  toolsLoaded,
} from '../spec/processor-rig.ts';

const message = (name: string): ThreadInput => ({
  kind: 'UserMessage',
  id: `c:${name}`,
  messageId: `msg_${name}`,
  content: [text(name)],
});

/** Everything a poisoned thread needs: a processor whose heart throws at `c:poison` while `code.isBroken`. */
interface Poisoned {
  readonly rig: Rig;
  readonly code: { isBroken: boolean };
  readonly processor: (node: string) => Promise<Actor>;
}

function poisoned(options: RigOptions = { topology: 'durable' }): Poisoned {
  const rig = createRig(options);
  const code = { isBroken: true };
  const processor = (node: string): Promise<Actor> =>
    rig.processor(node, {
      protocol: {
        decide: (thread, input, moment) => {
          if (code.isBroken && input.id === 'c:poison') throw new Error('cannot decide');
          return decide(thread, input, moment);
        },
      },
    });
  return { rig, code, processor };
}

const clientInputs = (rig: Rig): readonly string[] =>
  rig
    .commits()
    .flatMap((commit) => commit.inputs)
    .filter((id) => id.startsWith('c:'));

const waiting = async ({ ports }: Actor): Promise<readonly string[]> =>
  (await ports.parked.inputs(key)).map(({ input }) => input.id);

async function publish({ ports }: Actor, ...names: readonly string[]): Promise<void> {
  for (const name of names) void ports.inputs.publish(key, message(name));
}

async function parkedWith(names: readonly string[], options?: RigOptions) {
  const at = poisoned(options);
  const actor = await at.processor('p1');
  void actor.ports.inputs.publish(key, opening());
  await at.rig.clock.advance(1_000);
  await publish(actor, 'before', 'poison', ...names);
  await at.rig.clock.advance(60_000);
  return { ...at, actor };
}

describe.each(['standalone', 'durable'] as const)('a poisoned thread, %s', (topology) => {
  it('V6 is parked: what was before is decided, what comes is put aside in order', async () => {
    const { rig, actor } = await parkedWith(['after'], { topology });
    await publish(actor, 'later');
    await rig.clock.advance(5_000);
    expect(clientInputs(rig)).toEqual(['c:before']);
    expect(await waiting(actor)).toEqual(['c:poison', 'c:after', 'c:later']);
    expect(await actor.ports.parked.get(key)).toMatchObject({
      mark: 'parked',
      reason: 'after 5 attempts: cannot decide',
    });
  });

  it('is parked too when what it decides is larger than the store takes', async () => {
    const { rig, code, processor } = poisoned({ topology });
    code.isBroken = false;
    const { log } = rig.world.durable;
    const roomy = log.append.bind(log);
    log.append = (append) => (append.commit.inputs.includes('c:poison') ? 'too_large' : roomy(append));
    const actor = await processor('p1');
    void actor.ports.inputs.publish(key, opening());
    await rig.clock.advance(1_000);
    await publish(actor, 'before');
    await rig.clock.advance(1_000);
    await publish(actor, 'poison', 'after');
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:before']);
    expect(await waiting(actor)).toEqual(['c:poison', 'c:after']);
    expect(await actor.ports.parked.get(key)).toMatchObject({
      reason: expect.stringMatching(
        /^after 5 attempts: What c:poison(, c:after)? would lead to is larger than the store takes/,
      ),
    });
  });

  it('harms no other thread', async () => {
    const { rig, actor } = await parkedWith([], { topology });
    const other = { tenant: tenantId('acme'), thread: 'thr_2' };
    void actor.ports.inputs.publish(other, { ...opening(), id: 'open:thr_2' });
    await rig.clock.advance(2_000);
    expect(rig.told(other)).toContain('ThreadOpened');
  });

  it('answers whoever sends to it: what is put aside is durable', async () => {
    const { rig, actor } = await parkedWith([], { topology });
    const sent = { accepted: false };
    void actor.ports.inputs.publish(key, message('later')).then(() => (sent.accepted = true));
    await rig.clock.advance(5_000);
    expect(sent.accepted).toBe(true);
  });

  it('goes on after a replay: what waited first, in order, then what is new', async () => {
    const { rig, code, actor } = await parkedWith(['after'], { topology });
    code.isBroken = false;
    await actor.ports.parked.replay(key);
    await publish(actor, 'new');
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:poison', 'c:after', 'c:new']);
    expect(await actor.ports.parked.mark(key)).toBeNull();
    expect(await waiting(actor)).toEqual([]);
  });

  it('is parked again when the replay fails too, and nothing is out of order', async () => {
    const { rig, code, actor } = await parkedWith(['after'], { topology });
    await actor.ports.parked.replay(key);
    await publish(actor, 'new');
    await rig.clock.advance(60_000);
    expect(await actor.ports.parked.mark(key)).toBe('parked');
    expect(await waiting(actor)).toEqual(['c:poison', 'c:after', 'c:new']);
    expect(rig.world.durable.broker.lag('inputs')).toBe(0); // what is put aside holds up no partition
    code.isBroken = false;
    await actor.ports.parked.replay(key);
    await publish(actor, 'newest');
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:poison', 'c:after', 'c:new', 'c:newest']);
    expect([await waiting(actor), rig.world.durable.broker.lag('inputs')]).toEqual([[], 0]);
  });

  it('leaves out what an operator dropped, which stays to be seen', async () => {
    const { rig, actor } = await parkedWith(['after'], { topology });
    await actor.ports.parked.drop(key, 'c:poison', 7);
    await actor.ports.parked.replay(key);
    await publish(actor, 'new');
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:after', 'c:new']);
    expect(await actor.ports.parked.inputs(key)).toMatchObject([{ input: { id: 'c:poison' }, droppedAt: 7 }]);
  });

  it('is shown as it is when a replay had nothing to decide', async () => {
    const { rig, processor } = poisoned({ topology });
    const actor = await processor('p1');
    await actor.ports.directory.insert(newRow);
    void actor.ports.inputs.publish(key, opening());
    await rig.clock.advance(1_000);
    await publish(actor, 'poison');
    await rig.clock.advance(60_000);
    const shown = async (): Promise<unknown> => (await actor.ports.directory.get(key))?.status;
    const before = await shown();
    await actor.ports.parked.drop(key, 'c:poison', 7);
    await actor.ports.parked.replay(key);
    void actor.ports.inputs.publish(key, replayWake);
    await rig.clock.advance(5_000);
    expect([before, await shown()]).toEqual(['parked', 'opening']);
  });
});

describe('the next owner of a poisoned thread', () => {
  it('I-04 finds the mark before it decides anything younger', async () => {
    const { rig, code, actor, processor } = await parkedWith(['after']);
    code.isBroken = false; // even if it could decide it now
    await actor.service.stop(1_000);
    rig.world.durable.broker.expire('p1');
    const next = await processor('p2');
    await publish(next, 'younger');
    await rig.clock.advance(30_000);
    expect(clientInputs(rig)).toEqual(['c:before']);
    expect(await waiting(next)).toEqual(['c:poison', 'c:after', 'c:younger']);
    await next.ports.parked.replay(key);
    await publish(next, 'youngest');
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:poison', 'c:after', 'c:younger', 'c:youngest']);
  });
});

const never: Play = async function* () {
  await new Promise(() => {});
  yield { part: 'text', text: '' };
};

/** Decided without a commit: there is no such timer. */
const poison: ThreadInput = { kind: 'TimerFiring', id: 'c:poison', timerId: 'tmr_none', scheduledFor: 0 };

/** Ready to talk, then parked with `poison` and a message; its model answers what `plays.now` holds. */
async function parkedAtWork(topology: Topology) {
  const plays = { now: says('ok') };
  const at = poisoned({ topology, play: (request) => plays.now(request) });
  const actor = await at.processor('p1');
  void actor.ports.inputs.publish(key, opening());
  await at.rig.clock.advance(1_000);
  void actor.ports.inputs.publish(key, toolsLoaded(at.rig.dispatched));
  await at.rig.clock.advance(1_000);
  void actor.ports.inputs.publish(key, poison);
  await at.rig.clock.advance(60_000);
  await publish(actor, 'after');
  await at.rig.clock.advance(5_000);
  expect(await waiting(actor)).toEqual(['c:poison', 'c:after']);
  at.code.isBroken = false;
  return { ...at, actor, plays };
}

async function killed(rig: Rig, actor: Actor): Promise<void> {
  const stopped = actor.service.stop(0);
  await rig.clock.advance(1);
  await stopped;
  rig.world.durable.broker.expire('p1');
}

/** A process that starts has a sweeper too. */
async function restarted(rig: Rig, processor: (node: string) => Promise<Actor>): Promise<Actor> {
  const next = await processor('p2');
  const { directory, parked, inputs: bus } = next.ports;
  const failed = (fault: unknown): void => expect(fault).toBeNull();
  await createInputSweeper({ directory, parked, bus, clock: rig.clock, failed }).start();
  return next;
}

const answers = (rig: Rig): number => rig.told().filter((type) => type === 'CompletionRecorded').length;

describe.each(['standalone', 'durable'] as const)('an owner that dies, %s', (topology) => {
  it('in the completion of a replayed input leaves it to the next one, though what came before it led to nothing', async () => {
    const { rig, actor, plays, processor } = await parkedAtWork(topology);
    plays.now = never;
    await actor.ports.parked.replay(key);
    void actor.ports.inputs.publish(key, replayWake); // as the ingress gateway does
    await rig.clock.advance(5_000);
    expect(clientInputs(rig)).toEqual(['c:after']);
    expect(rig.asked).toHaveLength(1);
    await killed(rig, actor);
    plays.now = says('in the end');
    const next = await restarted(rig, processor);
    await rig.clock.advance(60_000);
    expect(answers(rig)).toBe(1);
    expect(await next.ports.parked.mark(key)).toBeNull();
    expect(await waiting(next)).toEqual([]);
  });

  it('before it has seen that an operator wants a thread to go on: the next one sees it', async () => {
    const { rig, actor, processor } = await parkedAtWork(topology);
    await killed(rig, actor);
    await actor.ports.parked.replay(key);
    const next = await restarted(rig, processor);
    await rig.clock.advance(60_000);
    expect(clientInputs(rig)).toEqual(['c:after']);
    expect(answers(rig)).toBe(1);
    expect(await next.ports.parked.mark(key)).toBeNull();
  });
});

describe('a parked thread whose state is warm for another reason', () => {
  it('I-04 stays parked: after a restart what it owes is paid', async () => {
    const { rig, actor, processor } = await parkedWith([], { topology: 'standalone' });
    expect(rig.told()).not.toContain('ToolsetsLoaded'); // that load is still owed
    rig.world.durable.log.owed.set(`${key.tenant}:${key.thread}`, { key, versions: new Set([0]) });
    await actor.service.stop(0);
    const next = await processor('p2');
    await rig.clock.advance(5_000);
    await publish(next, 'younger');
    await rig.clock.advance(5_000);
    expect(await waiting(next)).toEqual(['c:poison', 'c:younger']);
    expect(clientInputs(rig)).toEqual(['c:before']);
  });

  it('I-04 stays parked: a view is shown, and the store of marks is away for a moment', async () => {
    const away = { after: '', isNow: false };
    const gate: Gate = {
      pass: async (_node, { name }, apply) => {
        const isAway = away.isNow && name === 'parked.mark';
        away.isNow = name === 'parked.added' && away.after !== '' && !isAway;
        if (away.isNow) away.after = '';
        if (isAway) throw new Fault('UNAVAILABLE', 'away');
        return apply();
      },
    };
    const { rig, actor } = await parkedWith([], { topology: 'standalone', gate });
    away.after = 'the next input that is put aside';
    void actor.ports.inputs.publish(key, { kind: 'ViewUpdate', id: 'v:1', viewType: 'map', content: '{}' });
    await publish(actor, 'second', 'third');
    await rig.clock.advance(5_000);
    expect(rig.lines.filter((line) => line.includes('UNAVAILABLE'))).toHaveLength(1);
    expect(clientInputs(rig)).toEqual(['c:before']);
    expect(await waiting(actor)).toEqual(['c:poison', 'c:second', 'c:third']);
  });
});

describe('a replay that meets another owner, or an operator', () => {
  it('I-01 takes what somebody else has put aside, though this owner is warm and never knew', async () => {
    const { rig, code, processor } = poisoned({ topology: 'durable' });
    code.isBroken = false;
    const actor = await processor('p1');
    void actor.ports.inputs.publish(key, opening());
    await publish(actor, 'before');
    await rig.clock.advance(1_000);
    const { parked, inputs } = actor.ports;
    await parked.add(key, message('late'), null, 0); // its delivery is another's
    await publish(actor, 'after');
    await rig.clock.advance(1_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:after']);
    await parked.replay(key);
    void inputs.publish(key, replayWake);
    await rig.clock.advance(1_000);
    expect(clientInputs(rig)).toEqual(['c:before', 'c:after', 'c:late']);
    expect([await parked.mark(key), await waiting(actor)]).toEqual([null, []]);
    expect(rig.world.durable.broker.lag('inputs')).toBe(0);
  });

  it('is woken in vain while it goes on, and where nothing is marked', async () => {
    const { rig, actor, plays } = await parkedAtWork('durable');
    plays.now = never;
    const { parked, inputs } = actor.ports;
    await parked.replay(key);
    for (let times = 0; times < 3; times += 1) {
      void inputs.publish(key, replayWake);
      await rig.clock.advance(1_000);
    }
    expect([clientInputs(rig), await waiting(actor), rig.asked.length]).toEqual([['c:after'], ['c:after'], 1]);
    const other = { ...key, thread: 'thr_never' };
    void inputs.publish(other, replayWake);
    await rig.clock.advance(1_000);
    expect(rig.commits(other)).toEqual([]);
  });

  it('I-01 goes on with what was put aside while it ended', async () => {
    const { rig, code, actor } = await parkedWith(['after'], { topology: 'durable' });
    code.isBroken = false;
    const { parked } = actor.ports;
    await parked.replay(key);
    const remove = parked.remove.bind(parked);
    let isFirst = true;
    Object.assign(parked, {
      remove: async (...about: Parameters<typeof remove>) => {
        if (isFirst) {
          isFirst = false;
          await parked.add(key, message('of another owner'), null, 0);
          await publish(actor, 'newest');
        }
        await remove(...about);
      },
    });
    await publish(actor, 'new');
    await rig.clock.advance(5_000);
    const expected = ['before', 'poison', 'after', 'new', 'of another owner', 'newest'];
    expect(clientInputs(rig)).toEqual(expected.map((name) => `c:${name}`));
    expect([await parked.mark(key), await waiting(actor)]).toEqual([null, []]);
  });

  it('I-01 keeps what is replayed twice at once, and parked again', async () => {
    const { rig, code, actor } = await parkedWith(['after', 'last'], { topology: 'durable' });
    const { parked } = actor.ports;
    const add = parked.add.bind(parked);
    let adds = 0;
    Object.assign(parked, {
      add: async (...about: Parameters<typeof add>) => {
        await add(...about);
        adds += 1;
        if (adds === 1) await parked.replay(key); // an impatient operator: the rest is still being put aside
      },
    });
    await parked.replay(key);
    await publish(actor, 'new');
    await rig.clock.advance(60_000);
    expect(await waiting(actor)).toEqual(['c:poison', 'c:after', 'c:last', 'c:new']);
    code.isBroken = false;
    await parked.replay(key);
    await publish(actor, 'newest');
    await rig.clock.advance(60_000);
    const expected = ['before', 'poison', 'after', 'last', 'new', 'newest'];
    expect(clientInputs(rig)).toEqual(expected.map((name) => `c:${name}`));
  });
});
