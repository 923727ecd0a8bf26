// `dormouse tools`: the registered tool servers, how one is doing, and whether the runtime can use one.
import { randomUUID } from 'node:crypto';
import { ask, type Client, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../clean-text.ts';
import { answer, type CliContext, table } from '../context.ts';
import { showDuration } from '../duration.ts';
import { exitCodes } from '../exit-code.ts';
import type { RunCommand } from '../command.ts';

type ToolServer = Schemas['ToolServer'];
type ToolServerDetails = Schemas['ToolServerDetails'];
type ProbeReport = Schemas['ProbeReport'];

export function addToolCommands(program: Command, run: RunCommand): void {
  const tools = program.command('tools').description('tool servers: list, show, add, probe');
  tools
    .command('list', { isDefault: true })
    .description('registered tool servers')
    .action(() => run(list));
  tools
    .command('show <name>')
    .description('one tool server and its health: times, errors, breaker, oldest open call')
    .action((name: string) => run((context) => show(context, name)));
  tools
    .command('add <name> <url>')
    .description('register a tool server')
    .action((name: string, url: string) =>
      run(async (context) => {
        const { api } = await context.connect();
        const server = await ask(api.POST('/v1/tool-servers', { body: { name, base_url: url } }));
        answer(context, `${server.name} ${server.base_url} (${server.id})`, server);
      }),
    );
  tools
    .command('probe <url-or-name>')
    .description(
      'ask the runtime to fetch and judge a manifest; a URL that is not registered is, for the moment of the probe',
    )
    .action((target: string) => run((context) => probe(context, target)));
}

const servers = (client: Client): AsyncGenerator<ToolServer, void, undefined> =>
  everyItem((cursor) => ask(client.api.GET('/v1/tool-servers', { params: { query: { cursor } } })));

async function list(context: CliContext): Promise<void> {
  const found: ToolServer[] = [];
  for await (const server of servers(await context.connect())) found.push(server);
  if (context.json) return found.forEach((server) => answer(context, '', server));
  if (found.length === 0)
    return context.terminal.err('No tool servers yet. Register one with: npx dormouse tools add NAME URL');
  const rows = found.map((server) => [
    cleanLine(server.name),
    cleanLine(server.base_url),
    server.paused ? 'paused' : '',
  ]);
  context.terminal.out(table([['TOOL SERVER', 'URL', ''], ...rows]));
}

async function show(context: CliContext, name: string): Promise<void> {
  const { api } = await context.connect();
  const server = await ask(api.GET('/v1/tool-servers/{name}', { params: { path: { name } } }));
  answer(context, describeServer(server), server);
}

function describeServer({ name, base_url, id, health }: ToolServerDetails): string {
  const { state, discovery_age_s: age, ack_ms, callback_ms, breaker, oldest_open_call: oldest } = health;
  return table([
    ['tool server', cleanLine(name)],
    ['id', id],
    ['url', cleanLine(base_url)],
    ['state', state === 'unknown' ? 'unknown: no call in 24 hours' : state],
    ['breaker', breaker],
    ['discovered', age === null ? 'never' : `${showDuration(age * 1_000)} ago`],
    ['acknowledged', timesOf(ack_ms)],
    ['called back', timesOf(callback_ms)],
    ...errorRows(health),
    ['oldest call', oldest ?? 'none open'],
  ]);
}

const timesOf = ({ p50, p99 }: ToolServerDetails['health']['ack_ms']): string =>
  p50 === null || p99 === null
    ? 'not in the last hour'
    : `p50 ${showDuration(Math.ceil(p50))}, p99 ${showDuration(Math.ceil(p99))} in the last hour`;

function errorRows({ errors, errors_by_class }: ToolServerDetails['health']): readonly string[][] {
  return (['5m', '1h', '24h'] as const).map((window) => {
    const classes = Object.entries(errors_by_class[window]).filter(([, count]) => count > 0);
    const named = classes.map(([kind, count]) => `${count} ${kind}`).join(', ');
    return [`errors ${window}`, named === '' ? '0' : `${errors[window]}: ${named}`];
  });
}

async function probe(context: CliContext, target: string): Promise<number> {
  const client = await context.connect();
  const report = /^https?:/.test(target) ? await probeUrl(client, target) : await probeNamed(client, target);
  answer(context, describeReport(report, target), report);
  return report.ok ? exitCodes.done : exitCodes.notInOrder;
}

const probeNamed = (client: Client, server: string): Promise<ProbeReport> =>
  ask(client.api.POST('/v1/tool-servers/{name}/probe', { params: { path: { name: server } } }));

/** The runtime probes only registrations, so that its rules for outgoing requests apply; a new URL is registered. */
async function probeUrl(client: Client, url: string): Promise<ProbeReport> {
  for await (const server of servers(client))
    if (server.base_url.replace(/\/+$/, '') === url.replace(/\/+$/, '')) return probeNamed(client, server.name);
  const name = `probe-${randomUUID()}`;
  await ask(client.api.POST('/v1/tool-servers', { body: { name, base_url: url } }));
  try {
    return await probeNamed(client, name);
  } finally {
    await ask(client.api.DELETE('/v1/tool-servers/{name}', { params: { path: { name } } }));
  }
}

interface ProbedTool {
  readonly name: string;
  readonly description?: string;
  readonly annotations?: { readonly destructive?: boolean };
}

function describeReport(report: ProbeReport, target: string): string {
  if (!report.ok)
    return [`${target} cannot be used:`, ...report.problems.map((problem) => `  ${cleanLine(problem)}`)].join('\n');
  const rows = probedTools(report.toolset).map((tool) => [
    `  ${cleanLine(tool.name)}`,
    cleanLine(`${tool.annotations?.destructive === true ? '(destructive) ' : ''}${tool.description ?? ''}`, 100),
  ]);
  return [
    `${target} is fine (${report.latency_ms} ms, manifest ${report.sha256?.slice(0, 12) ?? '?'})`,
    table(rows),
  ].join('\n');
}

function probedTools(toolset: unknown): readonly ProbedTool[] {
  const tools = typeof toolset === 'object' && toolset !== null && 'tools' in toolset ? toolset.tools : [];
  return Array.isArray(tools)
    ? tools.filter(
        (tool): tool is ProbedTool =>
          typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string',
      )
    : [];
}
