// `dormouse erasures`: erases contents, shows certificates, and brings a list of erasures along after a restore.
import { ask, certificateComplaint, type Client, type Schemas, whole } from '@dormouse/client';
import type { Command } from 'commander';
import { readFile, writeFile } from 'node:fs/promises';
import { auditKeysIn } from '../../audit-key-file.ts';
import { cleanLine } from '../../clean-text.ts';
import { cli } from '../../command-name.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { linesOf } from '../../file-lines.ts';
import { hasCode, isThereAlready, messageOf } from '../../thrown.ts';

type Erasure = Schemas['Erasure'];

interface RequestOptions {
  readonly thread?: string;
  readonly user?: string;
  readonly yes: boolean;
}

export function addErasureCommands(program: Command, run: RunCommand): void {
  const erasures = program.command('erasures').description('contents that were erased, and their certificates');
  erasures.command('list', { isDefault: true }).description('all erasures, the newest first').action(run(list));
  erasures
    .command('request')
    .description('erase the contents of a thread with all below it, or everything of an end user')
    .option('--thread <id>', 'a thread; its family, if it is a root')
    .option('--user <id>', 'an end user, by the `user_id` of threads')
    .option('--yes', 'do not ask; there is no way back', false)
    .action(run(request));
  erasures.command('get <id>').description('an erasure, with its certificate when it is done').action(run(show));
  erasures
    .command('verify <file>')
    .description('check a certificate, offline: what `get` has printed; exits 5 when it was changed')
    .requiredOption('--keys <file>', 'what `dormouse audit keys` printed, before it or since')
    .action(run(verify));
  erasures
    .command('export <file>')
    .description('every erasure as NDJSON, into a new file: keep it apart from backups')
    .action(run(exportAll));
  erasures
    .command('apply <file>')
    .description('erase again what a restore has brought back, by what `export` wrote')
    .action(run(apply));
}

async function allOf(context: CliContext): Promise<readonly Erasure[]> {
  const { api } = await context.connect();
  return whole((query) => ask(api.GET('/v1/erasures', { params: { query: { limit: 200, ...query } } })));
}

async function list(context: CliContext): Promise<void> {
  answerList(context, await allOf(context), {
    heading: ['ID', 'SCOPE', 'SUBJECT', 'STATE', 'REQUESTED', 'THREADS'],
    row: ({ id, scope, subject, state, requested_at: at, threads }) =>
      [id, scope, subject, state, at, String(threads)].map((cell) => cleanLine(cell, 80)),
    none: 'Nothing was erased.',
  });
}

async function request(context: CliContext, { thread, user, yes }: RequestOptions): Promise<void> {
  if ((thread === undefined) === (user === undefined))
    throw wrongUsage('Say what is erased: either --thread ID or --user ID.');
  const { api } = await context.connect();
  const users = user === undefined ? null : await threadsOf(api, user);
  if (!yes)
    throw wrongUsage(
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

async function verify(context: CliContext, file: string, { keys }: { readonly keys: string }): Promise<number> {
  const complaint = await certificateComplaint(await certificateIn(file), await auditKeysIn(keys));
  const verdict = { ok: complaint === null, reason: complaint };
  answer(context, `The certificate ${complaint ?? 'is as it was signed'}.`, verdict);
  return complaint === null ? exitCodes.done : exitCodes.notInOrder;
}

async function certificateIn(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw wrongUsage(
      `${file} cannot be read as a certificate: ${messageOf(error)}`,
      `Write one with: ${cli} erasures get ID > ${file}`,
    );
  }
}

async function exportAll(context: CliContext, file: string): Promise<void> {
  const found = await allOf(context);
  const lines = found.map((erasure) => `${JSON.stringify(erasure)}\n`);
  await writeFile(file, lines.join(''), { flag: 'wx', flush: true }).catch((error: unknown) => {
    throw hasCode(error, 'EEXIST') ? isThereAlready(file) : error;
  });
  if (context.json) answer(context, '', { file, erasures: found.length });
  else progress(context, `${found.length} erasures are in ${file}.`);
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
    { applied, absent },
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
  throw wrongUsage(`${file} is no list of erasures.`, `Write one with: ${cli} erasures export FILE`);
}
