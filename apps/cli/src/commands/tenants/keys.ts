// `dormouse keys`: the API keys of the tenant; list, create, reroll, revoke. The text of a key is printed once, alone
// on stdout, so that it can be piped to where it is kept.
import { ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, table } from '../../context.ts';
import { parseDuration } from '../../duration.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { addMasterKeyCommands } from './master-key.ts';

type Scope = Schemas['NewApiKey']['scopes'][number];
const scopes: readonly Scope[] = ['read', 'threads:write', 'approvals:write', 'tenant:admin'];

interface CreateOptions {
  readonly scope?: readonly string[];
  readonly agent?: readonly string[];
  readonly expires?: string;
}

export function addKeyCommands(program: Command, run: RunCommand): void {
  const keys = program.command('keys').description('API keys of the tenant: list, create, reroll, revoke');
  keys
    .command('list', { isDefault: true })
    .description('keys, what they may do and when they were used; never their text')
    .action(() => run(list));
  keys
    .command('create <name>')
    .description('make a key; its text is printed once')
    .option('--scope <scope...>', `what it may do: ${scopes.join(', ')} (standard: read threads:write approvals:write)`)
    .option('--agent <name...>', 'the agents whose threads it reaches (standard: all)')
    .option('--expires <duration>', 'when it ends, such as 90d (standard: never)')
    .action((name: string, options: CreateOptions) => run((context) => create(context, name, options)));
  keys
    .command('reroll <id>')
    .description('a new key that can do the same; its text is printed once')
    .option('--overlap <duration>', 'how long the old one goes on, such as 24h', '0s')
    .action((id: string, { overlap }: { readonly overlap: string }) => run((context) => reroll(context, id, overlap)));
  keys
    .command('revoke <id>')
    .description('it works no more, within a second everywhere')
    .action((id: string) => run((context) => revoke(context, id)));
  addMasterKeyCommands(keys, run);
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found: Schemas['ApiKeySummary'][] = [];
  for await (const key of everyItem((cursor) => ask(api.GET('/v1/api-keys', { params: { query: { cursor } } }))))
    found.push(key);
  if (context.json) return found.forEach((key) => answer(context, '', key));
  const rows = found.map((key) => [
    ...[key.id, cleanLine(key.name), key.prefix ?? '', key.scopes.join(' '), (key.agents ?? ['all']).join(' ')],
    ...[key.last_used_at ?? 'never', key.revoked_at === null ? (key.expires_at ?? '') : `revoked ${key.revoked_at}`],
  ]);
  context.terminal.out(table([['KEY', 'NAME', 'BEGINS', 'SCOPES', 'AGENTS', 'USED', 'ENDS'], ...rows]));
}

async function create(context: CliContext, name: string, { scope, agent, expires }: CreateOptions): Promise<void> {
  const { api } = await context.connect();
  const body = {
    name,
    scopes: scopesOf(scope),
    ...(agent === undefined ? {} : { agents: [...agent] }),
    ...(expires === undefined ? {} : { expires_at: new Date(Date.now() + durationOf(expires)).toISOString() }),
  };
  show(context, await ask(api.POST('/v1/api-keys', { body })));
}

async function reroll(context: CliContext, id: string, overlap: string): Promise<void> {
  const { api } = await context.connect();
  const body = { overlap_s: Math.round(durationOf(overlap) / 1_000) };
  show(context, await ask(api.POST('/v1/api-keys/{id}/reroll', { params: { path: { id } }, body })));
}

async function revoke(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  await ask(api.DELETE('/v1/api-keys/{id}', { params: { path: { id } } }));
  answer(context, `${id} is revoked`, { id, revoked: true });
}

function show(context: CliContext, made: Schemas['ApiKey']): void {
  progress(context, `${made.id}: its text is shown this once`);
  answer(context, made.key, made);
}

function scopesOf(given: readonly string[] | undefined): Scope[] {
  if (given === undefined) return ['read', 'threads:write', 'approvals:write'];
  return given.map((each) => {
    const scope = scopes.find((one) => one === each);
    if (scope === undefined)
      throw new CliFailure(exitCodes.usage, `${each} is no scope`, `One of: ${scopes.join(', ')}`);
    return scope;
  });
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new CliFailure(exitCodes.usage, `${text} is no duration`, 'Such as 30s, 15m, 24h or 90d');
  return ms;
}
