// `dormouse tenants`: the customers of an installation, with its platform key; list, create, show, suspend, resume,
// set and delete them.
import { ApiProblem, ask, type Client, type Schemas, whole } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { cleanLine } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { connect } from '../../connection.ts';
import { answer, answerList, type CliContext, progress, table } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';

type Patch = Schemas['TenantPatch'];

interface Changes {
  readonly name?: string;
  readonly quota?: readonly string[];
  readonly weight?: string;
  readonly origin?: readonly string[];
  readonly retentionDays?: string;
  readonly outboundAllow?: readonly string[];
  readonly traceContent?: 'on' | 'off';
}

/** A command with the options that every one of them has. */
const asPlatform = (command: Command): Command =>
  command.addOption(
    new Option('--platform-key <key>', 'the key that manages tenants (standard: --key)').env('DORMOUSE_PLATFORM_KEY'),
  );

const withChanges = (command: Command): Command =>
  asPlatform(command)
    .option('--name <text>', 'what people call it')
    .option('--quota <name=value...>', 'a limit, such as requests_per_s=50; "default" takes one back')
    .option('--weight <number>', 'its share beside other tenants, above 0')
    .option('--origin <origin...>', 'pages of other origins that may use the API with its credentials')
    .option('--retention-days <days>', 'how long threads at rest are kept; "none" for ever')
    .option('--outbound-allow <entry...>', 'private addresses and plain http that it may call; "none" for no entry')
    .addOption(new Option('--trace-content <on|off>', 'its words in traces').choices(['on', 'off']));

export function addTenantCommands(program: Command, run: RunCommand): void {
  const tenants = program
    .command('tenants')
    .description('customers of the installation: list, create, show, suspend, resume, set, delete');
  const within = <Rest extends readonly unknown[]>(body: (tenants: Tenants, ...rest: Rest) => Promise<void>) =>
    run(async (context, ...given: readonly unknown[]) => {
      const options = given.at(-2) as { readonly platformKey?: string };
      const rest = given.slice(0, -1) as unknown as Rest;
      return body(await open(context, options.platformKey), ...rest).catch(refused);
    });
  asPlatform(tenants.command('list', { isDefault: true }).description('all tenants by id')).action(within(list));
  withChanges(tenants.command('create <id>').description('make one; the text of its first key is printed once')).action(
    within(create),
  );
  asPlatform(tenants.command('show <id>').description('one, with all its quotas')).action(within(show));
  asPlatform(
    tenants
      .command('suspend <id>')
      .description('nothing is asked or sent for it, and it has no callers, within a second'),
  ).action(within((open, id: string) => change(open, id, { state: 'suspended' })));
  asPlatform(tenants.command('resume <id>').description('it goes on where it was')).action(
    within((open, id: string) => change(open, id, { state: 'active' })),
  );
  withChanges(tenants.command('set <id>').description('change what is named')).action(
    within((open, id: string, changes: Changes) => change(open, id, patchOf(changes))),
  );
  asPlatform(tenants.command('delete <id>').description('suspend it for good, and erase what it has'))
    .option('--yes', 'do not ask; there is no way back', false)
    .action(within(remove));
}

/** Of a key that is none for tenants: which one is. */
function refused(error: unknown): never {
  if (!(error instanceof ApiProblem) || (error.status !== 401 && error.status !== 403)) throw error;
  throw new CliFailure(
    exitCodes.key,
    error.message,
    'Tenants are managed with the platform key alone: DORMOUSE_PLATFORM_KEY, the same where the runtime starts and in this shell, or --platform-key.',
    error.code,
  );
}

interface Tenants {
  readonly context: CliContext;
  readonly api: Client['api'];
}

async function open(context: CliContext, platformKey: string | undefined): Promise<Tenants> {
  const { flags } = context;
  const { api } = await connect(platformKey === undefined ? flags : { ...flags, key: platformKey });
  return { context, api };
}

async function list({ context, api }: Tenants): Promise<void> {
  answerList(context, await whole((query) => ask(api.GET('/v1/tenants', { params: { query } }))), {
    heading: ['TENANT', 'STATE', 'WEIGHT', 'NAME'],
    row: ({ id, state, weight, name }) => [id, state, String(weight), cleanLine(name)],
  });
}

async function create({ context, api }: Tenants, id: string, changes: Changes): Promise<void> {
  const made = await ask(api.POST('/v1/tenants', { body: { ...patchOf(changes), id } }));
  progress(context, `${id} is there; the text of its first key is shown this once`);
  answer(context, made.key, made);
}

async function show({ context, api }: Tenants, id: string): Promise<void> {
  const found = await ask(api.GET('/v1/tenants/{id}', { params: { path: { id } } }));
  const { quotas, ...fields } = found;
  const shown = (value: string | number | boolean | readonly string[] | null): string =>
    value === null ? 'none' : cleanLine(value.toString());
  const rows = [...Object.entries(fields), ...Object.entries(quotas)].map(([name, value]) => [name, shown(value)]);
  answer(context, table(rows), found);
}

async function change({ context, api }: Tenants, id: string, body: Patch): Promise<void> {
  const found = await ask(api.PATCH('/v1/tenants/{id}', { params: { path: { id } }, body }));
  answer(context, `${id} is ${found.state}`, found);
}

async function remove({ context, api }: Tenants, id: string, { yes }: { readonly yes: boolean }): Promise<void> {
  if (!yes)
    throw wrongUsage(
      `${id} and everything that it has would be erased, and its id is never given again`,
      `To do it: ${context.hint(`tenants delete ${id} --yes`)}`,
    );
  const found = await ask(api.DELETE('/v1/tenants/{id}', { params: { path: { id } } }));
  answer(context, `${id} is suspended, and is being erased`, found);
}

function patchOf({ name, quota, weight, origin, retentionDays, outboundAllow: entries, traceContent }: Changes): Patch {
  return {
    retention_days: retentionDays === undefined ? undefined : daysOf(retentionDays),
    name,
    quotas: quota && Object.fromEntries(quota.map(quotaOf)),
    weight: weight === undefined ? undefined : Number(weight),
    origins: origin && [...origin],
    outbound_allow: entries?.filter((entry) => entry !== 'none'),
    trace_content: traceContent === undefined ? undefined : traceContent === 'on',
  };
}

function daysOf(text: string): number | null {
  if (text !== 'none' && !/^[1-9]\d{0,4}$/.test(text))
    throw wrongUsage(`${text} is no number of days`, 'A whole number above 0, or none');
  return text === 'none' ? null : Number(text);
}

function quotaOf(text: string): readonly [string, number | null] {
  const [name = '', value = '', ...more] = text.split('=');
  if (name === '' || more.length > 0 || (value !== 'default' && !/^\d+(\.\d+)?$/.test(value)))
    throw wrongUsage(`${text} is no quota`, 'Such as requests_per_s=50, or threads_max=default');
  return [name, value === 'default' ? null : Number(value)];
}
