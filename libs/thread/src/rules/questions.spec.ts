// What is listed of questions to people, and allowing a call with other arguments than the model's.
import { describe, expect, it } from 'vitest';
import type { ArgumentsEdit, ThreadInput } from '../input.ts';
import {
  answered,
  call,
  choiceAsked,
  choiceId,
  chosen,
  close,
  decided,
  given,
  type Happening,
  idle,
  interrupt,
  loginAsked,
  result,
  said,
  type Scene,
  timerFired,
} from '../spec/scene.ts';

const wished = [...idle(), said('m'), answered('', call('delete_everything', { path: '/tmp' }))];
const running = [...idle(), said('m'), answered('', call('weather'))];
const ended = { settled: { position: expect.any(Number) as number, at: expect.any(Number) as number } };

describe('questions to people', () => {
  it('are listed when they are asked, with all that a list needs', () => {
    const asked = given(...wished.slice(0, -1)).when(wished.at(-1) as Happening);
    const [choice] = Object.values(asked.thread.choices);
    expect(asked.listed).toEqual([
      {
        ...{ id: choice?.choiceId, kind: 'approval', toolCallId: choice?.toolCallId, operation: 'delete_everything' },
        ...{ toolServer: 'tools', asked: choice?.position, since: choice?.since, expiresAt: choice?.expiresAt },
        settled: null,
      },
    ]);
    const tool = given(...running).when(choiceAsked());
    expect(tool.listed).toMatchObject([{ kind: 'tool', operation: 'weather', settled: null }]);
    const login = given(...running).when(loginAsked());
    expect(login.listed).toMatchObject([{ kind: 'oauth', id: login.thread.calls[0]?.toolCallId, settled: null }]);
    expect(
      login.events[(login.listed[0]?.asked ?? 0) - login.scene.events.length + login.events.length - 1],
    ).toMatchObject({
      type: 'OauthRequested',
    });
  });

  const ends: readonly (readonly [string, readonly Happening[], Happening])[] = [
    ['an approval that is allowed', wished, decided('allow')],
    ['an approval that is denied', wished, decided('deny')],
    ['an approval without an answer in time', wished, timerFired()],
    ['an approval that an interrupt withdraws', wished, interrupt('req_i', true)],
    ['an approval of a thread that closes', wished, close()],
    ['a choice that is answered', [...running, choiceAsked()], chosen({ answer: 'selected', selected: 1 })],
    ['a choice whose tool goes on by itself', [...running, choiceAsked()], result()],
    ['a choice of a thread that closes', [...running, choiceAsked()], close()],
    ['a login whose call has its result', [...running, loginAsked()], result()],
    ['a login that nobody makes', [...running, loginAsked()], timerFired()],
    ['a login of a thread that closes', [...running, loginAsked()], close()],
  ];

  it.each(ends)('are listed as ended: %s (L1)', (_what, before, ending) => {
    const { listed, thread } = given(...before).when(ending);
    expect(listed).toMatchObject([ended]);
    expect(thread.choices).toEqual({});
  });

  it('that replace each other end and begin in one list, each complete (L2)', () => {
    const { listed } = given(...running, loginAsked()).when(choiceAsked());
    expect(listed).toMatchObject([
      { kind: 'oauth', ...ended },
      { kind: 'tool', settled: null },
    ]);
    for (const question of listed) expect(question.asked).toBeGreaterThan(0);
  });

  it('are not listed again by what does not change them', () => {
    expect(given(...wished).when(said('m2')).listed).toEqual([]);
    expect(given(...running).when(result()).listed).toEqual([]);
  });
});

/** A person's answer with other arguments; they were shown what the call has, unless `of` says more. */
const allowed =
  (edited: ArgumentsEdit['arguments'], of?: string, decision: 'allow' | 'deny' = 'allow') =>
  (scene: Scene): ThreadInput => ({
    ...{ kind: 'ChoiceAnswer', id: 'c:req_a', requestId: 'req_a', choiceId: choiceId(scene) },
    ...{ answer: { answer: 'decision', decision }, reason: null, decidedBy: 'ann' },
    edit: { arguments: edited, of: of ?? `#${JSON.stringify(scene.thread.calls[0]?.arguments)}` },
  });

describe('edited arguments', () => {
  it('are what is sent, and the log has them beside the model’s (R27)', () => {
    const { events, effects, scene, thread } = given(...wished).when(allowed({ path: '/srv' }));
    expect(events[0]).toMatchObject({
      type: 'ChoiceSettled',
      decision: 'allow',
      edited: true,
      argumentsAllowed: { path: '/srv' },
    });
    expect(effects[0]).toMatchObject({ do: 'InvokeTool', arguments: { path: '/srv' } });
    expect(scene.events.find(({ type }) => type === 'ToolCallRequested')).toMatchObject({
      arguments: { path: '/tmp' },
    });
    expect(thread.calls).toMatchObject([{ arguments: { path: '/srv' } }]);
  });

  it('replace only what was shown: else the answer is refused, and the choice stays open', () => {
    const { events, owes, thread } = given(...wished).when(allowed({ path: '/srv' }, '#{"path":"/etc"}'));
    expect(events).toMatchObject([{ type: 'RequestRefused', code: 'CHOICE_CHANGED' }]);
    expect(owes).toEqual([]);
    expect(Object.keys(thread.choices)).toHaveLength(1);
  });

  it('that are those of the model are no edit', () => {
    const { events } = given(...wished).when(allowed({ path: '/tmp' }));
    expect(events[0]).not.toHaveProperty('edited');
    expect(events[0]).not.toHaveProperty('argumentsAllowed');
  });

  it('of a call that is denied are sent nowhere', () => {
    const { events, owes } = given(...wished).when(allowed({ path: '/srv' }, undefined, 'deny'));
    expect(events[0]).not.toHaveProperty('argumentsAllowed');
    expect(owes).not.toContain('InvokeTool');
  });
});
