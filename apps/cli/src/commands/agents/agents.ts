// `dormouse agents`: list, show, create, pause, resume.
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { ask, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, answerList, type CliContext } from '../../context.ts';
import { wrongUsage } from '../../exit-code.ts';
import type { RunCommand } from '../../command.ts';
import { messageOf } from '../../thrown.ts';

export function addAgentCommands(program: Command, run: RunCommand): void {
  const agents = program.command('agents').description('list, show, create, pause and resume agents');
  agents.command('list', { isDefault: true }).description('the latest version of every agent').action(run(list));
  agents.command('show <agent>').description('one agent, as JSON').action(run(show));
  agents
    .command('create <name-or-file>')
    .description('make an agent, or its next version: a name with --model, or a JSON file ("-" reads stdin)')
    .option('--model <provider/name>', 'such as openai/gpt-5.5; "dormouse models" lists them')
    .option('--tools <names>', 'tool servers, separated by commas')
    .option('--instructions <text>', 'what the agent is to do')
    .option('--base-url <url>', "the endpoint, when it is not the provider's own")
    .option('--secret <name>', 'the secret with the key; openai and anthropic use the one of their name')
    .action(run(create));
  agents
    .command('pause <agent>')
    .description('ask its model nothing and send no call, until it is resumed; what arrives waits')
    .action(run((context, agent: string) => setState(context, agent, 'paused')));
  agents
    .command('resume <agent>')
    .description('let a paused agent go on, with everything that has waited')
    .action(run((context, agent: string) => setState(context, agent, 'active')));
}

async function show(context: CliContext, name: string): Promise<void> {
  const { api } = await context.connect();
  const agent = await ask(api.GET('/v1/agents/{name}', { params: { path: { name } } }));
  answer(context, JSON.stringify(agent, null, 2), agent);
}

async function setState(context: CliContext, name: string, state: 'active' | 'paused'): Promise<void> {
  const { api } = await context.connect();
  const agent = await ask(api.PATCH('/v1/agents/{name}', { params: { path: { name } }, body: { state } }));
  const next = state === 'paused' ? `; go on with: ${context.hint(`agents resume ${cleanLine(agent.name)}`)}` : '';
  answer(context, `${agent.name} is ${agent.state}${next}`, agent);
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const agents = await whole((query) => ask(api.GET('/v1/agents', { params: { query } })));
  answerList(context, agents, {
    heading: ['AGENT', 'VERSION', 'MODEL', '', 'TOOL SERVERS'],
    row: ({ name, version, model, state, tool_servers: servers }) => [
      ...[cleanLine(name), `v${version}`, cleanLine(`${model.provider} ${model.name}`)],
      ...[state === 'paused' ? 'paused' : '', cleanLine(servers.join(', '))],
    ],
    none: `No agents yet. Make one with: ${context.hint('agents create NAME --model demo')}`,
  });
}

interface AgentFlags {
  readonly model?: string;
  readonly tools?: string;
  readonly instructions?: string;
  readonly baseUrl?: string;
  readonly secret?: string;
}

async function create(context: CliContext, nameOrFile: string, flags: AgentFlags): Promise<void> {
  const body = Object.keys(flags).length === 0 ? await agentOfFile(context, nameOrFile) : agentOf(nameOrFile, flags);
  const { api } = await context.connect();
  const agent = await ask(api.POST('/v1/agents', { body }));
  answer(context, `${agent.name} v${agent.version} (${agent.id})`, agent);
}

function agentOf(name: string, flags: AgentFlags): Schemas['NewAgent'] {
  const { model = '', tools = '', instructions, baseUrl, secret } = flags;
  const slash = model.indexOf('/');
  const provider = slash < 0 ? model : model.slice(0, slash);
  if (provider === '') {
    const next = 'Say --model PROVIDER/NAME, such as --model openai/gpt-5.5; "dormouse models" lists them.';
    throw wrongUsage('an agent needs a model', next);
  }
  return {
    name,
    instructions,
    model: {
      provider: provider as Schemas['NewAgent']['model']['provider'], // judged by the API
      name: slash < 0 ? undefined : model.slice(slash + 1),
      base_url: baseUrl,
      api_key_secret: secret,
    },
    tool_servers: tools.split(',').flatMap((tool) => tool.trim() || []),
  };
}

/** The API validates the content; here it only has to be JSON. */
async function agentOfFile({ terminal }: CliContext, file: string): Promise<Schemas['NewAgent']> {
  const json = await (file === '-' ? readAll(terminal.stdin) : readFile(file, 'utf8').catch(unreadable(file)));
  try {
    return JSON.parse(json) as Schemas['NewAgent'];
  } catch (error) {
    throw wrongUsage(`${file} is no JSON: ${messageOf(error)}`);
  }
}

const unreadable = (file: string) => (error: unknown) => {
  const next = 'An agent is a JSON file; "-" reads stdin.';
  throw wrongUsage(`${file} cannot be read: ${messageOf(error)}`, next);
};
