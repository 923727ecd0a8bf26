// How far the development clock of a data directory is ahead of the machine's clock: one number in a file.
//
// The log of a directory whose clock was moved lies in the future. A process that went on with the machine's time would
// write its next commits at the time of the last one, and a sleep of seconds would end days later.
//
// Invariants:
//   O1. The file is there only when the clock was ever moved; a copy of the directory has it too.
//   O2. It is replaced in one step: a crash leaves the old number or the new one.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Fault } from '@dormouse/ports';

export interface ClockOffset {
  /** Milliseconds, as they were at the start. */
  readonly ms: number;
  /** @throws Fault UNAVAILABLE when the number cannot be stored. */
  keep(ms: number): void;
}

/** Of a process without a data directory: the offset ends with the process. */
export const unkeptOffset: ClockOffset = { ms: 0, keep: () => {} };

/** A thousand years: every date up to there can be written down. */
export const offsetMsMax = 1_000 * 365 * 86_400_000;

/** @throws Fault DATABASE_CORRUPT with the path of the file. */
export function openClockOffset(dataDir: string): ClockOffset {
  const file = resolve(join(dataDir, 'clock-offset'));
  return { ms: read(file), keep: (ms) => write(file, ms) };
}

function read(file: string): number {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (isMissing(error)) return 0; // (O1)
    throw new Fault('DATA_DIR_UNWRITABLE', `The file ${file} cannot be read: ${String(error)}`);
  }
  const ms = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (ms <= offsetMsMax) return ms;
  throw new Fault(
    'DATABASE_CORRUPT',
    `The file ${file} is damaged: it has to be a number of milliseconds, at most ${offsetMsMax}. Restore it from a backup; without it the runtime has the machine's time again.`,
  );
}

/** A directory that is not there yet, or that is a file, is for the stores to make or to refuse. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

function write(file: string, ms: number): void {
  if (ms > offsetMsMax)
    throw new Fault('UNAVAILABLE', 'The development clock does not go further than a thousand years.');
  try {
    writeFileSync(`${file}.new`, `${ms}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file); // (O2)
  } catch (error) {
    throw new Fault('UNAVAILABLE', `The development clock was not moved: ${file} cannot be written: ${String(error)}`);
  }
}

/** `3d 2h`, `2h 30m`, `90s`: two units at most. */
export function offsetText(ms: number): string {
  const [days, hours, minutes] = [86_400_000, 3_600_000, 60_000].map((unit) => Math.floor(ms / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${days}d ${hours % 24}h`;
  if (hours > 0) return `${hours}h ${minutes % 60}m`;
  return minutes > 0 ? `${minutes}m ${Math.floor(ms / 1_000) % 60}s` : `${ms / 1_000}s`;
}
