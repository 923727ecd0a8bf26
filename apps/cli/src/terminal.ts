// The parts of the process that the tool uses: where answers and messages are written, and whether a user is present.
//
// Invariants:
//   T1. stdout carries answers, stderr carries progress and errors; with --json stdout is JSON and nothing else.
//   T2. No question is asked where stdin or stdout is not a terminal.
//   T3. A reader that closes early (`| head`) ends the tool quietly.
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** True when a user can be asked. (T2) */
  readonly interactive: boolean;
  readonly columns: number;
  /** True when stdout is a terminal; absent counts as false. */
  readonly isTerminal?: boolean;
  /** Writes as it is, without a line feed. */
  write(text: string): void;
  out(line: string): void;
  err(line: string): void;
  /** Decorates for stdout; plain where it is not a terminal or colours are off. */
  readonly style: (format: 'dim' | 'bold' | 'red' | 'yellow' | 'cyan', text: string) => string;
}

const columnsStandard = 100;

export function processTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0); // (T3)
    throw error;
  });
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    interactive: process.stdin.isTTY && process.stdout.isTTY,
    columns: process.stdout.columns || columnsStandard,
    isTerminal: process.stdout.isTTY,
    // `void`: the return value of a stream's write is not a command's exit code.
    write: (text) => void process.stdout.write(text),
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    style: (format, text) => styleText(format, text, { stream: process.stdout }),
  };
}
