import type { Problem } from '@dormouse/json';
import { describe, expect, it } from 'vitest';
import cancelToolCall from '../fixtures/cancel-tool-call.json' with { type: 'json' };
import choiceAnswer from '../fixtures/choice-answer.json' with { type: 'json' };
import closeThread from '../fixtures/close-thread.json' with { type: 'json' };
import migrate from '../fixtures/migrate.json' with { type: 'json' };
import { encodeChoiceAnswer, parseChoiceAnswer } from './choice-answer.ts';
import { encodeCancelToolCall, encodeCloseThread, encodeMigrate } from './notice.ts';
import { parseCancelToolCall, parseCloseThread, parseMigrate } from './notice.ts';

type Parsed = { ok: true } | { ok: false; problems: readonly Problem[] };
const pointersOf = (parsed: Parsed) => (parsed.ok ? [] : parsed.problems.map((problem) => problem.pointer));

describe('notices', () => {
  it.each(closeThread.valid)('$title', ({ wire, code }) => {
    expect(encodeCloseThread(code)).toStrictEqual(wire);
    expect(parseCloseThread({ ...wire, extra: 1 })).toStrictEqual({ ok: true, notice: code });
  });

  it.each(closeThread.invalid)('$title: refused', ({ wire, pointers }) => {
    expect(pointersOf(parseCloseThread(wire))).toStrictEqual(pointers);
  });

  it.each(cancelToolCall.valid)('$title', ({ wire, code }) => {
    expect(encodeCancelToolCall(code)).toStrictEqual(wire);
    expect(parseCancelToolCall({ ...wire, extra: 1 })).toStrictEqual({ ok: true, notice: code });
  });

  it.each(cancelToolCall.invalid)('$title: refused', ({ wire, pointers }) => {
    expect(pointersOf(parseCancelToolCall(wire))).toStrictEqual(pointers);
  });

  it.each(migrate.valid)('$title', ({ wire, code }) => {
    expect(encodeMigrate(code)).toStrictEqual(wire);
    expect(parseMigrate({ ...wire, extra: 1 })).toStrictEqual({ ok: true, notice: code });
  });

  it.each(migrate.invalid)('$title: refused', ({ wire, pointers }) => {
    expect(pointersOf(parseMigrate(wire))).toStrictEqual(pointers);
  });

  it('R59 R64 R101 nothing but the fields of the protocol leaves', () => {
    const extra = { threadId: 'thr_1', toolCallId: 'call_1', reason: 'x' };
    expect(() => encodeCloseThread(extra)).toThrow('unrecognized_keys');
    expect(() => encodeCancelToolCall(extra)).toThrow('unrecognized_keys');
    expect(() => encodeMigrate({ sessionId: 'thr_1', destinationUrl: 'there' })).toThrow('destination_url');
  });
});

describe('choice answer', () => {
  it.each(choiceAnswer.valid)('$title', ({ wire, code }) => {
    expect(encodeChoiceAnswer(code)).toStrictEqual(wire);
    expect(parseChoiceAnswer({ ...wire, extra: 1 })).toStrictEqual({ ok: true, answer: code });
  });

  it.each<{ title: string; wire: unknown; pointers: string[] }>(choiceAnswer.invalid)(
    '$title: refused',
    ({ wire, pointers }) => {
      expect(pointersOf(parseChoiceAnswer(wire))).toStrictEqual(pointers);
    },
  );

  it('R91 an index that cannot be one is never sent', () => {
    expect(() => encodeChoiceAnswer({ id: 'call_1', selected: 1.5 })).toThrow('selected');
  });
});
