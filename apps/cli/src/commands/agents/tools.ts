// `dormouse tools`: the registered tool servers, how one is doing, and whether the runtime can use one. What could
// never be called is refused by the API.
import { randomUUID } from 'node:crypto';
import { ApiProblem, ask, type Client, everyItem, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import { answer, answerList, type CliContext, table } from '../../context.ts';
import { showDuration } from '../../duration.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { quoted } from '../../hint.ts';
import { refreshTools } from './refresh-tools.ts';
import type { RunCommand } from '../../command.ts';
import { newToolServer } from './new-tool-server.ts';

type ToolServer = Schemas['ToolServer'];
type ToolServerDetails = Schemas['ToolServerDetails'];
type ProbeReport = Schemas['ProbeReport'];

const bearer = ['--bearer <secret>', 'the name of the secret that it is sent as a bearer token'] as const;
const hmac = ['--hmac <secret>', 'the name of the secret that signs what it is sent (Standard Webhooks)'] as const;

export function addToolCommands(program: Command, run: RunCommand): void {
  const tools = program
    .command('tools')
    .description('tool servers: new, list, show, add, set, pause, resume, delete, probe, refresh');
  tools
    .command('new <name>')
    .description('make a tool server to begin with, in a folder of this name')
    .option('--sdk <spec>', 'where npm takes the SDK from: a version, or a tarball of `npm run pack`')
    .action(run(newToolServer));
  tools.command('list', { isDefault: true }).description('registered tool servers').action(run(list));
  tools
    .command('show <name>')
    .description('one tool server and its health: times, errors, breaker, oldest open call')
    .action(run(show));
  tools
    .command('add <name> <url>')
    .description('register a tool server, and see whether it can be called')
    .option(...bearer)
    .option(...hmac)
    .action(run(add));
  tools
    .command('set <name>')
    .description('change a registration; what is not given stays')
    .option('--base-url <url>', 'where it is now')
    .option(...bearer)
    .option(...hmac)
    .option('--no-credential', 'send it no credential')
    .option('--pin <sha256>', 'the only manifest that is good, by its hash; "current" approves the one that it has now')
    .option('--no-pin', 'take whatever manifest it has')
    .action(run(set));
  tools
    .command('pause <name>')
    .description('send it nothing until it is resumed; calls wait, and results of calls that were sent are taken')
    .action(run((context, name: string) => setPaused(context, name, 'pause')));
  tools
    .command('resume <name>')
    .description('send to a paused tool server again, first what has waited')
    .action(run((context, name: string) => setPaused(context, name, 'resume')));
  tools.command('delete <name>').description('forget a registration').action(run(remove));
  tools
    .command('refresh [thread]')
    .description('let a thread, or every open one, load the tools that its servers have now')
    .action(run(refresh));
  tools
    .command('probe <url-or-name>')
    .description(
      'ask the runtime to fetch and judge a manifest; a URL that is not registered is, for the moment of the probe',
    )
    .action(run(probe));
}

const servers = (client: Client): AsyncGenerator<ToolServer, void, undefined> =>
  everyItem((cursor) => ask(client.api.GET('/v1/tool-servers', { params: { query: { cursor } } })));

interface CredentialFlags {
  readonly bearer?: string;
  readonly hmac?: string;
}

interface SetFlags extends CredentialFlags {
  readonly baseUrl?: string;
  /** False for `--no-credential`. */
  readonly credential: boolean;
  /** False for `--no-pin`. */
  readonly pin?: string | false;
}

/** Undefined when no flag names one. */
function authOf({ bearer, hmac }: CredentialFlags) {
  if (bearer !== undefined && hmac !== undefined)
    throw wrongUsage('A tool server has one credential: --bearer or --hmac.');
  if (bearer !== undefined) return { type: 'bearer' as const, secret: bearer };
  return hmac === undefined ? undefined : { type: 'hmac' as const, secret: hmac };
}

async function add(context: CliContext, name: string, url: string, flags: CredentialFlags): Promise<void> {
  const auth = authOf(flags) ?? null;
  const client = await context.connect();
  const created = ask(client.api.POST('/v1/tool-servers', { body: { name, base_url: url, auth } }));
  const server = await created.catch((error: unknown) => {
    throw isTaken(error) ? taken(context, error, { name, url, flags }) : error;
  });
  await answerWithProbe(context, client, server);
}

const isTaken = (error: unknown): error is ApiProblem => error instanceof ApiProblem && error.code === 'ALREADY_EXISTS';

/** The command that was meant is the next step, with what was typed. */
function taken(
  { hint }: CliContext,
  { message, code }: ApiProblem,
  { name, url, flags }: { readonly name: string; readonly url: string; readonly flags: CredentialFlags },
): CliFailure {
  const credential = Object.entries(flags).map(([flag, secret]) => ` --${flag} ${quoted(secret)}`);
  const change = hint(`tools set ${name} --base-url ${quoted(url)}${credential.join('')}`);
  const next = `See it: ${hint(`tools show ${name}`)}\nChange it: ${change}`;
  return new CliFailure(exitCodes.failed, message, next, code);
}

/** Sends only what was given: the rest of the registration stays. */
async function set(context: CliContext, name: string, flags: SetFlags): Promise<void> {
  const given = authOf(flags);
  if (given !== undefined && !flags.credential) throw wrongUsage('Either a credential, or --no-credential.');
  const auth = flags.credential ? given : null;
  const body = { base_url: flags.baseUrl, auth, pinned_sha256: pinOf(flags) };
  if (Object.values(body).every((value) => value === undefined))
    throw wrongUsage(
      'There is nothing to change.',
      'Say what: --base-url URL, --bearer SECRET, --hmac SECRET, --no-credential, --pin SHA256 or --no-pin.',
    );
  const client = await context.connect();
  const params = { path: { name } };
  if (flags.pin === 'current') body.pinned_sha256 = await currentHash(client, name);
  await answerWithProbe(context, client, await ask(client.api.PATCH('/v1/tool-servers/{name}', { params, body })));
}

async function setPaused(context: CliContext, name: string, verb: 'pause' | 'resume'): Promise<void> {
  const { api } = await context.connect();
  const server = await ask(api.POST(`/v1/tool-servers/{name}/${verb}`, { params: { path: { name } } }));
  const next = server.paused ? `; go on with: ${context.hint(`tools resume ${cleanLine(server.name)}`)}` : '';
  answer(context, `${server.name} is ${server.state}${next}`, server);
}

function pinOf({ pin }: SetFlags): string | null | undefined {
  if (pin === undefined || pin === 'current') return pin;
  if (pin === false) return null;
  if (/^[0-9a-f]{64}$/.test(pin)) return pin;
  throw wrongUsage(`"${pin}" is no hash of a manifest.`, 'A SHA-256 in lower-case hex, or: current.');
}

async function currentHash(client: Client, name: string): Promise<string> {
  const { sha256, problems } = await probeNamed(client, name);
  if (sha256 !== null) return sha256;
  throw new CliFailure(exitCodes.failed, `${name} has no manifest that could be pinned: ${problems.join('; ')}`);
}

async function remove(context: CliContext, name: string): Promise<void> {
  await forget(await context.connect(), name);
  answer(context, `${name} is deleted`, { name, deleted: true });
}

/** The probe tries the credential, which neither the registration nor its change does. */
async function answerWithProbe(context: CliContext, client: Client, server: ToolServer): Promise<void> {
  const report = await probeNamed(client, server.name);
  answer(context, `${server.name} ${server.base_url} (${server.id})`, server);
  for (const line of warningsOf(context, report, server.name)) context.terminal.err(cleanLine(line, 400));
}

function warningsOf(
  { hint }: CliContext,
  { ok, problems, credential, toolset }: ProbeReport,
  name: string,
): readonly string[] {
  const said = problems.map((problem) => `! ${problem}`);
  if (!ok)
    return [...said, `It is registered, and cannot be used yet. Look again with: ${hint(`tools probe ${name}`)}`];
  const unchecked =
    credential.state === 'unchecked' && credential.detail !== null
      ? [`! the credential could not be checked: ${credential.detail}`]
      : [];
  return [
    ...unchecked,
    `It has ${probedTools(toolset).length} tools. Open threads take them with: ${hint('tools refresh')}`,
  ];
}

const forget = (client: Client, server: string): Promise<unknown> =>
  ask(client.api.DELETE('/v1/tool-servers/{name}', { params: { path: { name: server } } }));

async function refresh(context: CliContext, thread: string | undefined): Promise<void> {
  if (thread?.startsWith('thr_') === false)
    throw wrongUsage(
      `"${thread}" is no thread: ids of threads begin with thr_.`,
      `All open threads load the tools of their servers with: ${context.hint('tools refresh')}`,
    );
  const client = await context.connect();
  const found = thread === undefined ? await openThreads(client) : [thread];
  for (const one of found) {
    const changes = await refreshTools(client, one);
    answer(context, `${one}  ${changes.join('; ') || 'the same tools'}`, { thread: one, changes });
  }
  if (found.length === 0 && !context.json) context.terminal.err('No open thread has tool servers.');
}

async function openThreads({ api }: Client): Promise<readonly string[]> {
  const withTools = new Set<string>();
  for await (const agent of everyItem((cursor) => ask(api.GET('/v1/agents', { params: { query: { cursor } } }))))
    if (agent.tool_servers.length > 0) withTools.add(agent.name);
  const found: string[] = [];
  for await (const { id, agent, status } of everyItem((cursor) =>
    ask(api.GET('/v1/threads', { params: { query: { cursor } } })),
  ))
    if (status !== 'closed' && status !== 'parked' && withTools.has(agent.name)) found.push(id);
  return found;
}

async function list(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found = await whole((query) => ask(api.GET('/v1/tool-servers', { params: { query } })));
  answerList(context, found, {
    heading: ['TOOL SERVER', 'URL', ''],
    row: ({ name, base_url: url, paused }) => [cleanLine(name), cleanLine(url), paused ? 'paused' : ''],
    none: `No tool servers yet. Register one with: ${context.hint('tools add NAME URL')}`,
  });
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
    await forget(client, name);
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
    ...credentialWords(report.credential),
    table(rows),
  ].join('\n');
}

function credentialWords({ state, detail }: ProbeReport['credential']): readonly string[] {
  if (state === 'accepted') return ['The credential is accepted.'];
  return state === 'unchecked' && detail !== null ? [cleanLine(`The credential could not be checked: ${detail}.`)] : [];
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
