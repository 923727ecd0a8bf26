// `dormouse agents`: list, show, create.
import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Agent, ask, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../clean-text.ts';
import { answer, type CliContext, table } from '../context.ts';
import { CliFailure, exitCodes } from '../exit-code.ts';
import type { RunCommand } from '../command.ts';

export function addAgentCommands(program: Command, run: RunCommand): void {
  const agents = program.command('agents').description('list, show and create agents');
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
    .command('create <file>')
    .description('make an agent, or its next version, from a JSON file; "-" reads stdin')
    .action((file: string) => run((context) => create(context, file)));
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found: Agent[] = [];
  for await (const agent of everyItem((cursor) => ask(api.GET('/v1/agents', { params: { query: { cursor } } }))))
    found.push(agent);
  if (context.json) return found.forEach((agent) => answer(context, '', agent));
  if (found.length === 0) return context.terminal.err('No agents yet. Make one with: npx dormouse agents create FILE');
  const rows = found.map((agent) => [
    cleanLine(agent.name),
    `v${agent.version}`,
    cleanLine(`${agent.model.provider} ${agent.model.name}`),
    cleanLine(agent.tool_servers.join(', ')),
  ]);
  context.terminal.out(table([['AGENT', 'VERSION', 'MODEL', 'TOOL SERVERS'], ...rows]));
}

async function create(context: CliContext, file: string): Promise<void> {
  const json = file === '-' ? await readAll(context.terminal.stdin) : await read(file);
  const { api } = await context.connect();
  const agent = await ask(api.POST('/v1/agents', { body: parseAgent(json, file) }));
  answer(context, `${agent.name} v${agent.version} (${agent.id})`, agent);
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
