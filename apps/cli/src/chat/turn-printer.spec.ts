import type { Retrying } from '@dormouse/client';
import { expect, it } from 'vitest';
import type { ChatScreen } from './chat-screen.ts';
import { createTurnPrinter } from './turn-printer.ts';

it('says in one line that the model does not answer, where it is and why, and again when that changes', () => {
  const lines: string[] = [];
  const none = (): undefined => undefined;
  const screen: ChatScreen = {
    ...{ stream: none, endStream: none, ask: none, close: none, choose: async () => null },
    line: (text) => void lines.push(text),
  };
  const printer = createTurnPrinter(screen, { of: (id) => id }, (_style, text) => text, 80);
  const retrying: Retrying = {
    ...{ completion_id: 'cmp_1', attempt: 1, code: 'MODEL_FAILED', host: '127.0.0.1:9' },
    ...{ detail: 'connect ECONNREFUSED\n\u001b[2J', next_at: '2026-01-01T00:00:00.000Z' },
  };
  for (const attempt of [1, 2, 3]) printer.print({ frame: 'retrying', retrying: { ...retrying, attempt } });
  printer.print({ frame: 'retrying', retrying: { ...retrying, host: null, attempt: 4, detail: 'overloaded' } });
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^! the model at 127\.0\.0\.1:9 does not answer: connect ECONNREFUSED .*\(MODEL_FAILED\)/);
  for (const character of ['\n', '\u001b']) expect(lines[0]).not.toContain(character);
  expect(lines[1]).toContain('the model does not answer: overloaded');
});
