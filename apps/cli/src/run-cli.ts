// The commands, and how every one of them ends.
//
// Invariants:
//   C1. A command ends with one exit code of exit-code.ts; errors go to stderr, with the next step.
//   C2. URL and key come from flags, then the environment, then a profile, then the data directory, in that order. A
//       profile that a flag names comes before the environment.
import { Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import type { Client } from '@dormouse/client';
import { addAgentCommands } from './commands/agents/agents.ts';
import { addAuditCommands } from './commands/tenants/audit.ts';
import { addBackupCommand } from './commands/runtime/backup.ts';
import { addChatCommand } from './commands/threads/chat.ts';
import { addChoiceCommands } from './commands/threads/choices.ts';
import { addClockCommand } from './commands/runtime/clock.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConsoleCommand } from './commands/runtime/console.ts';
import { addDoctorCommand } from './commands/runtime/doctor.ts';
import { addEventCommand } from './commands/threads/events.ts';
import { addInboxCommands } from './commands/people/inbox.ts';
import { addKeyCommands } from './commands/tenants/keys.ts';
import { addListeningCommands } from './commands/threads/listening.ts';
import { addLogCommands } from './commands/threads/log.ts';
import { addMessageCommands } from './commands/threads/messages.ts';
import { addMigrateCommand } from './commands/runtime/migrate.ts';
import { addModelCommand } from './commands/agents/models.ts';
import { addParkedCommands } from './commands/runtime/parked.ts';
import { addProfileCommands } from './commands/profile.ts';
import { addReconcileCommand } from './commands/runtime/reconcile.ts';
import { addSecretCommands } from './commands/agents/secrets.ts';
import { addErasureCommands } from './commands/people/erasures.ts';
import { addTenantCommands } from './commands/tenants/tenants.ts';
import { addSourceCommands } from './commands/arrivals/sources.ts';
import { addThreadCommands } from './commands/threads/threads.ts';
import { addToolCommands } from './commands/agents/tools.ts';
import { addTraceCommand } from './commands/threads/trace.ts';
import { addWebhookCommands } from './commands/tenants/webhooks.ts';
import { addWhyCommand } from './commands/threads/why.ts';
import type { AddCommands, RunCommand } from './command.ts';
import { toolVersion } from './command-name.ts';
import { connect, type ConnectionFlags, dataStandard, urlStandard } from './connection.ts';
import type { CliContext } from './context.ts';
import { exitCodes, wrongUsage } from './exit-code.ts';
import { report } from './explain.ts';
import { createHint, type Hint } from './hint.ts';
import type { Terminal } from './terminal.ts';

/** By heading of the help, in its order. */
const groups: Readonly<Record<string, readonly AddCommands[]>> = {
  'Conversations:': [addChatCommand, addMessageCommands, addThreadCommands, addChoiceCommands, addInboxCommands],
  'What happens in a thread:': [addWhyCommand, addEventCommand, addTraceCommand, addListeningCommands],
  'Agents, models and tools:': [addAgentCommands, addModelCommand, addSecretCommands, addToolCommands],
  'Events from outside:': [addSourceCommands],
  'Logs and moves:': [addLogCommands, addMigrateCommand],
  'Operation:': [
    addConsoleCommand,
    addKeyCommands,
    addTenantCommands,
    addWebhookCommands,
    addDoctorCommand,
    addParkedCommands,
    addAuditCommands,
    addErasureCommands,
    addBackupCommand,
    addReconcileCommand,
    addClockCommand,
  ],
  'This tool:': [addProfileCommands, addCompletionCommand],
};

const exitCodeHelp = `
Exit codes: 0 done · 1 failed · 2 usage · 3 nobody answers · 4 key · 5 not in order · 6 still waiting · 130 interrupted`;

/** Every command with its options; none runs before the program parses its arguments. */
export function createProgram(run: RunCommand, output: OutputConfiguration = {}): Command {
  const program = new Command('dormouse').description('Talk to the Dormouse agent runtime.');
  for (const option of connectionOptions()) program.addOption(option);
  program
    .option('--json', 'answer in JSON, one value per line', false)
    .addHelpText('after', exitCodeHelp)
    .version(toolVersion, '--version', 'the version of this tool')
    .configureOutput(output)
    .exitOverride();
  for (const [heading, members] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const add of members) add(program, run);
  }
  return program.helpCommand('help [command]', 'what a command does, and its options');
}

export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.done;
  const run: RunCommand =
    (body) =>
    async (...given) => {
      exitCode = (await body(contextOf(program, terminal), ...given)) ?? exitCodes.done;
    };
  let group: Command | null = null;
  const program = createProgram(run, {
    writeOut: (text) => terminal.write(text),
    writeErr: (text) => (wantsJson(argv) ? undefined : terminal.err(text.trimEnd())), // JSON comes at the end
  });
  program.hook('preAction', (_, acting) => {
    group = acting.parent;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    const hint = hintOf(program);
    if (!(error instanceof CommanderError)) return report(terminal, wantsJson(argv), error, hint, listOf(group));
    if (error.exitCode === 0) return exitCodes.done;
    if (!wantsJson(argv)) return exitCodes.usage; // the message is printed already
    const why = error.code === 'commander.help' ? 'no command was given' : error.message.replace(/^error: /, '');
    return report(terminal, true, wrongUsage(why, 'See: dormouse --help'), hint);
  }
}

function contextOf(program: Command, terminal: Terminal): CliContext {
  const flags = flagsOf(program);
  let client: Promise<Client> | null = null;
  return {
    terminal,
    flags,
    typed: typedFlags(program),
    json: program.opts<{ readonly json: boolean }>().json,
    hint: hintOf(program),
    connect: () => (client ??= connect(flags)),
  };
}

/** The list of a group that lists when it is named alone. */
const listOf = (group: Command | null): string | null =>
  group !== null && group.parent !== null && group.commands.some((command) => command.name() === 'list')
    ? group.name()
    : null;

const connectionOptions = (): readonly Option[] => [
  new Option('--url <url>', `where the runtime is (standard: ${urlStandard})`).env('DORMOUSE_URL'),
  new Option('--key <key>', 'the key').env('DORMOUSE_KEY'),
  new Option(
    '--data <dir>',
    `data directory of a standalone runtime; the key is read from it (standard: ${dataStandard})`,
  ).env('DORMOUSE_DATA_DIR'),
  new Option('--profile <name>', 'a runtime that "dormouse profile set" named').env('DORMOUSE_PROFILE'),
  new Option('--config-home <dir>').env('XDG_CONFIG_HOME').hideHelp(),
];

/** (C2) */
function flagsOf(program: Command): ConnectionFlags {
  const isNamed = program.getOptionValueSource('profile') === 'cli';
  return isNamed ? { ...typedFlags(program), configHome: program.opts<ConnectionFlags>().configHome } : program.opts();
}

function typedFlags(program: Command): ConnectionFlags {
  const isTyped = ([name]: readonly [string, unknown]): boolean => program.getOptionValueSource(name) === 'cli';
  return Object.fromEntries(Object.entries(program.opts<ConnectionFlags>()).filter(isTyped));
}

/** Only flags are repeated: what the environment says, the next call reads there. */
function hintOf(program: Command): Hint {
  const { url, data, profile } = typedFlags(program);
  return createHint({ url, data, profile });
}

/** Also when the arguments before it are wrong: an error is JSON where answers are. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}
