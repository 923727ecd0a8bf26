// Steps 3 and 4: one commit, all of it or nothing.
import { type Commit, Fault } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { openCommit } from '../../log/envelope.ts';
import {
  type Actor,
  calls,
  inTurn,
  invoked,
  key,
  message,
  opened,
  type Play,
  result,
  says,
  type Rig,
  type RigOptions,
} from '../spec/processor-rig.ts';

describe('a turn with one tool call', () => {
  const asksAndTells = (): Play => inTurn(says('warm'), calls('weather', '{"city":"Rome"}'), says('sunny'));

  /** How often each version was given to the store, in order; `fail` decides what becomes of it. */
  function watchedAppends(fail: (version: number, apply: () => unknown) => void = () => {}): {
    readonly gate: NonNullable<RigOptions['gate']>;
    readonly appended: number[];
  } {
    const appended: number[] = [];
    return {
      appended,
      gate: {
        pass: async (_node, { name, about }, apply) => {
          if (name !== 'log.append') return apply();
          const version = Number(about.split(':').at(-1));
          appended.push(version);
          fail(version, apply);
          return apply();
        },
      },
    };
  }

  /** Its agent is known after the first turn. */
  async function warm(options: RigOptions = {}): Promise<{ rig: Rig; actor: Actor; head: number }> {
    const { rig, actor } = await opened({ play: asksAndTells(), ...options });
    await actor.ports.inputs.publish(key, message('m0'));
    await rig.clock.advance(500);
    const head = rig.commits().at(-1);
    return { rig, actor, head: (head?.version ?? 0) + (head?.count ?? 0) };
  }

  it('is four commits, and the call is sent once', async () => {
    const { rig, actor, head } = await warm();
    const turn = (): readonly Commit[] => rig.commits().filter(({ version }) => version >= head);
    await actor.ports.inputs.publish(key, message('m1'));
    await rig.clock.advance(0);
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(0);
    expect(turn().map(({ inputs }) => inputs.map((id) => id.charAt(0)).join(''))).toEqual(['c', 'm', 'r', 'm']);
    expect(turn().map((commit) => openCommit(commit).events.length)).toEqual([2, 2, 2, 1]);
    expect(rig.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
    expect(rig.asked.map((request) => request.prompt.length)).toEqual([1, 3, 5]);
    expect(rig.world.durable.log.owed.size).toBe(0);
  });

  it('A1 pays nothing before its commit is there', async () => {
    const { rig, actor } = await warm();
    const { log } = rig.world.durable;
    const store = log.append.bind(log);
    const told: string[] = [];
    log.append = (append) => {
      told.push(`${append.commit.inputs.map((id) => id.charAt(0)).join('')} ${rig.dispatched.length}`);
      return store(append);
    };
    const before = rig.dispatched.length;
    await actor.ports.inputs.publish(key, message('m1'));
    await rig.clock.advance(0);
    expect(told).toEqual([`c ${before}`, `m ${before}`]);
    expect(rig.dispatched).toHaveLength(before + 1);
  });

  it('A5 asks again with the same prompt when its commit was not stored: the transcript has nothing of it', async () => {
    let failAt = -1;
    const { gate } = watchedAppends((version) => {
      if (version !== failAt) return;
      failAt = -1;
      throw new Fault('UNAVAILABLE', 'not this one');
    });
    const { rig, actor, head } = await warm({ gate });
    failAt = head;
    const decided = actor.ports.inputs.publish(key, message('m1'));
    await rig.clock.advance(10_000);
    await decided;
    expect(failAt).toBe(-1);
    expect(rig.asked.map((request) => request.prompt.length)).toEqual([1, 3]);
    const [, asked] = rig.asked;
    expect((await asked?.prompt.all())?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(rig.world.durable.log.owed.size).toBe(0);
  });

  /** A store that keeps the commit with the answer of the next message, and loses its own answer. */
  async function stored(isRead: boolean): Promise<{
    readonly rig: Rig;
    readonly actor: Actor;
    readonly head: number;
    readonly hints: readonly string[];
    readonly decided: Promise<void>;
  }> {
    let answerAt = -1;
    let isAway = false;
    const { gate } = watchedAppends((version, apply) => {
      if (answerAt === -1 || version <= answerAt) return;
      answerAt = -1;
      apply();
      isAway = !isRead;
      throw new Error('the answer of the store is lost');
    });
    const pass: typeof gate.pass = async (node, operation, apply) => {
      if (operation.name === 'log.read' && isAway) {
        isAway = false;
        throw new Fault('UNAVAILABLE', 'not now');
      }
      return gate.pass(node, operation, apply);
    };
    const scene = await warm({ gate: { pass } });
    const hints: string[] = [];
    await scene.actor.ports.feed.subscribe(key, (hint) => {
      if (hint.hint === 'committed') hints.push(hint.commit.inputs.map((id) => id.charAt(0)).join(''));
    });
    answerAt = scene.head;
    const decided = scene.actor.ports.inputs.publish(key, message('m1'));
    await scene.rig.clock.advance(0);
    return { ...scene, hints, decided };
  }

  it('A3 is read back when its outcome is unknown, and shown and paid like any other', async () => {
    const { rig, hints } = await stored(true);
    expect(hints).toEqual(['c', 'm']);
    await rig.clock.advance(10_000);
    expect(rig.asked).toHaveLength(2);
    expect(rig.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
  });

  it('V1 is paid once when it was stored after all, and could not be read back', async () => {
    const { rig, actor, decided } = await stored(false);
    await rig.clock.advance(10_000);
    await decided;
    expect(rig.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
    expect(rig.told().filter((type) => type === 'CompletionRecorded')).toHaveLength(2);
    await actor.ports.inputs.publish(key, result(invoked(rig)));
    await rig.clock.advance(10_000);
    expect(rig.told().at(-1)).toBe('CompletionRecorded');
    expect(rig.world.durable.log.owed.size).toBe(0);
  });
});
