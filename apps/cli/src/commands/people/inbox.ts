// `dormouse inbox`: what waits for people in all threads, their answers, and links for people without a key. The
// address of a link is printed alone on stdout, so that it can be piped to where it is sent.
import { ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress } from '../../context.ts';
import { durationOf, oneOf } from '../../given-values.ts';

type Row = Schemas['InboxRow'];

const kinds = ['approval', 'tool', 'oauth'] as const;
const decisions = ['allow', 'deny'] as const;

interface ListOptions {
  readonly assignee?: string;
  readonly agent?: string;
  readonly kind?: string;
  readonly settled?: boolean;
}

interface AnswerOptions {
  readonly reason?: string;
  readonly as?: string;
}

interface LinkOptions {
  readonly for: string;
  readonly ttl: string;
  readonly only?: string;
}

export function addInboxCommands(program: Command, run: RunCommand): void {
  const inbox = program.command('inbox').description('what waits for people in all threads: list, allow, deny, link');
  inbox
    .command('list', { isDefault: true })
    .description('what is open, oldest first')
    .option('--assignee <label>', 'whose task it is')
    .option('--agent <name>', 'of threads of this agent')
    .option('--kind <kind>', `one of ${kinds.join(', ')}`)
    .option('--settled', 'what was answered, latest first')
    .action(run(list));
  for (const decision of decisions)
    inbox
      .command(`${decision} <choice>`)
      .description(decision === 'allow' ? 'allow a call as it is shown' : 'deny a call; the model reads the reason')
      .option('--reason <text>', 'why')
      .option('--as <label>', 'who decides, for the log (standard: the name of the key)')
      .action(run((context, id: string, options: AnswerOptions) => decide(context, id, decision, options)));
  inbox
    .command('assign <choice> [labels...]')
    .description('say whose task it is; without labels it is of none')
    .action(run(assign));
  inbox
    .command('link <choice>')
    .description('an address with which a person without a key answers an approval, once')
    .requiredOption('--for <label>', 'the person that it is for')
    .option('--ttl <duration>', 'how long it works, at most 30d', '24h')
    .option('--only <decision>', 'offer only allow, or only deny')
    .action(run(link));
}

async function list(context: CliContext, { assignee, agent, kind, settled }: ListOptions): Promise<void> {
  const { api } = await context.connect();
  const status = settled === true ? ('settled' as const) : ('open' as const);
  const query = { status, assignee, agent, kind: kind === undefined ? undefined : oneOf(kinds, kind, 'kind') };
  const rows = everyItem((cursor) => ask(api.GET('/v1/choices', { params: { query: { ...query, cursor } } })));
  let shown = 0;
  for await (const row of rows) {
    shown += 1;
    answer(context, describe(row), row);
  }
  if (shown === 0) progress(context, 'Nothing waits for a person.');
}

async function decide(
  context: CliContext,
  id: string,
  decision: 'allow' | 'deny',
  { reason, as: label }: AnswerOptions,
): Promise<void> {
  const { api } = await context.connect();
  const body = { decision, reason, decided_by: label };
  const accepted = await ask(api.POST('/v1/choices/{chc}', { params: { path: { chc: id } }, body }));
  answer(context, `${decision} (${accepted.id})`, accepted);
}

async function assign(context: CliContext, id: string, labels: readonly string[]): Promise<void> {
  const { api } = await context.connect();
  const body = { assignees: [...labels] };
  const row = await ask(api.PATCH('/v1/choices/{chc}', { params: { path: { chc: id } }, body }));
  answer(context, describe(row), row);
}

async function link(context: CliContext, id: string, { for: person, ttl, only }: LinkOptions): Promise<void> {
  const { api } = await context.connect();
  const ms = durationOf(ttl, `${ttl} is no duration`, 'Such as 30s, 15m, 24h or 30d');
  const can = only === undefined ? [...decisions] : [oneOf(decisions, only, 'decision')];
  const body = { for: person, ttl_s: Math.max(1, Math.round(ms / 1_000)), can };
  const made = await ask(api.POST('/v1/choices/{chc}/links', { params: { path: { chc: id } }, body }));
  progress(context, `for ${person}, once, until ${made.expires_at}`);
  answer(context, made.url, made);
}

function describe(row: Row): string {
  const { id, kind, thread_id: thread, agent, prompt, since, assignees = [], approvals_needed: needed } = row;
  const lines = [`${id}  ${kind}  ${agent}  ${thread}  since ${since}`, `  ${cleanLine(prompt)}`];
  if (row.arguments !== undefined) lines.push(`  ${cleanLine(JSON.stringify(row.arguments))}`);
  for (const warning of row.warnings ?? []) lines.push(`  ! ${cleanLine(warning)}`);
  for (const [index, one] of kind === 'tool' ? row.choices.entries() : []) lines.push(`  ${index}: ${cleanLine(one)}`);
  if (assignees.length > 0) lines.push(`  for ${cleanLine(assignees.join(', '))}`);
  if (needed !== undefined) lines.push(`  ${progressOf(needed, row.approved_by ?? [])}`);
  if (row.settled_at !== undefined) lines.push(`  ${outcomeOf(row)}`);
  return lines.join('\n');
}

function progressOf(needed: number, approvedBy: readonly string[]): string {
  const by = approvedBy.length === 0 ? '' : `: ${cleanLine(approvedBy.join(', '))}`;
  return `${approvedBy.length} of ${needed} approvals${by}`;
}

function outcomeOf({ decision, selected, by = 'its tool', reason, settled_at: at }: Row): string {
  const what = decision ?? (selected === undefined ? 'ended' : `choice ${selected}`);
  return `${what} by ${cleanLine(by)} at ${at}${reason === undefined ? '' : `: ${cleanLine(reason)}`}`;
}
