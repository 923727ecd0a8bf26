// `dormouse secrets`: set, list, delete. A value is read from stdin or from a prompt that does not echo, never from the
// command line, where other users of the machine and the shell's history would see it.
import { isCancel, password } from '@clack/prompts';
import { text as readAll } from 'node:stream/consumers';
import { ask, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, answerList, type CliContext } from '../../context.ts';
import { wrongUsage } from '../../exit-code.ts';
import type { RunCommand } from '../../command.ts';

export function addSecretCommands(program: Command, run: RunCommand): void {
  const secrets = program.command('secrets').description('keys of providers and tool servers: set, list, delete');
  secrets
    .command('list', { isDefault: true })
    .description('names and where each may be sent; never a value')
    .action(run(list));
  secrets
    .command('set <name>')
    .description('set a secret; the value comes from stdin or a prompt that does not echo')
    .option(
      '--origin <url...>',
      'where it may be sent, such as https://api.example.com; openai, anthropic and secrets of sources need none',
    )
    .action(run(set));
  secrets.command('delete <name>').description('delete a secret that nothing uses').action(run(remove));
}

async function list(context: CliContext): Promise<void> {
  answerList(context, await allOf(context), {
    heading: ['SECRET', 'MAY BE SENT TO'],
    row: ({ name, origins }) => [cleanLine(name), cleanLine(origins.join(', '))],
    none: `No secrets yet. Set one with: ${context.hint('secrets set openai')}`,
  });
}

async function allOf(context: CliContext): Promise<readonly Schemas['SecretName'][]> {
  const { api } = await context.connect();
  return whole((query) => ask(api.GET('/v1/secrets', { params: { query } })));
}

async function remove(context: CliContext, name: string): Promise<void> {
  const { api } = await context.connect();
  await ask(api.DELETE('/v1/secrets/{name}', { params: { path: { name } } }));
  answer(context, `${name} is deleted`, { name, deleted: true });
}

async function set(context: CliContext, secret: string, flags: { readonly origin?: string[] }): Promise<void> {
  const value = await valueOf(context, secret);
  const { api } = await context.connect();
  const body = { value, origins: flags.origin };
  await ask(api.PUT('/v1/secrets/{name}', { params: { path: { name: secret } }, body }));
  answer(context, `${secret} is set`, { name: secret });
  const stored = (await allOf(context)).find(({ name }) => name === secret);
  if (stored === undefined || stored.origins.length > 0) return;
  const next = context.hint(`secrets set ${secret} --origin https://…`);
  context.terminal.err(`It is sent nowhere, and good for the signatures of sources. To send it: ${next}`);
}

async function valueOf({ terminal, hint }: CliContext, name: string): Promise<string> {
  const value = terminal.interactive ? await prompted(name) : (await readAll(terminal.stdin)).replace(/\r?\n$/, '');
  if (value !== '') return value;
  const next = `Type it at the prompt, or: printf %s "$KEY" | ${hint(`secrets set ${name}`)}`;
  throw wrongUsage('the value is empty', next);
}

async function prompted(name: string): Promise<string> {
  const typed = await password({ message: `Value of ${name}` });
  return isCancel(typed) ? '' : typed;
}
