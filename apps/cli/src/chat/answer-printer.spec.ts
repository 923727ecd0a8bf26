import { describe, expect, it } from 'vitest';
import { createAnswerPrinter } from './answer-printer.ts';
import type { ChatScreen } from './chat-screen.ts';

/** The content of the screen; a line feed stands where a stream ended. */
function printing(): { readonly shown: () => string; readonly printer: ReturnType<typeof createAnswerPrinter> } {
  let text = '';
  let streaming = false;
  const screen: ChatScreen = {
    line: (line) => (text += `${line}\n`),
    stream(piece) {
      streaming = true;
      text += piece;
    },
    endStream() {
      if (streaming) text += '\n';
      streaming = false;
    },
    ask: () => undefined,
    choose: () => Promise.resolve(null),
    close: () => undefined,
  };
  return { shown: () => text, printer: createAnswerPrinter(screen) };
}

const delta = (offset: number, text: string, attempt = 1, id = 'cmp_1') => ({
  completion_id: id,
  attempt,
  offset,
  kind: 'text' as const,
  index: 0,
  text,
});

describe('an answer', () => {
  it('appears as it is spoken, and is completed by what was committed', () => {
    const { shown, printer } = printing();
    printer.speak(delta(0, 'Hello '));
    printer.speak(delta(6, 'wor'));
    expect(shown()).toBe('Hello wor');
    printer.complete('cmp_1', 'Hello world.');
    expect(shown()).toBe('Hello world.\n');
  });

  it('is shown whole when nothing of it was heard, and not at all when it is empty', () => {
    const { shown, printer } = printing();
    printer.complete('cmp_1', '');
    printer.complete('cmp_2', 'Hello.');
    expect(shown()).toBe('Hello.\n');
  });

  it('is not repeated by pieces that overlap, come again after a reconnection, or come late', () => {
    const { shown, printer } = printing();
    printer.speak(delta(0, 'Hello '));
    printer.speak(delta(0, 'Hello wor'));
    printer.complete('cmp_1', 'Hello world.');
    printer.speak(delta(6, 'world.'));
    expect(shown()).toBe('Hello world.\n');
  });

  it('begins anew with a new attempt, and when what was committed is something else', () => {
    const { shown, printer } = printing();
    printer.speak(delta(0, 'Hal'));
    printer.speak(delta(0, 'Hello', 2));
    printer.complete('cmp_1', 'Hi.');
    expect(shown()).toBe('Hal\nHello\nHi.\n');
  });
});
