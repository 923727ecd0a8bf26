// How a group of commands is registered with the program.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** The action of a command: its body gets the context, then the arguments and options. It may return an exit code. */
export type RunCommand = <Given extends readonly unknown[]>(
  body: (context: CliContext, ...given: Given) => Promise<number | void>,
) => (...given: Given) => Promise<void>;

export type AddCommands = (program: Command, run: RunCommand) => void;
