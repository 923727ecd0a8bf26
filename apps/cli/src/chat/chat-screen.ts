// The terminal during a chat: an input line at the bottom, and everything else above it, including unsolicited events.
//
// Invariants:
//   S1. While a question is open nothing else is written, as it would break the question apart. It is written
//       afterwards.
import { cleanText } from '../clean-text.ts';
import type { Terminal } from '../terminal.ts';
import { createInputLine, type InputEvents } from './input-line.ts';
import { askQuestion, type Option } from './question.ts';

export interface ChatScreen {
  /** Prints whole lines above the input; the caller has cleaned text from elsewhere. */
  line(text: string): void;
  /** Prints a part of an answer; the input is hidden until `endStream`. */
  stream(text: string): void;
  endStream(): void;
  /** Shows the input line. */
  ask(): void;
  /** Lets a user choose, then clears the question; null when no choice was made, or the signal came first. */
  choose<Value extends string>(
    question: string,
    options: readonly Option<Value>[],
    signal: AbortSignal,
  ): Promise<Value | null>;
  close(): void;
}

export function createChatScreen(terminal: Terminal, events: InputEvents): ChatScreen {
  const input = createInputLine(terminal, events);
  const held: (() => void)[] = [];
  let streaming = false;
  let choosing = false;
  /** The input was requested while an answer was being printed. */
  let wanted = false;

  /** (S1) */
  function hold(write: () => void): boolean {
    if (choosing) held.push(write);
    return choosing;
  }

  const screen: ChatScreen = {
    line(text) {
      if (hold(() => screen.line(text))) return;
      screen.endStream();
      input.hide();
      terminal.write(`${text}\n`);
      if (input.isShown()) input.show();
    },
    stream(text) {
      if (hold(() => screen.stream(text))) return;
      if (!streaming) input.hide();
      streaming = true;
      terminal.write(cleanText(text));
    },
    endStream() {
      if (hold(() => screen.endStream()) || !streaming) return;
      streaming = false;
      terminal.write('\n');
      if (wanted || input.isShown()) input.show();
      wanted = false;
    },
    ask() {
      if (hold(() => screen.ask())) return;
      if (streaming) wanted = true;
      else input.show();
    },
    async choose(question, options, signal) {
      screen.endStream();
      input.hide();
      input.close();
      choosing = true;
      const chosen = await askQuestion(terminal, question, options, signal);
      choosing = false;
      input.open();
      for (const write of held.splice(0)) write();
      return chosen;
    },
    close() {
      screen.endStream();
      input.hide();
      input.close();
    },
  };
  input.open();
  return screen;
}
