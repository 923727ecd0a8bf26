// `dormouse migrate`: uses tool servers at other addresses, and waits until that is done or was undone.
import { ask, isEvent } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { pairOf } from '../../given-values.ts';

export function addMigrateCommand(program: Command, run: RunCommand): void {
  program
    .command('migrate <thread> <servers...>')
    .description('use tool servers at other addresses, all or none: NAME=URL …')
    .action(run(migrate));
}

async function migrate(context: CliContext, thread: string, given: readonly string[]): Promise<void> {
  const client = await context.connect();
  const tool_servers = Object.fromEntries(given.map((text) => pairOf(text, `${cleanLine(text)} is not NAME=URL`)));
  const params = { path: { id: thread } };
  const { position } = await ask(client.api.GET('/v1/threads/{id}', { params }));
  const accepted = await ask(client.api.POST('/v1/threads/{id}/migration', { params, body: { tool_servers } }));
  progress(context, `asked (${accepted.id}); waiting for the tool servers`);
  for await (const frame of client.follow(thread, { after: position })) {
    if (frame.frame !== 'event') continue;
    const { event } = frame;
    if (isEvent(event, 'request_refused') && event.request_id === accepted.id)
      throw new CliFailure(exitCodes.notInOrder, `refused: ${event.code}`);
    if (isEvent(event, 'migration_started')) progress(context, 'the thread has stopped');
    if (!isEvent(event, 'migration_ended')) continue;
    if (!event.ok)
      throw new CliFailure(
        exitCodes.failed,
        `nothing was moved: ${event.problems.map((problem) => cleanLine(problem)).join('; ')}`,
        whereItStands(event.migrated),
      );
    return answer(context, `moved; told to migrate: ${event.migrated.join(', ') || 'none needed it'}`, event);
  }
}

/** Servers that had handed over before another refused are asked to take back; some may not. */
const whereItStands = (gone: readonly string[]): string =>
  gone.length === 0
    ? 'The thread goes on with its tool servers where they were.'
    : `The thread goes on with its tool servers where they were; look after ${gone.map((name) => cleanLine(name)).join(', ')}: it has handed over, and did not come back.`;
