// The terminal during a chat: an input line at the bottom, and everything else above it, also what arrives by itself.
import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline';
import { isCancel, select } from '@clack/prompts';
import { cleanText } from '../clean-text.ts';
import type { Terminal } from '../terminal.ts';

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
    options: readonly { readonly value: Value; readonly label: string }[],
    signal: AbortSignal,
  ): Promise<Value | null>;
  close(): void;
}

export interface ChatScreenEvents {
  onLine(text: string): void;
  /** Ctrl-C. */
  onInterrupt(): void;
  /** Ctrl-D, or the input is gone. */
  onEnd(): void;
}

export function createChatScreen(terminal: Terminal, events: ChatScreenEvents): ChatScreen {
  let input: Interface | null = null;
  let asking = false;
  let streaming = false;
  let choosing = false;
  const held: (() => void)[] = [];

  function openInput(): void {
    const opened = createInterface({
      input: terminal.stdin,
      output: terminal.stdout,
      prompt: terminal.style('bold', '> '),
    });
    opened.on('line', (text) => {
      asking = false;
      events.onLine(text);
    });
    opened.on('SIGINT', () => events.onInterrupt());
    opened.on('close', () => {
      if (input === opened) events.onEnd(); // not when we closed it ourselves
    });
    input = opened;
  }

  function closeInput(): void {
    const opened = input;
    input = null;
    opened?.close();
  }

  function hideInput(): void {
    if (!asking) return;
    clearLine(terminal.stdout, 0);
    cursorTo(terminal.stdout, 0);
  }

  /** While a question is open nothing else is written: it would tear the question apart. */
  function hold(write: () => void): boolean {
    if (choosing) held.push(write);
    return choosing;
  }

  const screen: ChatScreen = {
    line(text) {
      if (hold(() => screen.line(text))) return;
      screen.endStream();
      hideInput();
      terminal.write(`${text}\n`);
      if (asking) input?.prompt(true);
    },
    stream(text) {
      if (hold(() => screen.stream(text))) return;
      if (!streaming) hideInput();
      streaming = true;
      terminal.write(cleanText(text));
    },
    endStream() {
      if (hold(() => screen.endStream()) || !streaming) return;
      streaming = false;
      terminal.write('\n');
      if (asking) input?.prompt(true);
    },
    ask() {
      if (hold(() => screen.ask())) return;
      asking = true;
      if (!streaming) input?.prompt(true);
    },
    async choose(question, options, signal) {
      screen.endStream();
      hideInput();
      closeInput();
      choosing = true;
      // A signal of its own: the question would still close the terminal's raw mode when the outer one aborts later.
      const open = new AbortController();
      const forward = (): void => open.abort();
      signal.addEventListener('abort', forward);
      const chosen = await select<string>({ message: cleanText(question), options: [...options], signal: open.signal });
      signal.removeEventListener('abort', forward);
      choosing = false;
      openInput();
      for (const write of held.splice(0)) write();
      return isCancel(chosen) ? null : (options.find((option) => option.value === chosen)?.value ?? null);
    },
    close() {
      screen.endStream();
      hideInput();
      closeInput();
    },
  };
  openInput();
  return screen;
}
