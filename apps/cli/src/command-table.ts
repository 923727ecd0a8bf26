// The commands as data, as their help has them: for the reference of the command line.
import type { Command } from 'commander';
import { createProgram } from './run-cli.ts';

export interface DescribedOption {
  /** As it is typed: `-f, --follow`, `--agent <name>`. */
  readonly term: string;
  /** With its choices, its default and its variable. */
  readonly about: string;
}

export interface DescribedCommand {
  /** Heading of the help that its group stands under. */
  readonly group: string;
  /** Without the tool's own name: `threads list`. */
  readonly path: string;
  /** The whole line: `dormouse threads list [options]`. */
  readonly usage: string;
  readonly about: string;
  readonly arguments: readonly DescribedOption[];
  readonly options: readonly DescribedOption[];
}

export interface CommandTable {
  /** Options of every command. */
  readonly everywhere: readonly DescribedOption[];
  /** In the order of the help; a command that only has commands below it is not one. */
  readonly commands: readonly DescribedCommand[];
}

export function commandTable(): CommandTable {
  const program = createProgram(() => async () => {});
  return {
    everywhere: optionsOf(program),
    commands: program.commands.flatMap((command) => describedBelow(command, command.helpGroup().replace(/:$/, ''), '')),
  };
}

function describedBelow(command: Command, group: string, above: string): readonly DescribedCommand[] {
  const path = `${above} ${command.name()}`.trim();
  if (command.commands.length > 0) return command.commands.flatMap((each) => describedBelow(each, group, path));
  const help = command.createHelp();
  return [
    {
      ...{ group, path },
      usage: help.commandUsage(command),
      about: command.description(),
      arguments: help
        .visibleArguments(command)
        .map((each) => ({ term: help.argumentTerm(each), about: help.argumentDescription(each) })),
      options: optionsOf(command),
    },
  ];
}

function optionsOf(command: Command): readonly DescribedOption[] {
  const help = command.createHelp();
  return help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => ({ term: help.optionTerm(option), about: help.optionDescription(option) }));
}
