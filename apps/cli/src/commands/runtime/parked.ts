// `dormouse parked`: threads that are parked because of a poisoned input; list, show, replay, drop.
import { ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, table } from '../../context.ts';

export function addParkedCommands(program: Command, run: RunCommand): void {
  const parked = program.command('parked').description('threads that an input has poisoned');
  parked
    .command('list', { isDefault: true })
    .description('parked threads, oldest first')
    .action(() => run(list));
  parked
    .command('show <thread>')
    .description('why it is parked, and what waits in order')
    .action((thread: string) => run((context) => show(context, thread)));
  parked
    .command('replay <thread>')
    .description('let it go on: what waits first, in order, then what is new')
    .action((thread: string) => run((context) => replay(context, thread)));
  parked
    .command('drop <thread> <input>')
    .description('leave one input out of every replay; it stays to be seen')
    .action((thread: string, input: string) => run((context) => drop(context, thread, input)));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found: Schemas['ParkedThread'][] = [];
  for await (const thread of everyItem((cursor) => ask(api.GET('/v1/parked', { params: { query: { cursor } } }))))
    found.push(thread);
  if (context.json) return found.forEach((thread) => answer(context, '', thread));
  if (found.length === 0) return context.terminal.err('No thread is parked.');
  const rows = found.map((thread) => [thread.thread_id, thread.state, thread.parked_at, cleanLine(thread.reason, 60)]);
  context.terminal.out(table([['THREAD', 'STATE', 'SINCE', 'REASON'], ...rows]));
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
