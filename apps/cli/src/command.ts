// What a group of commands looks like to the program.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** Runs a command's body with its context; what it returns is the exit code, nothing means done. */
export type RunCommand = (body: (context: CliContext) => Promise<number | void>) => Promise<void>;

export type AddCommands = (program: Command, run: RunCommand) => void;
