// The line a user types on: can be hidden while something is printed above it, and be replaced by a question. A paste
// of several lines is one line of it.
import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline';
import type { Terminal } from '../terminal.ts';
import { openPastedInput, type PastedInput, pastedText, pasteModeOff, pasteModeOn } from './pasted-input.ts';

export interface InputEvents {
  onLine(text: string): void;
  /** Ctrl-C. */
  onInterrupt(): void;
  /** Ctrl-D, or the input has ended. */
  onEnd(): void;
}

export interface InputLine {
  open(): void;
  close(): void;
  /** Shows the line with what has been typed so far. */
  show(): void;
  /** Hides the line; what was typed is kept. */
  hide(): void;
  /** True from `show` until a line is entered. */
  isShown(): boolean;
}

export function createInputLine(terminal: Terminal, events: InputEvents): InputLine {
  let reader: Interface | null = null;
  let pasted: PastedInput | null = null;
  let shown = false;
  return {
    open() {
      pasted = openPastedInput(terminal.stdin);
      terminal.write(pasteModeOn);
      const opened = createInterface({
        input: pasted.input,
        output: terminal.stdout,
        prompt: terminal.style('bold', '> '),
      });
      opened.on('line', (text) => {
        shown = false;
        events.onLine(pastedText(text));
      });
      opened.on('SIGINT', () => events.onInterrupt());
      opened.on('close', () => {
        if (reader === opened) events.onEnd(); // not when it was closed from here
      });
      reader = opened;
    },
    close() {
      const opened = reader;
      reader = null;
      opened?.close();
      pasted?.close();
      if (pasted !== null) terminal.write(pasteModeOff);
      pasted = null;
    },
    show() {
      shown = true;
      reader?.prompt(true);
    },
    hide() {
      if (!shown) return;
      clearLine(terminal.stdout, 0);
      cursorTo(terminal.stdout, 0);
    },
    isShown: () => shown,
  };
}
