// `dormouse completion`: the script that completes this tool's commands in a shell.
import { Argument, type Command } from 'commander';
import { completionScript, type Shell, shells } from '../completion.ts';
import type { RunCommand } from '../command.ts';

export function addCompletionCommand(program: Command, run: RunCommand): void {
  program
    .command('completion')
    .description('print the completion script of a shell; "dormouse completion bash" says where it belongs')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(
      run(async ({ terminal }, shell: Shell) => {
        terminal.write(completionScript(program, shell));
      }),
    );
}
