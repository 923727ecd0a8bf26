// `dormouse parked`: threads that are parked because of a poisoned input; list, show, replay, drop.
import { ask, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, table } from '../../context.ts';

export function addParkedCommands(program: Command, run: RunCommand): void {
  const parked = program.command('parked').description('threads that an input has poisoned');
  parked.command('list', { isDefault: true }).description('parked threads, oldest first').action(run(list));
  parked.command('show <thread>').description('why it is parked, and what waits in order').action(run(show));
  parked
    .command('replay <thread>')
    .description('let it go on: what waits first, in order, then what is new')
    .action(run(replay));
  parked
    .command('drop <thread> <input>')
    .description('leave one input out of every replay; it stays to be seen')
    .action(run(drop));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  answerList(context, await whole((query) => ask(api.GET('/v1/parked', { params: { query } }))), {
    heading: ['THREAD', 'STATE', 'SINCE', 'REASON'],
    row: ({ thread_id: id, state, parked_at: since, reason }) => [id, state, since, cleanLine(reason, 60)],
    none: 'No thread is parked.',
  });
}

async function show(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const found = await ask(api.GET('/v1/parked/{thread}', { params: { path: { thread } } }));
  const rows = found.inputs.map(({ id, kind, dropped_at: dropped }) => [id, kind, dropped ?? '']);
  const text = `${found.state} since ${found.parked_at}: ${cleanLine(found.reason)}\n\n${table([['INPUT', 'KIND', 'DROPPED'], ...rows])}`;
  answer(context, text, found);
}

async function replay(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const found = await ask(api.POST('/v1/parked/{thread}/replay', { params: { path: { thread } } }));
  answer(context, `It goes on. If it is poisoned still: ${context.hint(`parked show ${thread}`)}`, found);
}

async function drop(context: CliContext, thread: string, input: string): Promise<void> {
  const { api } = await context.connect();
  const path = { params: { path: { thread } }, body: { input } };
  const found = await ask(api.POST('/v1/parked/{thread}/drop', path));
  answer(context, `Dropped. The others go on with: ${context.hint(`parked replay ${thread}`)}`, found);
}
