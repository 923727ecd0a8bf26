// Steps 3 and 4 with an answer that is there at once: one commit, all of it or nothing.
import { type Commit, Fault, ModelFault } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { openCommit } from '../../envelope.ts';
import type { ProcessorSettings } from '../settings.ts';
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
  type Stage,
  type StageOptions,
} from '../spec/stage.ts';

describe('a model that answers at once', () => {
  const asksAndTells = (): Play => inTurn(says('warm'), calls('weather', '{"city":"Rome"}'), says('sunny'));

  /** How often each version was given to the store, in order; `fail` decides what becomes of it. */
  function watchedAppends(fail: (version: number, apply: () => unknown) => void = () => {}): {
    readonly gate: NonNullable<StageOptions['gate']>;
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
  async function warm(
    options: StageOptions,
    settings: Partial<ProcessorSettings> = {},
  ): Promise<{ stage: Stage; actor: Actor; head: number }> {
    const { stage, actor } = await opened({ atOnce: true, play: asksAndTells(), ...options }, 'p1', settings);
    await actor.ports.inputs.publish(key, message('m0'));
    await stage.clock.advance(500);
    const head = stage.commits().at(-1);
    return { stage, actor, head: (head?.version ?? 0) + (head?.count ?? 0) };
  }

  it('has the same turn in the log, event by event, in half as many commits, and the call is sent once', async () => {
    const logs: string[][] = [];
    for (const atOnce of [true, false]) {
      const { stage, actor, head } = await warm({ atOnce });
      const turn = (): readonly Commit[] => stage.commits().filter(({ version }) => version >= head);
      await actor.ports.inputs.publish(key, message('m1'));
      await stage.clock.advance(0);
      await actor.ports.inputs.publish(key, result(invoked(stage)));
      await stage.clock.advance(0);
      logs.push(turn().flatMap((commit) => openCommit(commit).events.map(({ type }) => type)));
      expect(turn().map(({ inputs }) => inputs.map((id) => id.charAt(0)).join(''))).toEqual(
        atOnce ? ['cm', 'rm'] : ['c', 'm', 'r', 'm'],
      );
      expect(stage.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
      expect(stage.asked.map((request) => request.prompt.length)).toEqual([1, 3, 5]);
      expect(stage.world.durable.log.owed.size).toBe(0);
    }
    expect(logs[0]).toEqual(logs[1]);
  });

  it('A1 pays nothing before the commit with its answer is there', async () => {
    const { gate, appended } = watchedAppends();
    const { stage, actor, head } = await warm({ gate });
    const before = stage.dispatched.length;
    const { log } = stage.world.durable;
    const store = log.append.bind(log);
    const dispatched: number[] = [];
    log.append = (append) => {
      dispatched.push(stage.dispatched.length);
      return store(append);
    };
    appended.length = 0;
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    expect(appended).toEqual([head]);
    expect(dispatched).toEqual([before]);
    expect(stage.dispatched).toHaveLength(before + 1);
  });

  it('owes nothing where the commit has settled all it asked for, and a row where a call is left to be made', async () => {
    const { stage, actor } = await warm({});
    const { log } = stage.world.durable;
    const store = log.append.bind(log);
    const told: string[] = [];
    log.append = (append) => {
      told.push(`${append.commit.inputs.map((id) => id.charAt(0)).join('')} ${append.owes}`);
      return store(append);
    };
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    await actor.ports.inputs.publish(key, result(invoked(stage)));
    await stage.clock.advance(0);
    expect(told).toEqual(['cm true', 'rm false']);
  });

  it('asks with every message before, those of an answer in the same commit too', async () => {
    const play = inTurn(says('warm'), calls('nosuch', '{}'), says('sorry'), says('fine'));
    const { stage, actor } = await warm({ play });
    for (const id of ['m1', 'm2']) {
      await actor.ports.inputs.publish(key, message(id));
      await stage.clock.advance(0);
    }
    const roles = stage.asked.map(async ({ prompt }) =>
      (await prompt.last(prompt.length)).map(({ role }) => role.charAt(0)).join(''),
    );
    expect(await Promise.all(roles)).toEqual(['u', 'uau', 'uauat', 'uauatau']);
  });

  it('A5 goes without its answer where that would be an input too many', async () => {
    const { stage, actor, head } = await warm({}, { inputsPerSliceMax: 1 });
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    const turn = stage.commits().filter(({ version }) => version >= head);
    expect(turn.map(({ inputs }) => inputs.length)).toEqual([1, 1]);
  });

  it('A5 goes without its answer where both would be too large for one commit', async () => {
    const { stage, actor, head } = await warm({}, { commitBytesMax: 200 });
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    const turn = stage.commits().filter(({ version }) => version >= head);
    expect(turn.map(({ inputs }) => inputs.map((id) => id.charAt(0)).join(''))).toEqual(['c', 'm']);
    expect(stage.asked.map((request) => request.prompt.length)).toEqual([1, 3, 3]);
  });

  it('asks again when its commit was not stored: nobody has seen the first answer, the prompt least of all', async () => {
    let failAt = -1;
    const { gate } = watchedAppends((version) => {
      if (version !== failAt) return;
      failAt = -1;
      throw new Fault('UNAVAILABLE', 'not this one');
    });
    const { stage, actor, head } = await warm({ gate });
    failAt = head;
    const decided = actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    expect(failAt).toBe(-1);
    expect(stage.dispatched.filter((effect) => effect.do === 'InvokeTool')).toEqual([]); // a call that is not in the log
    await stage.clock.advance(10_000);
    await decided;
    expect(stage.asked.map((request) => request.prompt.length)).toEqual([1, 3, 3]);
    expect(stage.told().filter((type) => type === 'CompletionRecorded')).toHaveLength(2);
    expect(stage.world.durable.log.owed.size).toBe(0);
  });

  /** A store that keeps the commit of the next message and its answer, and says that nobody knows. */
  async function stored(isRead: boolean): Promise<{
    readonly stage: Stage;
    readonly actor: Actor;
    readonly head: number;
    readonly hints: readonly string[];
    readonly decided: Promise<void>;
  }> {
    let answerAt = -1;
    let isAway = false;
    const { gate } = watchedAppends((version, apply) => {
      if (version !== answerAt) return;
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
      if (hint.hint === 'committed') hints.push(`commit ${hint.commit.version}`);
    });
    answerAt = scene.head;
    const decided = scene.actor.ports.inputs.publish(key, message('m1'));
    await scene.stage.clock.advance(0);
    return { ...scene, hints, decided };
  }

  it('A3 is read back when nobody knows whether it was stored, and shown and paid like any other', async () => {
    const { stage, head, hints } = await stored(true);
    expect(hints).toEqual([`commit ${head}`]);
    await stage.clock.advance(10_000);
    expect(stage.asked).toHaveLength(2);
    expect(stage.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
  });

  it('V1 is paid once when it was stored after all, and could not be read back', async () => {
    const { stage, actor, decided } = await stored(false);
    await stage.clock.advance(10_000);
    await decided;
    expect(stage.dispatched.filter((effect) => effect.do === 'InvokeTool')).toHaveLength(1);
    expect(stage.told().filter((type) => type === 'CompletionRecorded')).toHaveLength(2);
    await actor.ports.inputs.publish(key, result(invoked(stage)));
    await stage.clock.advance(10_000);
    expect(stage.told().at(-1)).toBe('CompletionRecorded');
    expect(stage.world.durable.log.owed.size).toBe(0);
  });

  it('O2 is asked, as an effect, when it does not answer at once this time', async () => {
    const slow: Play = async function* (request) {
      await stage.clock.sleep(5_000);
      yield* says('late')(request);
    };
    const { stage, actor } = await warm({ play: inTurn(says('warm'), slow) });
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(0);
    expect(stage.told().at(-1)).toBe('CompletionRequested');
    await stage.clock.advance(10_000);
    expect(stage.told().at(-1)).toBe('CompletionRecorded');
  });

  it('O2 fails like any other, whichever way it is asked', async () => {
    const refusal = new ModelFault({ code: 'MODEL_REFUSED', detail: 'no', retryable: false });
    const fails: Play = () => {
      throw refusal;
    };
    const { stage, actor } = await warm({ play: inTurn(says('warm'), fails) });
    await actor.ports.inputs.publish(key, message('m1'));
    await stage.clock.advance(100);
    expect(stage.told().at(-1)).toBe('CompletionFailed');
  });
});
