// `dormouse events`: the events of a thread, or of all threads, past and live.
import { ask, type Client, everyItem, type TenantEvent, type ThreadEvent } from '@dormouse/client';
import type { Command } from 'commander';
import { createCallNames } from '../../call-names.ts';
import { answer, type CliContext, progress, sayOnce } from '../../context.ts';
import { cleanLine } from '../../clean-text.ts';
import { wholeNumber } from '../../given-values.ts';
import { quoted } from '../../hint.ts';
import type { RunCommand } from '../../command.ts';
import { eventLine } from '../../show-event.ts';

const pageSize = 200;

interface EventFlags {
  readonly follow: boolean;
  readonly after?: string;
}

export function addEventCommand(program: Command, run: RunCommand): void {
  program
    .command('events [thread]')
    .description('the durable events of a thread, in order; without one, where those of all threads are')
    .option('-f, --follow', 'go on until the thread is closed; without a thread until Ctrl-C', false)
    .option('--after <place>', 'only later ones: a position; without a thread a cursor, or latest')
    .action(
      run((context, thread: string | undefined, flags: EventFlags) =>
        thread === undefined ? showTenantEvents(context, flags) : showEvents(context, thread, flags),
      ),
    );
}

async function showTenantEvents(context: CliContext, { after, follow }: EventFlags): Promise<void> {
  const client = await context.connect();
  const show = (event: TenantEvent): void => answer(context, tenantLine(event), event);
  if (follow) {
    const onReconnect = sayOnce((reason) => progress(context, `connection lost (${reason}), trying again`));
    for await (const event of client.events({ after, onReconnect })) show(event);
    return;
  }
  for (let cursor = after; ;) {
    const query = { limit: pageSize, after: cursor };
    const page = await ask(client.api.GET('/v1/events', { params: { query } }));
    page.data.forEach(show);
    cursor = page.next_cursor;
    if (page.data.length > 0) continue;
    return progress(context, `what comes next: ${context.hint(`events --after ${quoted(cursor)}`)}`);
  }
}

const tenantLine = ({ at, thread_id: thread, position, type }: TenantEvent): string =>
  `${at}  ${cleanLine(thread)}  ${String(position).padStart(4)}  ${cleanLine(type)}`;

async function showEvents(context: CliContext, thread: string, flags: EventFlags): Promise<void> {
  const after = wholeNumber('--after', flags.after ?? '0');
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
    const query = { after: position, limit: pageSize };
    const { data } = await ask(api.GET('/v1/threads/{id}/events', { params: { path: { id: thread }, query } }));
    position = data.at(-1)?.position ?? position;
    return { data, next_cursor: data.length < pageSize ? null : 'more' }; // this list's own cursor never ends, for polling
  };
  for await (const event of everyItem(next)) await show(event);
}
