// `dormouse subscriptions`, `children`, `schedules`, `views`: what a thread subscribed to, spawned, scheduled and
// shows.
import { ask, whole } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, table } from '../../context.ts';
import type { RunCommand } from '../../command.ts';
import { requested } from '../../requested.ts';
import { addTenantScheduleCommands, listTenantSchedules } from '../arrivals/schedules.ts';

export function addListeningCommands(program: Command, run: RunCommand): void {
  addSubscriptionCommands(program, run);
  addScheduleCommands(program, run);
  program
    .command('children <thread>')
    .description('threads that a thread opened, newest first')
    .action((thread: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const data = await whole((query) =>
          ask(api.GET('/v1/threads/{id}/children', { params: { path: { id: thread }, query } })),
        );
        if (context.json) return data.forEach((child) => answer(context, '', child));
        if (data.length === 0) return context.terminal.err('This thread has opened no others.');
        context.terminal.out(
          table([['THREAD', 'STATUS', 'OPENED'], ...data.map((child) => [child.id, child.status, child.created_at])]),
        );
      }),
    );
  program
    .command('views <thread>')
    .description('the current views of its tools, as JSON')
    .action((thread: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const data = await whole((query) =>
          ask(api.GET('/v1/threads/{id}/views', { params: { path: { id: thread }, query } })),
        );
        for (const view of data)
          answer(context, `${cleanLine(view.view_type)}  ${cleanLine(JSON.stringify(view.content))}`, view);
        if (data.length === 0 && !context.json) context.terminal.err('This thread has no views.');
      }),
    );
}

function addSubscriptionCommands(program: Command, run: RunCommand): void {
  const subscriptions = program.command('subscriptions').description('what a thread listens to');
  subscriptions
    .command('list <thread>', { isDefault: true })
    .description('open subscriptions')
    .action((thread: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const data = await whole((query) =>
          ask(api.GET('/v1/threads/{id}/subscriptions', { params: { path: { id: thread }, query } })),
        );
        if (context.json) return data.forEach((one) => answer(context, '', one));
        if (data.length === 0) return context.terminal.err('This thread listens to nothing.');
        const rows = data.map((one) => [
          one.tool_call_id,
          cleanLine(one.operation),
          String(one.events),
          one.last_event_at ?? 'never',
        ]);
        context.terminal.out(table([['CALL', 'OPERATION', 'EVENTS', 'LAST EVENT'], ...rows]));
      }),
    );
  subscriptions
    .command('cancel <thread> <call>')
    .description('listen no more; every tool server of the agent is told')
    .action((thread: string, call: string) =>
      run(async (context) => {
        const client = await context.connect();
        const params = { path: { id: thread, call } };
        const accepted = await requested(client, thread, () =>
          ask(client.api.POST('/v1/threads/{id}/subscriptions/{call}/cancel', { params })),
        );
        answer(context, `cancel ${call} (${accepted.id})`, accepted);
      }),
    );
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
    .action((thread: string | undefined) =>
      run(async (context) => {
        const { api } = await context.connect();
        if (thread === undefined) return listTenantSchedules(context);
        const data = await whole((query) =>
          ask(api.GET('/v1/threads/{id}/schedules', { params: { path: { id: thread }, query } })),
        );
        if (context.json) return data.forEach((one) => answer(context, '', one));
        if (data.length === 0) return context.terminal.err('This thread has no schedules.');
        const rows = data.map((one) => [
          one.id,
          one.cron,
          one.time_zone,
          one.next_at ?? 'never',
          cleanLine(one.message, 60),
        ]);
        context.terminal.out(table([['SCHEDULE', 'CRON', 'ZONE', 'NEXT', 'MESSAGE'], ...rows]));
      }),
    );
  schedules
    .command('add <thread> <cron> <message>')
    .description("send a message at every time of a cron line, for example '0 9 * * 1'")
    .option('--zone <zone>', 'time zone of the line', 'UTC')
    .addOption(
      new Option('--missed <rule>', 'when nobody could act on a time').choices(['skip', 'once']).default('once'),
    )
    .action((thread: string, cron: string, message: string, { zone, missed }: ScheduleFlags) =>
      run(async (context) => {
        const { api } = await context.connect();
        const body = { cron, message, time_zone: zone, missed };
        const made = await ask(api.POST('/v1/threads/{id}/schedules', { params: { path: { id: thread } }, body }));
        answer(context, made.id, made);
      }),
    );
  schedules
    .command('remove <thread> <schedule>')
    .description('send it no more')
    .action((thread: string, schedule: string) =>
      run(async (context) => {
        const client = await context.connect();
        const params = { path: { id: thread, schedule } };
        const accepted = await requested(client, thread, () =>
          ask(client.api.DELETE('/v1/threads/{id}/schedules/{schedule}', { params })),
        );
        answer(context, `removed ${schedule} (${accepted.id})`, accepted);
      }),
    );
}
