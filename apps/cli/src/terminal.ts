// What the tool needs of the process: where answers go, where words for people go, and whether there is a person at all.
//
// Invariants:
//   T1. stdout carries answers, stderr carries progress and errors; with --json stdout is JSON and nothing else.
//   T2. Nothing is asked of a person where stdin or stdout is not a terminal.
//   T3. A reader that has seen enough (`| head`) ends the tool quietly.
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** True when a person can be asked. (T2) */
  readonly interactive: boolean;
  readonly columns: number;
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
    // `void`: what a stream answers is not what a command returns, its exit code.
    write: (text) => void process.stdout.write(text),
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    style: (format, text) => styleText(format, text, { stream: process.stdout }),
  };
}
