// `dormouse agents`: list, show, create, pause, resume.
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Agent, ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, type CliContext, table } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import type { RunCommand } from '../../command.ts';

export function addAgentCommands(program: Command, run: RunCommand): void {
  const agents = program.command('agents').description('list, show, create, pause and resume agents');
  agents
    .command('list', { isDefault: true })
    .description('the latest version of every agent')
    .action(() => run(list));
  agents
    .command('show <agent>')
    .description('one agent, as JSON')
    .action((agent: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const found = await ask(api.GET('/v1/agents/{name}', { params: { path: { name: agent } } }));
        answer(context, JSON.stringify(found, null, 2), found);
      }),
    );
  agents
    .command('create <name-or-file>')
    .description('make an agent, or its next version: a name with --model, or a JSON file ("-" reads stdin)')
    .option('--model <provider/name>', 'such as openai/gpt-5.5; "dormouse models" lists them')
    .option('--tools <names>', 'tool servers, separated by commas')
    .option('--instructions <text>', 'what the agent is to do')
    .option('--base-url <url>', "the endpoint, when it is not the provider's own")
    .option('--secret <name>', 'the secret with the key; openai and anthropic use the one of their name')
    .action((nameOrFile: string, flags: AgentFlags) => run((context) => create(context, nameOrFile, flags)));
  agents
    .command('pause <agent>')
    .description('ask its model nothing and send no call, until it is resumed; what arrives waits')
    .action((agent: string) => run((context) => setState(context, agent, 'paused')));
  agents
    .command('resume <agent>')
    .description('let a paused agent go on, with everything that has waited')
    .action((agent: string) => run((context) => setState(context, agent, 'active')));
}

async function setState(context: CliContext, name: string, state: 'active' | 'paused'): Promise<void> {
  const { api } = await context.connect();
  const agent = await ask(api.PATCH('/v1/agents/{name}', { params: { path: { name } }, body: { state } }));
  const next = state === 'paused' ? `; go on with: ${context.hint(`agents resume ${cleanLine(agent.name)}`)}` : '';
  answer(context, `${agent.name} is ${agent.state}${next}`, agent);
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found: Agent[] = [];
  for await (const agent of everyItem((cursor) => ask(api.GET('/v1/agents', { params: { query: { cursor } } }))))
    found.push(agent);
  if (context.json) return found.forEach((agent) => answer(context, '', agent));
  if (found.length === 0)
    return context.terminal.err(`No agents yet. Make one with: ${context.hint('agents create NAME --model demo')}`);
  const rows = found.map((agent) => [
    cleanLine(agent.name),
    `v${agent.version}`,
    cleanLine(`${agent.model.provider} ${agent.model.name}`),
    agent.state === 'paused' ? 'paused' : '',
    cleanLine(agent.tool_servers.join(', ')),
  ]);
  context.terminal.out(table([['AGENT', 'VERSION', 'MODEL', '', 'TOOL SERVERS'], ...rows]));
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
    throw new CliFailure(exitCodes.usage, 'an agent needs a model', next);
  }
  return {
    name,
    ...(instructions === undefined ? {} : { instructions }),
    model: {
      provider: provider as Schemas['NewAgent']['model']['provider'], // judged by the API
      ...(slash < 0 ? {} : { name: model.slice(slash + 1) }),
      ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
      ...(secret === undefined ? {} : { api_key_secret: secret }),
    },
    tool_servers: tools.split(',').flatMap((tool) => tool.trim() || []),
  };
}

async function agentOfFile(context: CliContext, file: string): Promise<Schemas['NewAgent']> {
  return parseAgent(file === '-' ? await readAll(context.terminal.stdin) : await read(file), file);
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(
      exitCodes.usage,
      `${file} cannot be read: ${why}`,
      'An agent is a JSON file; "-" reads stdin.',
    );
  }
}

/** The API validates the content; here it only has to be JSON. */
function parseAgent(json: string, file: string): Schemas['NewAgent'] {
  try {
    return JSON.parse(json) as Schemas['NewAgent'];
  } catch (error) {
    throw new CliFailure(
      exitCodes.usage,
      `${file} is no JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
