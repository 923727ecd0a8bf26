// `dormouse events`: the events of a thread, past and live.
import { ask, type Client, everyItem, type ThreadEvent } from '@dormouse/client';
import type { Command } from 'commander';
import { createCallNames } from '../call-names.ts';
import { answer, type CliContext, progress, sayOnce } from '../context.ts';
import type { RunCommand } from '../command.ts';
import { eventLine } from '../show-event.ts';
import { wholeNumber } from './threads.ts';

const pageSize = 200;

interface EventFlags {
  readonly follow: boolean;
  readonly after: string;
}

export function addEventCommand(program: Command, run: RunCommand): void {
  program
    .command('events <thread>')
    .description('the durable events of a thread, in order')
    .option('-f, --follow', 'go on until the thread is closed', false)
    .option('--after <position>', 'only later ones', '0')
    .action((thread: string, flags: EventFlags) => run((context) => showEvents(context, thread, flags)));
}

async function showEvents(context: CliContext, thread: string, flags: EventFlags): Promise<void> {
  const after = wholeNumber('--after', flags.after);
  const client = await context.connect();
  const names = createCallNames(client, thread);
  const show = async (event: ThreadEvent): Promise<void> => {
    if (context.json) return answer(context, '', event);
    await names.learn(event);
    answer(context, eventLine(event, names, context.terminal.columns), event);
  };
  if (!flags.follow) return page(client, thread, after, show);
  const onReconnect = sayOnce((reason) => progress(context, `connection lost (${reason}), trying again`));
  for await (const frame of client.follow(thread, { after, onReconnect })) {
    if (frame.frame === 'event') await show(frame.event);
    if (frame.frame === 'end') progress(context, 'the thread is closed');
  }
}

async function page(
  { api }: Client,
  thread: string,
  after: number,
  show: (event: ThreadEvent) => Promise<void>,
): Promise<void> {
  let position = after;
  const next = async (): Promise<{ readonly data: readonly ThreadEvent[]; readonly next_cursor: string | null }> => {
    const { data } = (await ask(
      api.GET('/v1/threads/{id}/events', {
        params: { path: { id: thread }, query: { after: position, limit: pageSize } },
      }),
    )) ?? { data: [] };
    position = data.at(-1)?.position ?? position;
    return { data, next_cursor: data.length < pageSize ? null : 'more' }; // this list's own cursor never ends, for polling
  };
  for await (const event of everyItem(next)) await show(event);
}
