// The commands, and how every one of them ends.
//
// Invariants:
//   C1. A command ends with one exit code of exit-code.ts; errors go to stderr, with the next step.
//   C2. URL and key come from flags, then the environment, then the data directory, in that order.
import { Command, CommanderError, Option } from 'commander';
import type { Client } from '@dormouse/client';
import { addAgentCommands } from './commands/agents.ts';
import { addChatCommand } from './commands/chat.ts';
import { addChoiceCommands } from './commands/choices.ts';
import { addClockCommand } from './commands/clock.ts';
import { addConsoleCommand } from './commands/console.ts';
import { addEventCommand } from './commands/events.ts';
import { addListeningCommands } from './commands/listening.ts';
import { addLogCommands } from './commands/log.ts';
import { addMessageCommands } from './commands/messages.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addModelCommand } from './commands/models.ts';
import { addParkedCommands } from './commands/parked.ts';
import { addSecretCommands } from './commands/secrets.ts';
import { addThreadCommands } from './commands/threads.ts';
import { addToolCommands } from './commands/tools.ts';
import { addTraceCommand } from './commands/trace.ts';
import { addWhyCommand } from './commands/why.ts';
import type { AddCommands, RunCommand } from './command.ts';
import { toolVersion } from './command-name.ts';
import { connect, type ConnectionFlags } from './connection.ts';
import type { CliContext } from './context.ts';
import { CliFailure, exitCodes } from './exit-code.ts';
import { report } from './explain.ts';
import type { Terminal } from './terminal.ts';

const groups: readonly AddCommands[] = [
  addChatCommand,
  addConsoleCommand,
  addMessageCommands,
  addThreadCommands,
  addWhyCommand,
  addParkedCommands,
  addEventCommand,
  addTraceCommand,
  addChoiceCommands,
  addListeningCommands,
  addAgentCommands,
  addModelCommand,
  addSecretCommands,
  addToolCommands,
  addLogCommands,
  addMigrateCommand,
  addClockCommand,
];

const exitCodeHelp = `
Exit codes: 0 done · 1 failed · 2 usage · 3 nobody answers · 4 key · 5 not in order · 6 still waiting · 130 interrupted`;

export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = new Command('dormouse').description('Talk to the Dormouse agent runtime.');
  program
    .addOption(new Option('--url <url>', 'where the runtime is').env('DORMOUSE_URL').default('http://127.0.0.1:7420'))
    .addOption(new Option('--key <key>', 'the key').env('DORMOUSE_KEY'))
    .addOption(
      new Option('--data <dir>', 'data directory of a standalone runtime; the key is read from it')
        .env('DORMOUSE_DATA_DIR')
        .default('./.dormouse'),
    )
    .option('--json', 'answer in JSON, one value per line', false)
    .addHelpText('after', exitCodeHelp)
    .version(toolVersion, '--version', 'the version of this tool')
    .configureOutput({
      writeOut: (text) => terminal.write(text),
      writeErr: (text) => (wantsJson(argv) ? undefined : terminal.err(text.trimEnd())), // JSON comes at the end
    })
    .exitOverride();
  const run: RunCommand = async (body) => {
    const flags = program.opts<ConnectionFlags & { readonly json: boolean }>();
    let client: Promise<Client> | null = null;
    const context: CliContext = { terminal, json: flags.json, connect: () => (client ??= connect(flags)) };
    exitCode = (await body(context)) ?? exitCodes.done;
  };
  for (const add of groups) add(program, run);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(terminal, wantsJson(argv), error);
    if (error.exitCode === 0) return exitCodes.done;
    if (!wantsJson(argv)) return exitCodes.usage; // the message is printed already
    const why = error.code === 'commander.help' ? 'no command was given' : error.message.replace(/^error: /, '');
    return report(terminal, true, new CliFailure(exitCodes.usage, why, 'See: dormouse --help'));
  }
}

/** Also when the arguments before it are wrong: an error is JSON where answers are. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}
