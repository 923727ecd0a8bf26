// `dormouse sources`: who may deliver to the tenant, signed; list, create, delete. The URL of a source is a credential:
// it is printed when the source is made, alone on stdout.
import { ask, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, progress } from '../../context.ts';
import { oneOf } from '../../given-values.ts';

const kinds = ['github', 'stripe', 'slack', 'standard'] as const;

interface CreateOptions {
  readonly kind: string;
  readonly secret: string;
  readonly agent: string;
  readonly threadKey: string;
  readonly message: string;
}

export function addSourceCommands(program: Command, run: RunCommand): void {
  const sources = program.command('sources').description('who may deliver events, signed: list, create, delete');
  sources.command('list', { isDefault: true }).description('sources by name; never their URLs').action(run(list));
  sources
    .command('create <name>')
    .description('make one; the URL for its sender is printed, and by the same command again')
    .requiredOption('--kind <kind>', `how deliveries are signed: ${kinds.join(', ')}`)
    .requiredOption('--secret <name>', 'the secret that they are signed with')
    .requiredOption('--agent <name>', 'the agent of the threads that they open')
    .requiredOption(
      '--thread-key <expression>',
      'what names the thread: a JSON Pointer such as /issue/id, or header:NAME',
    )
    .requiredOption('--message <template>', 'what the agent reads: text with {{/pointer}}')
    .action(run(create));
  sources.command('delete <name>').description('take nothing more from it').action(run(remove));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  answerList(context, await whole((query) => ask(api.GET('/v1/sources', { params: { query } }))), {
    heading: ['SOURCE', 'KIND', 'AGENT', 'SECRET', 'KEY'],
    row: ({ name, kind, agent, secret, key }) => [name, kind, agent, secret, cleanLine(key)],
  });
}

async function create(context: CliContext, name: string, { kind: given, ...fields }: CreateOptions): Promise<void> {
  const kind = oneOf(kinds, given, 'kind of source');
  const { api } = await context.connect();
  const { secret, agent, threadKey: key, message } = fields;
  const made = await ask(api.POST('/v1/sources', { body: { name, kind, secret, agent, key, message } }));
  progress(context, `${name} is there; its sender POSTs to this URL, which is a secret`);
  answer(context, made.url, made);
}

async function remove(context: CliContext, name: string): Promise<void> {
  const { api } = await context.connect();
  await ask(api.DELETE('/v1/sources/{name}', { params: { path: { name } } }));
  answer(context, `${name} is deleted`, { name, deleted: true });
}
