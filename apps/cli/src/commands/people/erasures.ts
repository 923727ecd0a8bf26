// `dormouse erasures`: erases contents, shows certificates, and brings a list of erasures along after a restore.
import { ask, certificateComplaint, type Client, everyItem, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import { readFile, writeFile } from 'node:fs/promises';
import { auditKeysIn } from '../../audit-key-file.ts';
import { cleanLine } from '../../clean-text.ts';
import { cli } from '../../command-name.ts';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, table } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { linesOf } from '../../file-lines.ts';

type Erasure = Schemas['Erasure'];

interface RequestOptions {
  readonly thread?: string;
  readonly user?: string;
  readonly yes: boolean;
}

export function addErasureCommands(program: Command, run: RunCommand): void {
  const erasures = program.command('erasures').description('contents that were erased, and their certificates');
  erasures
    .command('list', { isDefault: true })
    .description('all erasures, the newest first')
    .action(() => run(list));
  erasures
    .command('request')
    .description('erase the contents of a thread with all below it, or everything of an end user')
    .option('--thread <id>', 'a thread; its family, if it is a root')
    .option('--user <id>', 'an end user, by the `user_id` of threads')
    .option('--yes', 'do not ask; there is no way back', false)
    .action((options: RequestOptions) => run((context) => request(context, options)));
  erasures
    .command('get <id>')
    .description('an erasure, with its certificate when it is done')
    .action((id: string) => run((context) => show(context, id)));
  erasures
    .command('verify <file>')
    .description('check a certificate, offline: what `get` has printed; exits 5 when it was changed')
    .requiredOption('--keys <file>', 'what `dormouse audit keys` printed, before it or since')
    .action((file: string, { keys }: { readonly keys: string }) => run((context) => verify(context, file, keys)));
  erasures
    .command('export <file>')
    .description('every erasure as NDJSON, into a new file: keep it apart from backups')
    .action((file: string) => run((context) => exportAll(context, file)));
  erasures
    .command('apply <file>')
    .description('erase again what a restore has brought back, by what `export` wrote')
    .action((file: string) => run((context) => apply(context, file)));
}

const pages = ({ api }: Awaited<ReturnType<CliContext['connect']>>): AsyncIterable<Erasure> =>
  everyItem((cursor) => ask(api.GET('/v1/erasures', { params: { query: { limit: 200, cursor } } })));

async function list(context: CliContext): Promise<void> {
  const found: Erasure[] = [];
  for await (const erasure of pages(await context.connect())) found.push(erasure);
  if (context.json) return found.forEach((erasure) => answer(context, '', erasure));
  if (found.length === 0) return context.terminal.err('Nothing was erased.');
  const rows = found.map(({ id, scope, subject, state, requested_at: at, threads }) =>
    [id, scope, subject, state, at, String(threads)].map((cell) => cleanLine(cell, 80)),
  );
  context.terminal.out(table([['ID', 'SCOPE', 'SUBJECT', 'STATE', 'REQUESTED', 'THREADS'], ...rows]));
}

async function request(context: CliContext, { thread, user, yes }: RequestOptions): Promise<void> {
  if ((thread === undefined) === (user === undefined))
    throw new CliFailure(exitCodes.usage, 'Say what is erased: either --thread ID or --user ID.');
  const { api } = await context.connect();
  const users = user === undefined ? null : await threadsOf(api, user);
  if (!yes)
    throw new CliFailure(
      exitCodes.usage,
      `The contents of ${thread ?? user ?? ''}${users === null ? '' : `, in ${users},`} would be gone for good.`,
      'To do it, add --yes',
    );
  if (users !== null) progress(context, `${user ?? ''} is the user of ${users}.`);
  const body = thread === undefined ? { user_id: user ?? '' } : { thread_id: thread };
  const erasure = await ask(api.POST('/v1/erasures', { body }));
  answer(
    context,
    erasure.state === 'done'
      ? `${erasure.subject} is erased: ${erasure.id}`
      : `${erasure.subject} is being erased. Its certificate: ${context.hint(`erasures get ${erasure.id}`)}`,
    erasure,
  );
}

/** How many a user has; a number beyond one page is not counted. */
async function threadsOf(api: Client['api'], user: string): Promise<string> {
  const query = { user_id: user, limit: 200 };
  const { data, next_cursor: more } = await ask(api.GET('/v1/threads', { params: { query } }));
  if (data.length === 0) return 'no thread';
  return more === null ? `${data.length} thread${data.length === 1 ? '' : 's'}` : 'more than 200 threads';
}

async function show(context: CliContext, id: string): Promise<void> {
  const { api } = await context.connect();
  const erasure = await ask(api.GET('/v1/erasures/{id}', { params: { path: { id } } }));
  if (context.json) return answer(context, '', erasure);
  if (erasure.certificate === null)
    throw new CliFailure(exitCodes.waiting, `${id} is not done yet`, 'Try again in half a minute.');
  context.terminal.out(JSON.stringify(erasure.certificate, null, 2));
}

async function verify(context: CliContext, file: string, keyFile: string): Promise<number> {
  const complaint = await certificateComplaint(await certificateIn(file), await auditKeysIn(keyFile));
  answer(context, `The certificate ${complaint ?? 'is as it was signed'}.`, {
    ok: complaint === null,
    reason: complaint,
  });
  return complaint === null ? exitCodes.done : exitCodes.notInOrder;
}

async function certificateIn(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CliFailure(
      exitCodes.usage,
      `${file} cannot be read as a certificate: ${error instanceof Error ? error.message : String(error)}`,
      `Write one with: ${cli} erasures get ID > ${file}`,
    );
  }
}

async function exportAll(context: CliContext, file: string): Promise<void> {
  const lines: string[] = [];
  for await (const erasure of pages(await context.connect())) lines.push(JSON.stringify(erasure));
  try {
    await writeFile(file, lines.map((line) => `${line}\n`).join(''), { flag: 'wx', flush: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new CliFailure(exitCodes.failed, `${file} is there already.`, 'An existing file is never overwritten.');
    throw error;
  }
  if (context.json) answer(context, '', { file, erasures: lines.length });
  else progress(context, `${lines.length} erasures are in ${file}.`);
}

/** The oldest first. What is not here was not in the backup. */
async function apply(context: CliContext, file: string): Promise<void> {
  const { api } = await context.connect();
  let [applied, absent] = [0, 0];
  for (const erasure of (await erasuresIn(file)).toReversed()) {
    const users = erasure.scope === 'user' ? [{ user_id: erasure.subject }] : [];
    const threads = erasure.scope === 'user' ? (erasure.certificate?.families ?? []) : [erasure.subject];
    for (const body of [...users, ...threads.map((thread) => ({ thread_id: thread }))]) {
      const { response, error } = await api.POST('/v1/erasures', { body });
      if (response.ok) applied += 1;
      else if (response.status === 404) absent += 1;
      else
        throw new CliFailure(
          exitCodes.failed,
          `${erasure.id} could not be applied: ${JSON.stringify(error)}`,
          'Run it again.',
        );
    }
  }
  answer(
    context,
    `${applied} erasures are asked for again: see when all are done with ${context.hint('erasures list')}; ${absent} threads are not here.`,
    {
      applied,
      absent,
    },
  );
}

async function erasuresIn(file: string): Promise<readonly Erasure[]> {
  const found: Erasure[] = [];
  for await (const line of linesOf(file)) if (line.trim() !== '') found.push(erasureIn(line, file));
  return found;
}

function erasureIn(line: string, file: string): Erasure {
  try {
    const erasure = JSON.parse(line) as Erasure;
    if (typeof erasure.subject === 'string' && typeof erasure.scope === 'string') return erasure;
  } catch {
    // As below: a line that is no erasure.
  }
  throw new CliFailure(
    exitCodes.usage,
    `${file} is no list of erasures.`,
    `Write one with: ${cli} erasures export FILE`,
  );
}
