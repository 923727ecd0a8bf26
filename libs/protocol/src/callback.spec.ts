import { resultOf } from '@dormouse/json';
import { describe, expect, it } from 'vitest';
import oauth from '../fixtures/oauth.json' with { type: 'json' };
import subscriptionEvent from '../fixtures/subscription-event.json' with { type: 'json' };
import toolResult from '../fixtures/tool-result.json' with { type: 'json' };
import userChoice from '../fixtures/user-choice.json' with { type: 'json' };
import viewUpdate from '../fixtures/view-update.json' with { type: 'json' };
import { encodeCallback, parseCallback, readingCallback } from './callback.ts';
import { choicesMax, contentItemsMax, idCharactersMax, promptBytesMax, textBytesMax } from './limits.ts';

const readCallback = (text: string) => resultOf(readingCallback(text));
const fixtures = { toolResult, subscriptionEvent, oauth, userChoice, viewUpdate };

describe.each(Object.entries(fixtures))('%s', (_, { valid, invalid }) => {
  it.each<{ title: string; wire: unknown; code: unknown }>(valid)('$title', ({ wire, code }) => {
    expect(parseCallback(wire)).toStrictEqual({ ok: true, callback: code });
    expect(readCallback(JSON.stringify(wire))).toMatchObject({ ok: true, callback: code });
  });

  it.each<{ title: string; wire: unknown; pointers: string[] }>(invalid)('$title: refused', ({ wire, pointers }) => {
    const parsed = parseCallback(wire);
    expect(pointersOf(parsed)).toStrictEqual(pointers);
    expect(parsed).toMatchObject({ code: 'INVALID_BODY' });
  });
});

describe('limits of callbacks', () => {
  const result = { type: 'tool_result', id: 'call_1', text: 'x' };

  it('R33 an id of 200 characters passes, one more is refused', () => {
    expect(parseCallback({ ...result, id: 'i'.repeat(idCharactersMax) }).ok).toBe(true);
    expect(pointersOf(parseCallback({ ...result, id: 'i'.repeat(idCharactersMax + 1) }))).toStrictEqual(['/id']);
  });

  it('R49 a text over its limit is refused as too large, and the type is told', () => {
    const text = 'ü'.repeat(textBytesMax / 2);
    expect(parseCallback({ ...result, text }).ok).toBe(true);
    expect(parseCallback({ ...result, text: `${text}x` })).toMatchObject({
      ok: false,
      code: 'BODY_TOO_LARGE',
      type: 'tool_result',
      problems: [{ pointer: '/text' }],
    });
  });

  it('R49 all text items together count', () => {
    const half = { type: 'text', text: 'x'.repeat(textBytesMax / 2) };
    expect(parseCallback({ ...result, content: [half, half] }).ok).toBe(true);
    expect(parseCallback({ ...result, content: [half, half, { type: 'text', text: 'x' }] })).toMatchObject({
      code: 'BODY_TOO_LARGE',
      problems: [{ pointer: '/content' }],
    });
  });

  it('R33 skipped items count too', () => {
    const content = Array.from({ length: contentItemsMax + 1 }, () => ({ type: 'audio' }));
    expect(pointersOf(parseCallback({ ...result, content }))).toStrictEqual(['/content']);
  });

  it('R89 prompt and choices are bounded', () => {
    const choice = userChoice.valid[0]?.wire;
    expect(pointersOf(parseCallback({ ...choice, prompt: 'x'.repeat(promptBytesMax + 1) }))).toStrictEqual(['/prompt']);
    const choices = Array.from({ length: choicesMax + 1 }, String);
    expect(pointersOf(parseCallback({ ...choice, choices }))).toStrictEqual(['/choices']);
  });
});

describe('details', () => {
  it('R33 a detail says what was expected and never quotes the message', () => {
    const parsed = parseCallback({ type: 'tool_result', id: 4711, text: 'secret', subscription: 'secret' });
    expect(parsed).toMatchObject({
      problems: [
        { pointer: '/id', detail: 'must be a string' },
        { pointer: '/subscription', detail: 'must be a boolean' },
      ],
    });
    expect(parseCallback({ type: 'tool_result', text: '' })).toMatchObject({
      problems: [{ pointer: '/id', detail: 'required, but absent' }],
    });
    expect(JSON.stringify(parseCallback({ type: 'secret' }))).not.toContain('secret');
  });
});

describe('reading text', () => {
  it('R98 the content of a view comes out character for character', () => {
    const content = '{ "big": 12345678901234567890, "small": 1.0, "huge": 1e999, "s": "\\u00e9\\/" }';
    const reading = readCallback(`{"type":"view_update","view_type":"chart","content": ${content} ,"x":1}`);
    expect(reading).toMatchObject({ ok: true, rawContent: content });
  });

  it('R33 text that is not JSON, too deep, or repeats a key is refused', () => {
    expect(readCallback('{')).toMatchObject({ ok: false, code: 'INVALID_JSON' });
    expect(readCallback('['.repeat(40))).toMatchObject({ ok: false, code: 'BODY_TOO_DEEP' });
    expect(readCallback('{"type":"tool_result","id":"a","id":"b","text":""}')).toMatchObject({
      code: 'INVALID_JSON',
      problems: [{ pointer: '/id' }],
    });
  });
});

describe('encoding', () => {
  it('T12 T13 what a tool server sends is what a runtime reads', () => {
    const sent = {
      type: 'tool_result' as const,
      groupId: 'thr_1',
      id: 'call_1',
      callId: undefined,
      text: 'done',
      content: [{ type: 'image' as const, data: 'aGk=', mediaType: 'image/png' }],
      displayAs: [{ type: 'diff' as const, content: { path: 'a', patch: 'b' } }],
      subscription: false,
    };
    const wire = encodeCallback(sent);
    expect(wire).toMatchObject({ group_id: 'thr_1', display_as: sent.displayAs, content: sent.content });
    expect(wire).not.toHaveProperty('call_id');
    const { callId: _, ...rest } = sent;
    expect(parseCallback(wire)).toStrictEqual({ ok: true, callback: rest });
  });

  it('T12 T13 a tool server repeats ids of any length; a runtime takes none that it cannot have made', () => {
    const id = 'i'.repeat(idCharactersMax + 1);
    const wire = encodeCallback({
      type: 'tool_result',
      groupId: id,
      id,
      callId: '',
      text: 'done',
      subscription: false,
    });
    expect(wire).toMatchObject({ group_id: id, id, call_id: '' });
    expect(pointersOf(parseCallback(wire))).toStrictEqual(['/group_id', '/id', '/call_id']);
    expect(() => encodeCallback({ type: 'view_update', groupId: id, viewType: id, content: {} })).toThrow('/view_type');
  });

  it('T18 a result with neither text nor content is never sent', () => {
    const empty = { type: 'tool_result' as const, groupId: 'thr_1', id: 'call_1', subscription: false };
    expect(() => encodeCallback(empty)).toThrow(RangeError);
  });
});

function pointersOf(parsed: ReturnType<typeof parseCallback>): string[] {
  return parsed.ok ? [] : parsed.problems.map((problem) => problem.pointer);
}
