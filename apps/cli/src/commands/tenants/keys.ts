// `dormouse keys`: the API keys of the tenant; list, create, reroll, revoke. The text of a key is printed once, alone
// on stdout, so that it can be piped to where it is kept.
import { ask, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, progress } from '../../context.ts';
import { durationOf, oneOf } from '../../given-values.ts';
import { addMasterKeyCommands } from './master-key.ts';

const scopesStandard = ['read', 'threads:write', 'approvals:write'] as const;
const scopes = [...scopesStandard, 'tenant:admin'] as const;

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
    .action(run(list));
  keys
    .command('create <name>')
    .description('make a key; its text is printed once')
    .option('--scope <scope...>', `what it may do: ${scopes.join(', ')} (standard: ${scopesStandard.join(' ')})`)
    .option('--agent <name...>', 'the agents whose threads it reaches (standard: all)')
    .option('--expires <duration>', 'when it ends, such as 90d (standard: never)')
    .action(run(create));
  keys
    .command('reroll <id>')
    .description('a new key that can do the same; its text is printed once')
    .option('--overlap <duration>', 'how long the old one goes on, such as 24h', '0s')
    .action(run(reroll));
  keys.command('revoke <id>').description('it works no more, within a second everywhere').action(run(revoke));
  addMasterKeyCommands(keys, run);
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  answerList(context, await whole((query) => ask(api.GET('/v1/api-keys', { params: { query } }))), {
    heading: ['KEY', 'NAME', 'BEGINS', 'SCOPES', 'AGENTS', 'USED', 'ENDS'],
    row: (key) => [
      ...[key.id, cleanLine(key.name), key.prefix ?? '', key.scopes.join(' '), (key.agents ?? ['all']).join(' ')],
      ...[key.last_used_at ?? 'never', key.revoked_at === null ? (key.expires_at ?? '') : `revoked ${key.revoked_at}`],
    ],
  });
}

async function create(
  context: CliContext,
  name: string,
  { scope = scopesStandard, agent, expires }: CreateOptions,
): Promise<void> {
  const { api } = await context.connect();
  const body = {
    name,
    scopes: scope.map((each) => oneOf(scopes, each, 'scope')),
    agents: agent && [...agent],
    expires_at: expires === undefined ? undefined : new Date(Date.now() + msOf(expires)).toISOString(),
  };
  show(context, await ask(api.POST('/v1/api-keys', { body })));
}

async function reroll(context: CliContext, id: string, { overlap }: { readonly overlap: string }): Promise<void> {
  const { api } = await context.connect();
  const body = { overlap_s: Math.round(msOf(overlap) / 1_000) };
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

const msOf = (text: string): number => durationOf(text, `${text} is no duration`, 'Such as 30s, 15m, 24h or 90d');
