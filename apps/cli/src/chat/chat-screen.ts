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

  function openInput(): Interface {
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
    return opened;
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

  const screen: ChatScreen = {
    line(text) {
      screen.endStream();
      hideInput();
      terminal.write(`${text}\n`);
      if (asking) input?.prompt(true);
    },
    stream(text) {
      if (!streaming) hideInput();
      streaming = true;
      terminal.write(cleanText(text));
    },
    endStream() {
      if (!streaming) return;
      streaming = false;
      terminal.write('\n');
      if (asking) input?.prompt(true);
    },
    ask() {
      asking = true;
      if (!streaming) (input ?? openInput()).prompt(true);
    },
    async choose(question, options, signal) {
      screen.endStream();
      hideInput();
      closeInput();
      const chosen = await select<string>({ message: cleanText(question), options: [...options], signal });
      const wasAsking = asking;
      openInput();
      if (wasAsking) screen.ask();
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
