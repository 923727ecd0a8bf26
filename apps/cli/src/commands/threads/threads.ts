// `dormouse threads`: list, show, open, close, interrupt, retry, batch.
import { ask, type Client, everyItem, type Schemas, type Thread, whole } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, answerList, type CliContext } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { wholeNumber } from '../../given-values.ts';
import { requested } from './requested.ts';
import type { RunCommand } from '../../command.ts';
import { batchThreads } from './thread-batch.ts';

const statuses = ['opening', 'parked', 'closed', 'thinking', 'waiting', 'idle'] as const;

const verbs = [
  ['interrupt', 'stop the turn'],
  ['retry', 'ask the model again after a failure'],
  ['close', 'end the thread for good'],
] as const;

interface ListFlags {
  readonly status?: (typeof statuses)[number];
  readonly agent?: string;
  readonly limit: string;
}

export function addThreadCommands(program: Command, run: RunCommand): void {
  const threads = program.command('threads').description('list, show, open and steer threads');
  threads
    .command('list', { isDefault: true })
    .description('threads, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(statuses))
    .option('--agent <name>', 'only of this agent')
    .option('--limit <n>', 'at most so many', '50')
    .action(run(list));
  threads
    .command('show <thread>')
    .description('one thread as it is now, or as of a position')
    .option('--at <position>', 'as of this position')
    .action(run(show));
  threads
    .command('open')
    .description('open a thread and print its id')
    .option('--agent <name>', 'the agent; needed where there are several')
    .option('--title <title>', 'a title')
    .action(run(open));
  threads
    .command('fork <thread> <position>')
    .description('a new thread with the history up to and including an event; prints its id')
    .option('--ask-again', 'ask the model at once instead of waiting for a message', false)
    .action(run(fork));
  for (const [verb, about] of verbs)
    threads
      .command(`${verb} <thread>`)
      .description(about)
      .action(run((context, thread: string) => request(context, thread, verb)));
  threads
    .command('batch <action>')
    .description('interrupt or close all threads of a filter; without --yes they are counted alone')
    .option('--agent <name>', 'only of this agent')
    .addOption(new Option('--status <status>', 'only these').choices(statuses))
    .option('--user <id>', 'only of this user')
    .option('--label <key=value>', 'only with this label; may be given again', collected)
    .option('--updated-after <time>', 'only those that changed after this time (RFC 3339)')
    .option('--all', 'every thread, where nothing else names them', false)
    .option('--yes', 'do it', false)
    .action(run(batchThreads));
}

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { api } = await context.connect();
  const limit = wholeNumber('--limit', flags.limit);
  const query = { status: flags.status, agent: flags.agent, limit: Math.min(limit, 200) };
  const found: Schemas['ThreadSummary'][] = [];
  for await (const thread of everyItem((cursor) =>
    ask(api.GET('/v1/threads', { params: { query: { ...query, cursor } } })),
  )) {
    if (found.push(thread) >= limit) break;
  }
  answerList(context, found, {
    heading: ['THREAD', 'STATUS', 'AGENT', 'UPDATED', 'EVENTS', 'TITLE'],
    row: ({ id, status, agent, updated_at: updatedAt, position, title }) => [
      ...[id, status, `${cleanLine(agent.name)} v${agent.version}`, updatedAt],
      ...[String(position), cleanLine(title ?? '', 60)],
    ],
    none: `No threads yet. Open one with: ${context.hint('chat')}`,
  });
}

async function show(context: CliContext, id: string, { at }: { readonly at?: string }): Promise<void> {
  const { api } = await context.connect();
  const query = { at: at === undefined ? undefined : wholeNumber('--at', at) };
  const thread = await ask(api.GET('/v1/threads/{id}', { params: { path: { id }, query } }));
  answer(context, describeThread(thread), thread);
}

function describeThread(thread: Thread): string {
  const lines = [
    `${thread.id}  ${thread.status}`,
    ...(thread.waiting === null ? [] : [`why       ${cleanLine(thread.waiting)}`]),
    `agent     ${cleanLine(thread.agent.name)} v${thread.agent.version}`,
    `title     ${cleanLine(thread.title ?? '-')}`,
    `opened    ${thread.created_at}`,
    `changed   ${thread.updated_at}  (${thread.position} events)`,
    `usage     ${thread.usage.completions} completions, ${thread.usage.tool_calls} tool calls, ${thread.usage.input_tokens} + ${thread.usage.output_tokens} tokens`,
    ...thread.waiting_on.map(
      (wait) =>
        `waits for ${wait.kind} ${cleanLine(wait.operation ?? wait.id)} since ${wait.since}${wait.deadline === undefined ? '' : ` until ${wait.deadline}`}`,
    ),
    ...thread.problems.map((problem) => `problem   ${problem.code}: ${cleanLine(problem.detail)}`),
  ];
  if (thread.last_error !== null)
    lines.push(`error     ${thread.last_error.code}: ${cleanLine(thread.last_error.detail)}`);
  return lines.join('\n');
}

async function open(
  context: CliContext,
  { agent, title }: { readonly agent?: string; readonly title?: string },
): Promise<void> {
  const client = await context.connect();
  const thread = await openThread(client, agent ?? (await onlyAgent(context, client)), title);
  answer(context, thread.id, thread);
}

async function fork(
  context: CliContext,
  thread: string,
  position: string,
  { askAgain }: { readonly askAgain: boolean },
): Promise<void> {
  const { api } = await context.connect();
  const body = {
    position: wholeNumber('<position>', position),
    // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
    then: askAgain ? ('ask_again' as const) : ('wait' as const),
  };
  const forked = await ask(api.POST('/v1/threads/{id}/fork', { params: { path: { id: thread } }, body }));
  answer(context, forked.id, forked);
}

async function request(context: CliContext, thread: string, verb: (typeof verbs)[number][0]): Promise<void> {
  const client = await context.connect();
  const { id } = await requested(client, thread, () =>
    ask(client.api.POST(`/v1/threads/{id}/${verb}`, { params: { path: { id: thread } } })),
  );
  answer(context, `${verb} requested (${id})`, { id });
}

export async function openThread(client: Client, agent: string, title?: string): Promise<Thread> {
  return ask(client.api.POST('/v1/threads', { body: { agent, title } }));
}

/** The only agent; `choose` is asked when there are several. */
export async function onlyAgent(
  context: CliContext,
  { api }: Client,
  choose: (names: readonly string[]) => Promise<string> = severalAgents,
): Promise<string> {
  const agents = await whole((query) => ask(api.GET('/v1/agents', { params: { query } })));
  const [first, ...others] = agents.map(({ name }) => name);
  if (first !== undefined) return others.length === 0 ? first : choose([first, ...others]);
  const next = `Make one with: ${context.hint('agents create NAME --model demo')}`;
  throw new CliFailure(exitCodes.failed, 'There is no agent yet.', next);
}

/** @throws CliFailure, always. */
export async function severalAgents(names: readonly string[]): Promise<never> {
  const next = 'Choose one with --agent NAME.';
  throw wrongUsage(`There are several agents: ${names.join(', ')}.`, next);
}
