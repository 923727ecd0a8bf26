// `dormouse schedules create`, `delete`, and `list` without a thread: the schedules of the tenant, which wake or open
// threads.
import { ask, whole } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext } from '../../context.ts';

interface CreateOptions {
  readonly agent: string;
  readonly zone: string;
  readonly externalId?: string;
  readonly missed: 'skip' | 'once';
}

export function addTenantScheduleCommands(schedules: Command, run: RunCommand): void {
  schedules
    .command('create <name> <cron> <message>')
    .description("wake or open a thread at every time of a cron line, for example '0 9 * * 1'")
    .requiredOption('--agent <name>', 'the agent of the threads that it opens')
    .option('--zone <zone>', 'time zone of the line', 'UTC')
    .option('--external-id <id>', 'the thread that it wakes (standard: each time opens one)')
    .addOption(
      new Option('--missed <rule>', 'when nothing could act on a time').choices(['skip', 'once']).default('once'),
    )
    .action(
      run((context, name: string, cron: string, message: string, options: CreateOptions) =>
        create(context, { name, cron, message }, options),
      ),
    );
  schedules.command('delete <name>').description('fire a schedule of the tenant no more').action(run(remove));
}

export async function listTenantSchedules(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found = await whole((query) => ask(api.GET('/v1/schedules', { params: { query } })));
  answerList(context, found, {
    heading: ['SCHEDULE', 'CRON', 'ZONE', 'AGENT', 'NEXT', 'LAST', 'FIRED', 'SKIPPED', 'MESSAGE'],
    row: (one) => [
      ...[one.name, one.cron, one.time_zone, one.agent, one.next_at ?? 'never', one.last_fired_at ?? 'never'],
      ...[String(one.fired), String(one.skipped), cleanLine(one.message, 40)],
    ],
  });
}

async function remove(context: CliContext, name: string): Promise<void> {
  const { api } = await context.connect();
  await ask(api.DELETE('/v1/schedules/{name}', { params: { path: { name } } }));
  answer(context, `${name} is deleted`, { name, deleted: true });
}

async function create(
  context: CliContext,
  said: { readonly name: string; readonly cron: string; readonly message: string },
  { agent, zone, externalId, missed }: CreateOptions,
): Promise<void> {
  const { api } = await context.connect();
  const body = { ...said, agent, missed, time_zone: zone, external_id: externalId ?? null };
  const made = await ask(api.POST('/v1/schedules', { body }));
  answer(context, `${made.name} comes next at ${made.next_at ?? 'no time'}`, made);
}
