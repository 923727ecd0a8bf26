// `dormouse models`: the providers that can be asked, what each lacks, and the models that it offers.
import { ask, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answerList, type CliContext, table } from '../../context.ts';
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
    .action(run(list));
}

async function list(context: CliContext, only?: string): Promise<void> {
  const { api } = await context.connect();
  const { data } = await ask(api.GET('/v1/models', {}));
  const found = data.filter(({ provider }) => only === undefined || provider === only);
  answerList(context, found, {
    heading: ['PROVIDER', 'KEY', ''],
    row: ({ provider, key, base_url: url, detail }) => [provider, keyWords[key], cleanLine(detail ?? url ?? '')],
    none: `There is no provider named ${only}: ${data.map((each) => each.provider).join(', ')}`,
  });
  const models = found.flatMap(({ provider, models: names }) => names.map((model) => ({ provider, ...model })));
  if (context.json || models.length === 0) return;
  const lines = models.map(({ provider, name, context_window_tokens: window }) => [
    cleanLine(`${provider}/${name}`),
    window === null ? '' : `${window.toLocaleString('en')} tokens`,
  ]);
  context.terminal.out(`\n${table([['MODEL', 'WINDOW'], ...lines])}`);
}
