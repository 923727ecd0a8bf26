// `dormouse models`: the providers that can be asked, what each lacks, and the models that it offers.
import { ask, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, type CliContext, table } from '../../context.ts';
import type { RunCommand } from '../../command.ts';

type OfferedProvider = Schemas['OfferedProvider'];

const keyWords: Readonly<Record<OfferedProvider['key'], string>> = {
  not_needed: 'needs no key',
  of_the_agent: 'key of the agent',
  secret: 'key is set',
  environment: 'key of the environment',
  missing: 'no key',
};

export function addModelCommand(program: Command, run: RunCommand): void {
  program
    .command('models [provider]')
    .description('providers, what each lacks, and the models that they list')
    .action((provider?: string) => run((context) => list(context, provider)));
}

async function list(context: CliContext, only: string | undefined): Promise<void> {
  const { api } = await context.connect();
  const { data } = await ask(api.GET('/v1/models', {}));
  const found = data.filter(({ provider }) => only === undefined || provider === only);
  if (context.json) return found.forEach((provider) => answer(context, '', provider));
  if (found.length === 0)
    return context.terminal.err(`There is no provider named ${only}: ${data.map((each) => each.provider).join(', ')}`);
  const rows = found.map(({ provider, key, base_url: url, detail }) => [
    provider,
    keyWords[key],
    cleanLine(detail ?? url ?? ''),
  ]);
  context.terminal.out(table([['PROVIDER', 'KEY', ''], ...rows]));
  const models = found.flatMap(({ provider, models: names }) => names.map((model) => ({ provider, ...model })));
  if (models.length === 0) return;
  const lines = models.map(({ provider, name, context_window_tokens: window }) => [
    cleanLine(`${provider}/${name}`),
    window === null ? '' : `${window.toLocaleString('en')} tokens`,
  ]);
  context.terminal.out(`\n${table([['MODEL', 'WINDOW'], ...lines])}`);
}
