// `dormouse subscriptions`, `children`, `schedules`, `views`: what a thread subscribed to, spawned, scheduled and
// shows.
import { ask, whole } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, answerList, type CliContext } from '../../context.ts';
import type { RunCommand } from '../../command.ts';
import { requested } from './requested.ts';
import { addTenantScheduleCommands, listTenantSchedules } from '../arrivals/schedules.ts';

export function addListeningCommands(program: Command, run: RunCommand): void {
  addSubscriptionCommands(program, run);
  addScheduleCommands(program, run);
  program
    .command('children <thread>')
    .description('threads that a thread opened, newest first')
    .action(run(listChildren));
  program.command('views <thread>').description('the current views of its tools, as JSON').action(run(showViews));
}

function addSubscriptionCommands(program: Command, run: RunCommand): void {
  const subscriptions = program.command('subscriptions').description('what a thread listens to');
  subscriptions
    .command('list <thread>', { isDefault: true })
    .description('open subscriptions')
    .action(run(listSubscriptions));
  subscriptions
    .command('cancel <thread> <call>')
    .description('listen no more; every tool server of the agent is told')
    .action(run(cancelSubscription));
}

interface ScheduleFlags {
  readonly zone: string;
  readonly missed: 'skip' | 'once';
}

function addScheduleCommands(program: Command, run: RunCommand): void {
  const schedules = program
    .command('schedules')
    .description('messages that a clock sends to a thread; those of the tenant, which open threads');
  addTenantScheduleCommands(schedules, run);
  schedules
    .command('list [thread]', { isDefault: true })
    .description('schedules and when each comes next; without a thread those of the tenant')
    .action(
      run((context, thread: string | undefined) =>
        thread === undefined ? listTenantSchedules(context) : listSchedules(context, thread),
      ),
    );
  schedules
    .command('add <thread> <cron> <message>')
    .description("send a message at every time of a cron line, for example '0 9 * * 1'")
    .option('--zone <zone>', 'time zone of the line', 'UTC')
    .addOption(
      new Option('--missed <rule>', 'when nobody could act on a time').choices(['skip', 'once']).default('once'),
    )
    .action(run(addSchedule));
  schedules.command('remove <thread> <schedule>').description('send it no more').action(run(removeSchedule));
}

async function listChildren(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const path = { id: thread };
  answerList(context, await whole((query) => ask(api.GET('/v1/threads/{id}/children', { params: { path, query } }))), {
    heading: ['THREAD', 'STATUS', 'OPENED'],
    row: ({ id, status, created_at: openedAt }) => [id, status, openedAt],
    none: 'This thread has opened no others.',
  });
}

async function showViews(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const path = { id: thread };
  const views = await whole((query) => ask(api.GET('/v1/threads/{id}/views', { params: { path, query } })));
  for (const view of views)
    answer(context, `${cleanLine(view.view_type)}  ${cleanLine(JSON.stringify(view.content))}`, view);
  if (views.length === 0 && !context.json) context.terminal.err('This thread has no views.');
}

async function listSubscriptions(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const path = { id: thread };
  const found = await whole((query) => ask(api.GET('/v1/threads/{id}/subscriptions', { params: { path, query } })));
  answerList(context, found, {
    heading: ['CALL', 'OPERATION', 'EVENTS', 'LAST EVENT'],
    row: ({ tool_call_id: call, operation, events, last_event_at: lastAt }) => [
      ...[call, cleanLine(operation), String(events), lastAt ?? 'never'],
    ],
    none: 'This thread listens to nothing.',
  });
}

async function cancelSubscription(context: CliContext, thread: string, call: string): Promise<void> {
  const client = await context.connect();
  const params = { path: { id: thread, call } };
  const accepted = await requested(client, thread, () =>
    ask(client.api.POST('/v1/threads/{id}/subscriptions/{call}/cancel', { params })),
  );
  answer(context, `cancel ${call} (${accepted.id})`, accepted);
}

async function listSchedules(context: CliContext, thread: string): Promise<void> {
  const { api } = await context.connect();
  const path = { id: thread };
  const found = await whole((query) => ask(api.GET('/v1/threads/{id}/schedules', { params: { path, query } })));
  answerList(context, found, {
    heading: ['SCHEDULE', 'CRON', 'ZONE', 'NEXT', 'MESSAGE'],
    row: ({ id, cron, time_zone: zone, next_at: nextAt, message }) => [
      ...[id, cron, zone, nextAt ?? 'never', cleanLine(message, 60)],
    ],
    none: 'This thread has no schedules.',
  });
}

async function addSchedule(
  context: CliContext,
  thread: string,
  cron: string,
  message: string,
  { zone, missed }: ScheduleFlags,
): Promise<void> {
  const { api } = await context.connect();
  const body = { cron, message, time_zone: zone, missed };
  const made = await ask(api.POST('/v1/threads/{id}/schedules', { params: { path: { id: thread } }, body }));
  answer(context, made.id, made);
}

async function removeSchedule(context: CliContext, thread: string, schedule: string): Promise<void> {
  const client = await context.connect();
  const params = { path: { id: thread, schedule } };
  const accepted = await requested(client, thread, () =>
    ask(client.api.DELETE('/v1/threads/{id}/schedules/{schedule}', { params })),
  );
  answer(context, `removed ${schedule} (${accepted.id})`, accepted);
}
