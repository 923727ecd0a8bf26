// `dormouse webhooks`: addresses that are told what happens in threads; list, create, show, set, rotate, test, delete,
// and what was delivered. A signing secret is printed once, alone on stdout, so that it can be piped to where it is
// kept.
import { ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, table } from '../../context.ts';
import { parseDuration } from '../../duration.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';

type Event = Schemas['NewWebhook']['events'][number];
type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

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
  webhooks
    .command('list', { isDefault: true })
    .description('webhooks, and what is wrong with each')
    .action(() => run(list));
  withFilter(
    webhooks
      .command('create <url>')
      .description('make one; its signing secret is printed once')
      .requiredOption('--event <name...>', 'what it is told, such as thread.idle or choice.requested'),
  ).action((url: string, changes: Changes) => run((context) => create(context, url, changes)));
  webhooks
    .command('show <id>')
    .description('one of them')
    .action((id: string) => run((context) => show(context, id)));
  withFilter(
    webhooks
      .command('set <id>')
      .description('change what is named')
      .option('--url <url>', 'where it is')
      .option('--event <name...>', 'what it is told'),
  ).action((id: string, changes: Changes) => run((context) => change(context, id, patchOf(changes))));
  for (const [name, state, about] of [
    ['enable', 'active', 'tell it again, from now on'],
    ['disable', 'disabled', 'tell it nothing until it is enabled'],
  ] as const)
    webhooks
      .command(`${name} <id>`)
      .description(about)
      .action((id: string) => run((context) => change(context, id, { state })));
  webhooks
    .command('rotate <id>')
    .description('a new signing secret, printed once; the one before it signs too for 24 hours')
    .action((id: string) => run((context) => rotate(context, id)));
  webhooks
    .command('test <id>')
    .description('send it a webhook.test')
    .action((id: string) => run((context) => test(context, id)));
  webhooks
    .command('deliveries <id>')
    .description('what was sent and what waits, newest first')
    .action((id: string) => run((context) => deliveries(context, id)));
  webhooks
    .command('redeliver <id> <delivery>')
    .description('send a delivery again, under the same id')
    .action((id: string, delivery: string) => run((context) => redeliver(context, id, delivery)));
  webhooks
    .command('recover <id>')
    .description('send again what failed or was aborted')
    .requiredOption('--since <duration>', 'how far back, such as 24h')
    .action((id: string, { since }: { readonly since: string }) => run((context) => recover(context, id, since)));
  webhooks
    .command('delete <id>')
    .description('delete it, and the log of its deliveries')
    .action((id: string) => run((context) => remove(context, id)));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found: Webhook[] = [];
  for await (const webhook of everyItem((cursor) => ask(api.GET('/v1/webhooks', { params: { query: { cursor } } }))))
    found.push(webhook);
  if (context.json) return found.forEach((webhook) => answer(context, '', webhook));
  const rows = found.map(({ id, state, url, events, problems }) => [
    ...[id, state, cleanLine(url), events.join(' '), problems.map(({ code }) => code).join(' ')],
  ]);
  context.terminal.out(table([['WEBHOOK', 'STATE', 'URL', 'EVENTS', 'PROBLEMS'], ...rows]));
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
  const found: Delivery[] = [];
  const page = (cursor: string | undefined) =>
    ask(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query: { cursor } } }));
  for await (const delivery of everyItem(page)) found.push(delivery);
  if (context.json) return found.forEach((delivery) => answer(context, '', delivery));
  const rows = found.map(({ id: name, event, state, attempts, next_at: next }) => [
    ...[name, event, state, attempts.map(({ status }) => String(status)).join(' '), next ?? ''],
  ]);
  context.terminal.out(table([['DELIVERY', 'EVENT', 'STATE', 'ATTEMPTS', 'NEXT'], ...rows]));
}

async function redeliver(context: CliContext, id: string, delivery: string): Promise<void> {
  const { api } = await context.connect();
  const params = { path: { id, delivery } };
  const begun = await ask(api.POST('/v1/webhooks/{id}/deliveries/{delivery}/redeliver', { params }));
  answer(context, `${begun.id} is sent again`, begun);
}

async function recover(context: CliContext, id: string, since: string): Promise<void> {
  const ms = parseDuration(since);
  if (ms === null) throw new CliFailure(exitCodes.usage, `${since} is no duration`, 'Such as 30m, 24h or 7d');
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
  ...(url === undefined ? {} : { url }),
  ...(event === undefined ? {} : { events: event as Event[] }),
  ...(filter.agent === undefined && filter.label === undefined ? {} : { filter: filterOf(filter) }),
});

function filterOf({ agent, label }: Pick<Changes, 'agent' | 'label'>): Schemas['WebhookFilter'] | null {
  if (agent === undefined && label === undefined) return null;
  return {
    ...(agent === undefined ? {} : { agents: [...agent] }),
    ...(label === undefined ? {} : { metadata: Object.fromEntries(label.map(labelOf)) }),
  };
}

function labelOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw new CliFailure(exitCodes.usage, `${text} is no label`, 'Such as customer=seven');
  return [text.slice(0, at), text.slice(at + 1)];
}
