// The terminal during a chat: an input line at the bottom, and everything else above it, also what arrives by itself.
//
// Invariants:
//   S1. While a question is open nothing else is written: it would tear the question apart. It is written afterwards.
import { isCancel, select } from '@clack/prompts';
import { cleanText } from '../clean-text.ts';
import type { Terminal } from '../terminal.ts';
import { createInputLine, type InputEvents } from './input-line.ts';

export interface ChatScreen {
  /** Prints whole lines above the input; whoever passes text from elsewhere has cleaned it. */
  line(text: string): void;
  /** Prints a piece of an answer; the input is hidden until `endStream`. */
  stream(text: string): void;
  endStream(): void;
  /** Shows the input line. */
  ask(): void;
  /** Lets a person choose; null when they did not, or the signal came first. */
  choose<Value extends string>(
    question: string,
    options: readonly Option<Value>[],
    signal: AbortSignal,
  ): Promise<Value | null>;
  close(): void;
}

interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

export function createChatScreen(terminal: Terminal, events: InputEvents): ChatScreen {
  const input = createInputLine(terminal, events);
  const held: (() => void)[] = [];
  let streaming = false;
  let choosing = false;
  /** The input was asked for while an answer was being printed. */
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
      const chosen = await askQuestion(question, options, signal);
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

async function askQuestion<Value extends string>(
  question: string,
  options: readonly Option<Value>[],
  signal: AbortSignal,
): Promise<Value | null> {
  // A signal of its own: the question would still close the terminal's raw mode when the outer one aborts later.
  const open = new AbortController();
  const forward = (): void => open.abort();
  signal.addEventListener('abort', forward);
  const chosen = await select<string>({ message: cleanText(question), options: [...options], signal: open.signal });
  signal.removeEventListener('abort', forward);
  return isCancel(chosen) ? null : (options.find((option) => option.value === chosen)?.value ?? null);
}
