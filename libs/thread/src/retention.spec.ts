import { describe, expect, it } from 'vitest';
import type { Happening, Scene } from './spec/scene.ts';
import {
  after,
  answered,
  call,
  childId,
  close,
  given,
  idle,
  opening,
  openingOf,
  play,
  result,
  said,
  startOfTime,
  subscribed,
} from './spec/scene.ts';
import type { ThreadInput } from './input.ts';

const later = startOfTime + 86_400_000;

const ended = (restingSince = later): ThreadInput => ({ kind: 'RetentionEnd', id: 're:1', restingSince });

/** A whole turn with one call. */
const turn: readonly Happening[] = [
  ...idle(),
  said('msg_1'),
  answered('', call('weather')),
  result(),
  answered('It is sunny.'),
];

describe('the end of retention', () => {
  it('closes a thread at rest, and tells its tool servers', () => {
    const { thread, types, owes, events } = given(...turn).when({ at: later, input: ended() });
    expect(types).toEqual(['ThreadClosed']);
    expect(events[0]).toMatchObject({ by: 'retention', cause: { kind: 'operator' } });
    expect(owes).toEqual(['SendCloseNotices']);
    expect(thread.status).toBe('closed');
  });

  it('leaves a thread alone that has gone on since, also by an event at that very moment', () => {
    const { updatedAt } = play(...turn).thread;
    for (const restingSince of [updatedAt - 1, updatedAt])
      expect(given(...turn).when({ at: later, input: ended(restingSince) }).refusal).toBe('NOT_AT_REST');
    expect(given(...turn).when({ at: later, input: ended(updatedAt + 1) }).types).toEqual(['ThreadClosed']);
  });

  it.each<readonly [string, readonly Happening[]]>([
    ['its tools are loaded', [opening()]],
    ['the model is asked', [...idle(), said('msg_1')]],
    ['a call is open', [...idle(), said('msg_1'), answered('', call('weather'))]],
    ['a message waits behind a call', [...idle(), said('msg_1'), answered('', call('weather')), said('msg_2')]],
    ['it has a subscription', [...idle(), said('msg_1'), answered('', call('weather')), subscribed(), answered('ok')]],
    ['a person is asked', [...idle({ policies: { approve: { mode: 'all', tools: {} } } }), said('msg_1'), answered('', call('weather'))]],
    ['it sleeps', [...idle(), said('msg_1'), answered('', call('sleep', { seconds: 9_999_999 }))]],
  ])('leaves a thread alone while %s, however long that has lasted', (_what, before) => {
    const { refusal, thread } = given(...before).when({ at: later, input: ended() });
    expect(refusal).toBe('NOT_AT_REST');
    expect(thread.status).toBe('open');
  });

  it('leaves a thread with a schedule alone', () => {
    const schedule = { cron: '0 9 * * *', timeZone: 'UTC', message: 'Good morning.', missed: 'once' } as const;
    const request: ThreadInput = { kind: 'ScheduleRequest', id: 'c:s', requestId: 'req_s', scheduleId: 'sch_1', schedule };
    expect(given(...turn, request).when({ at: later, input: ended() }).refusal).toBe('NOT_AT_REST');
  });

  it('comes too late for a message that was first, and refuses one that comes after it', () => {
    expect(given(...turn, said('msg_2')).when({ at: later, input: ended() }).refusal).toBe('NOT_AT_REST');
    const { types } = given(...turn, { at: later, input: ended() }).when(said('msg_2'));
    expect(types).toEqual(['MessageRefused']);
  });

  it('leaves no commit in a closed thread, nor in one that was never opened', () => {
    expect(given(...turn, close()).when(ended()).refusal).toBe('CLOSED');
    expect(given().when(ended()).refusal).toBe('NOT_OPEN');
  });

  it('sends a child’s parent no report, which would wake it', () => {
    const parent = play(...idle(), said('msg_1'), answered('', call('spawn_thread', { instructions: 'Look around.' })));
    expect(childId(parent)).not.toBe('thr_none_0');
    let child: Scene = after({ ...play(), thread: { ...play().thread, id: childId(parent) } }, openingOf(parent));
    child = after(child, answered('done'));
    const { owes } = { owes: after(child, { at: later, input: ended() }).effects.map((effect) => effect.do) };
    expect(after(child, { at: later, input: ended() }).thread.status).toBe('closed');
    expect(owes).not.toContain('ReportToParent');
    expect(after(child, { at: later, input: close() }).effects.map((effect) => effect.do)).toContain('ReportToParent');
  });
});
