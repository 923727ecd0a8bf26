import { describe, expect, it } from 'vitest';
import type { StreamFrame } from '../follow.ts';
import type { ThreadEvent } from '../thread-event.ts';
import {
  afterFrame,
  messagesOf,
  notSent,
  sending,
  taken,
  type ThreadState,
  unknownThread,
  withConnection,
  withHistory,
} from './thread-state.ts';

const at = '2026-01-01T00:00:00.000Z';
const event = (position: number, type: string, fields: object): StreamFrame => ({
  frame: 'event',
  event: { position, at, type, turn_id: 't', cause: { kind: 'message', id: 'm' }, ...fields } as ThreadEvent,
});
const accepted = (position: number, id: string, text: string): StreamFrame =>
  event(position, 'message_accepted', { message_id: id, content: [{ type: 'text', text }] });
const recorded = (position: number, completion: string, text: string): StreamFrame =>
  event(position, 'completion_recorded', { completion_id: completion, message: { text }, interrupted: false });
const said = (completion_id: string, offset: number, text: string): StreamFrame => ({
  frame: 'delta',
  delta: { completion_id, attempt: 1, offset, kind: 'text', index: 0, text },
});
const status = (name: string, waitingOn: readonly { readonly id: string }[] = []): StreamFrame =>
  ({ frame: 'status', status: name, waitingOn }) as StreamFrame;
const asks = (id: string, more: object = {}): StreamFrame =>
  ({ frame: 'choice', choice: { id, kind: 'approval', tool_call_id: `call of ${id}`, ...more } }) as StreamFrame;

const after = (state: ThreadState, ...frames: readonly StreamFrame[]): ThreadState => frames.reduce(afterFrame, state);
const shown = (state: ThreadState): readonly string[] =>
  messagesOf(state).map(({ key, state: how, text }) => `${key} ${how}: ${text}`);

describe('what was sent', () => {
  const sent = sending(after(unknownThread, status('idle')), 'k1', 'hello');

  it('S1: keeps its key when the thread has it', () => {
    expect(shown(sent)).toEqual(['k1 sending: hello']);
    const known = taken(sent, 'k1', 'msg_1');
    expect(shown(known)).toEqual(['k1 accepted: hello']);
    expect(shown(after(known, accepted(1, 'msg_1', 'hello')))).toEqual(['k1 done: hello']);
  });

  it('S2: is shown once when its event is faster than the answer', () => {
    const early = after(sent, accepted(1, 'msg_1', 'hello'));
    expect(shown(early)).toEqual(['k1 done: hello']);
    expect(shown(taken(early, 'k1', 'msg_1'))).toEqual(['k1 done: hello']);
  });

  it('S2: is not taken for the same words of another page', () => {
    const others = after(sent, accepted(1, 'msg_9', 'hello'));
    const both = taken(others, 'k1', 'msg_1');
    expect(shown(both)).toEqual([' 1 done: hello', 'k1 accepted: hello']);
    expect(shown(after(both, accepted(2, 'msg_1', 'hello')))).toEqual([' 1 done: hello', 'k1 done: hello']);
    const twice = sending(sent, 'k2', 'hello');
    expect(shown(after(twice, accepted(1, 'msg_1', 'hello')))).toEqual(['k1 done: hello', 'k2 sending: hello']);
  });

  it('says why it failed: it was not taken, or the thread refused it', () => {
    expect(shown(notSent(sent, 'k1', new Error('away')))).toEqual(['k1 failed: hello']);
    const refused = after(
      taken(sent, 'k1', 'msg_1'),
      event(1, 'message_refused', { message_id: 'msg_1', code: 'BUSY', detail: 'later' }),
    );
    expect(messagesOf(refused)[0]?.error?.message).toBe('BUSY: later');
  });
});

describe('what the model writes', () => {
  it('S1: keeps its key when it is whole, and is gone when nothing was said', () => {
    const writing = after(unknownThread, status('thinking'), said('cmp_1', 0, 'Once '), said('cmp_1', 5, 'upon'));
    expect(shown(writing)).toEqual(['cmp_1 streaming: Once upon']);
    expect(shown(after(writing, recorded(4, 'cmp_1', 'Once upon a time')))).toEqual(['cmp_1 done: Once upon a time']);
    expect(shown(after(writing, recorded(4, 'cmp_1', '')))).toEqual([]);
  });

  it('S3: begins anew with the first frame of the next connection', () => {
    const writing = after(unknownThread, status('thinking'), said('cmp_1', 0, 'Once '), asks('chc_1'));
    const away = withConnection(writing, 'reconnecting');
    expect([shown(away), away.choices.length]).toEqual([['cmp_1 streaming: Once '], 1]);
    const back = after(away, status('thinking'));
    expect([shown(back), back.choices, back.connection]).toEqual([[], [], 'open']);
  });
});

it('S4: a position is shown once, from the history or the stream', () => {
  const rows = [
    { position: 3, at, role: 'user', text: 'hello', message_id: 'msg_1' },
    { position: 5, at, role: 'assistant', text: 'hi' },
  ] as const;
  const state = after(withHistory(unknownThread, rows, 4), status('idle'), recorded(5, 'cmp_1', 'hi'));
  expect(shown(state)).toEqual([' 3 done: hello', ' 5 done: hi']);
  expect(state.position).toBe(5);
});

describe('an open choice', () => {
  const asking = after(unknownThread, status('waiting', [{ id: 'chc_1' }]), asks('chc_1'));

  it('is there until it is settled, or its call is', () => {
    expect(after(asking, status('thinking')).choices).toHaveLength(1); // its event says it
    expect(after(asking, event(7, 'choice_settled', { choice_id: 'chc_1' })).choices).toEqual([]);
    const settled = { tool_call_id: 'call of chc_1', outcome: 'interrupted', content: [] };
    expect(after(asking, event(7, 'tool_call_settled', settled)).choices).toEqual([]);
  });

  it('of a descendant is there as long as the thread waits for it', () => {
    const below = after(asking, asks('chc_2', { thread_id: 'thr_child' }));
    expect(after(below, status('waiting', [{ id: 'chc_2' }])).choices.map(({ id }) => id)).toEqual(['chc_1', 'chc_2']);
    expect(after(below, status('waiting', [{ id: 'chc_1' }])).choices.map(({ id }) => id)).toEqual(['chc_1']);
  });
});

it('names the tool of a result', () => {
  const state = after(
    unknownThread,
    status('waiting'),
    event(6, 'tool_call_requested', { tool_call_id: 'call_1', operation: 'weather', arguments: {} }),
    event(7, 'tool_call_settled', {
      tool_call_id: 'call_1',
      outcome: 'result',
      content: [{ type: 'text', text: '2 °C' }],
    }),
  );
  expect(messagesOf(state)).toMatchObject([{ role: 'tool', operation: 'weather', outcome: 'result', text: '2 °C' }]);
});
