// `dormouse webhooks`: addresses that are told what happens in threads; list, create, show, set, rotate, test, delete,
// and what was delivered. A signing secret is printed once, alone on stdout, so that it can be piped to where it is
// kept.
import { ask, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, progress, table } from '../../context.ts';
import { durationOf, pairOf } from '../../given-values.ts';

type Event = Schemas['NewWebhook']['events'][number];
type Webhook = Schemas['Webhook'];

interface Changes {
  readonly url?: string;
  readonly event?: readonly string[];
  readonly agent?: readonly string[];
  readonly label?: readonly string[];
}

const withFilter = (command: Command): Command =>
  command
    .option('--agent <name...>', 'tell it of threads of these agents only')
    .option('--label <name=value...>', 'tell it of threads with these labels only');

export function addWebhookCommands(program: Command, run: RunCommand): void {
  const webhooks = program
    .command('webhooks')
    .description('addresses that are told what happens in threads: list, create, show, set, rotate, test, delete');
  webhooks.command('list', { isDefault: true }).description('webhooks, and what is wrong with each').action(run(list));
  withFilter(
    webhooks
      .command('create <url>')
      .description('make one; its signing secret is printed once')
      .requiredOption('--event <name...>', 'what it is told, such as thread.idle or choice.requested'),
  ).action(run(create));
  webhooks.command('show <id>').description('one of them').action(run(show));
  withFilter(
    webhooks
      .command('set <id>')
      .description('change what is named')
      .option('--url <url>', 'where it is')
      .option('--event <name...>', 'what it is told'),
  ).action(run((context, id: string, changes: Changes) => change(context, id, patchOf(changes))));
  for (const [name, state, about] of [
    ['enable', 'active', 'tell it again, from now on'],
    ['disable', 'disabled', 'tell it nothing until it is enabled'],
  ] as const)
    webhooks
      .command(`${name} <id>`)
      .description(about)
      .action(run((context, id: string) => change(context, id, { state })));
  webhooks
    .command('rotate <id>')
    .description('a new signing secret, printed once; the one before it signs too for 24 hours')
    .action(run(rotate));
  webhooks.command('test <id>').description('send it a webhook.test').action(run(test));
  webhooks.command('deliveries <id>').description('what was sent and what waits, newest first').action(run(deliveries));
  webhooks
    .command('redeliver <id> <delivery>')
    .description('send a delivery again, under the same id')
    .action(run(redeliver));
  webhooks
    .command('recover <id>')
    .description('send again what failed or was aborted')
    .requiredOption('--since <duration>', 'how far back, such as 24h')
    .action(run(recover));
  webhooks.command('delete <id>').description('delete it, and the log of its deliveries').action(run(remove));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  answerList(context, await whole((query) => ask(api.GET('/v1/webhooks', { params: { query } }))), {
    heading: ['WEBHOOK', 'STATE', 'URL', 'EVENTS', 'PROBLEMS'],
    row: ({ id, state, url, events, problems }) => [
      ...[id, state, cleanLine(url), events.join(' '), problems.map(({ code }) => code).join(' ')],
    ],
  });
}

async function create(context: CliContext, url: string, { event = [], ...filter }: Changes): Promise<void> {
  const { api } = await context.connect();
  const body = { url, events: event as Event[], filter: filterOf(filter) };
  const made = await ask(api.POST('/v1/webhooks', { body }));
  progress(context, `${made.id} is there; its signing secret is shown this once`);
  answer(context, made.secret, made);
}

async function show(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  const found = await ask(api.GET('/v1/webhooks/{id}', { params: { path: { id } } }));
  answer(context, table(rowsOf(found)), found);
}

function rowsOf({ events, filter, problems, url, ...fields }: Webhook): readonly string[][] {
  return [
    ...Object.entries(fields).map(([name, value]) => [name, cleanLine(String(value))]),
    ...[
      ['url', cleanLine(url)],
      ['events', events.join(' ')],
      ['filter', cleanLine(JSON.stringify(filter))],
    ],
    ...problems.map(({ code, detail, since }) => [code, `${cleanLine(detail)} (since ${since})`]),
  ];
}

async function change(context: CliContext, id: string, body: Schemas['WebhookPatch']): Promise<void> {
  const { api } = await context.connect();
  const found = await ask(api.PATCH('/v1/webhooks/{id}', { params: { path: { id } }, body }));
  answer(context, `${id} is ${found.state}`, found);
}

async function rotate(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  const made = await ask(api.POST('/v1/webhooks/{id}/rotate', { params: { path: { id } } }));
  progress(context, `${id} has a new signing secret, which is shown this once`);
  answer(context, made.secret, { id, ...made });
}

async function test(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  const begun = await ask(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } } }));
  progress(context, `What came of it: ${context.hint(`webhooks deliveries ${id}`)}`);
  answer(context, begun.id, begun);
}

async function deliveries(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  const found = await whole((query) =>
    ask(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query } })),
  );
  answerList(context, found, {
    heading: ['DELIVERY', 'EVENT', 'STATE', 'ATTEMPTS', 'NEXT'],
    row: ({ id: name, event, state, attempts, next_at: next }) => [
      ...[name, event, state, attempts.map(({ status }) => String(status)).join(' '), next ?? ''],
    ],
  });
}

async function redeliver(context: CliContext, id: string, delivery: string): Promise<void> {
  const { api } = await context.connect();
  const params = { path: { id, delivery } };
  const begun = await ask(api.POST('/v1/webhooks/{id}/deliveries/{delivery}/redeliver', { params }));
  answer(context, `${begun.id} is sent again`, begun);
}

async function recover(context: CliContext, id: string, { since }: { readonly since: string }): Promise<void> {
  const ms = durationOf(since, `${since} is no duration`, 'Such as 30m, 24h or 7d');
  const { api } = await context.connect();
  const body = { since: new Date(Date.now() - ms).toISOString() };
  const found = await ask(api.POST('/v1/webhooks/{id}/recover', { params: { path: { id } }, body }));
  answer(context, `${found.matched} deliveries are sent again`, { id, ...found });
}

async function remove(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  await ask(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } }));
  answer(context, `${id} is deleted`, { id, deleted: true });
}

const patchOf = ({ url, event, ...filter }: Changes): Schemas['WebhookPatch'] => ({
  url,
  events: event as Event[] | undefined,
  filter: filterOf(filter) ?? undefined,
});

function filterOf({ agent, label }: Pick<Changes, 'agent' | 'label'>): Schemas['WebhookFilter'] | null {
  if (agent === undefined && label === undefined) return null;
  return {
    agents: agent && [...agent],
    metadata: label && Object.fromEntries(label.map(labelOf)),
  };
}

const labelOf = (text: string): readonly [string, string] =>
  pairOf(text, `${text} is no label`, 'Such as customer=seven');
