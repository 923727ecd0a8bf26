// How a group of commands is registered with the program.
import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** Runs a command's body with its context; its return value is the exit code, undefined means success. */
export type RunCommand = (body: (context: CliContext) => Promise<number | void>) => Promise<void>;

export type AddCommands = (program: Command, run: RunCommand) => void;
