// The commands that hints name. They work as they are pasted: the next command has the flags that this one had.
//
// Invariants:
//   H1. A key is never repeated: hints are copied into notes and shared.
import { cli } from './command-name.ts';

/** The command line of a next step: `hint('chat thr_1')` is `npx … chat thr_1 --url http://…`. */
export type Hint = (command: string) => string;

/** Flags as they were given; undefined for one that came from elsewhere, where the next call finds it too. (H1) */
export interface RepeatedFlags {
  readonly url?: string | undefined;
  readonly data?: string | undefined;
  readonly profile?: string | undefined;
}

export function createHint(given: RepeatedFlags): Hint {
  const flags = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${quoted(value)}`],
  );
  return (command) => [cli, command, ...flags].join(' ');
}

/** For a shell; most values need no quotes. */
export const quoted = (value: string): string =>
  /^[\w./:@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
