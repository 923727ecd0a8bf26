// `dormouse export`, `import` and `verify`: a thread's log as it is stored, and whether its hash chain holds.
//
// An export is NDJSON, one commit per line, exactly the fields the chain is computed over: it can be verified for ever,
// without the runtime.
import { createReadStream, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { ask, type Client, type Commit, everyItem, verifyChain } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanJson } from '../clean-text.ts';
import { answer, type CliContext, progress } from '../context.ts';
import { CliFailure, exitCodes } from '../exit-code.ts';
import type { RunCommand } from '../command.ts';

export function addLogCommands(program: Command, run: RunCommand): void {
  program
    .command('export <thread> [file]')
    .description("a thread's commits as NDJSON, into a new file or to stdout")
    .action((thread: string, file: string | undefined) => run((context) => exportLog(context, thread, file)));
  program
    .command('import <file>')
    .description('an exported thread as a closed thread of this runtime, to be read and forked; again changes nothing')
    .action((file: string) => run((context) => importLog(context, file)));
  program
    .command('verify <thread-or-file>')
    .description("check a thread's hash chain, from the runtime or from an export; offline for a file")
    .action((target: string) => run((context) => verify(context, target)));
}

const commitsOf = (client: Client, thread: string): AsyncGenerator<Commit, void, undefined> =>
  everyItem((cursor) =>
    ask(
      client.api.GET('/v1/threads/{thread}/commits', {
        params: { path: { thread }, query: { ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );

async function exportLog(context: CliContext, thread: string, file: string | undefined): Promise<void> {
  const commits = commitsOf(await context.connect(), thread);
  if (file === undefined) {
    for await (const commit of commits) context.terminal.out(cleanJson(commit));
    return;
  }
  const first = await commits.next(); // an unknown thread leaves no empty file behind
  const handle = await open(file, 'wx').catch((error: unknown) => {
    throw new CliFailure(
      exitCodes.failed,
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      'An existing file is never overwritten.',
    );
  });
  let count = 0;
  try {
    for (let next = first; next.done !== true; next = await commits.next()) {
      await handle.write(`${JSON.stringify(next.value)}\n`);
      count += 1;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (context.json) answer(context, '', { file, commits: count });
  else progress(context, `${count} commits written to ${file}`);
}

const importPartCharactersMax = 2_000_000;
const importPartCommitsMax = 500;

/** The whole file is verified before anything is sent; parts follow each other, and may be sent again. */
async function importLog(context: CliContext, file: string): Promise<void> {
  if (!existsSync(file)) throw new CliFailure(exitCodes.failed, `${file} is not there.`);
  const verdict = await verifyChain(commitsIn(file));
  if (!verdict.ok || verdict.commits === 0)
    throw new CliFailure(
      exitCodes.notInOrder,
      verdict.ok
        ? `${file} holds no commits.`
        : `${file} is broken at commit ${verdict.index} (version ${verdict.version}): it ${verdict.reason}.`,
      'Nothing was imported.',
    );
  const client = await context.connect();
  let of: string | null = null;
  let sent = 0;
  let imported: { readonly thread: string; readonly position: number } | null = null;
  for await (const commits of partsOf(commitsIn(file))) {
    of ??= commits[0]?.hash ?? '';
    sent += commits.length;
    const last = sent === verdict.commits;
    imported = await ask(client.api.POST('/v1/imports', { body: { of, commits, last } }));
    progress(context, `${sent} of ${verdict.commits} commits`);
  }
  const { thread = '', position = 0 } = imported ?? {};
  answer(
    context,
    `imported as ${thread}, closed; to go on with it: dormouse threads fork ${thread} ${position}`,
    imported,
  );
}

async function* partsOf(commits: AsyncIterable<Commit>): AsyncGenerator<Commit[], void, undefined> {
  let part: Commit[] = [];
  let characters = 0;
  for await (const commit of commits) {
    if (
      part.length === importPartCommitsMax ||
      (part.length > 0 && characters + commit.body.length > importPartCharactersMax)
    ) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(commit);
    characters += commit.body.length;
  }
  if (part.length > 0) yield part;
}

async function verify(context: CliContext, target: string): Promise<number> {
  const commits = existsSync(target) ? commitsIn(target) : commitsOf(await context.connect(), target);
  const verdict = await verifyChain(commits);
  if (verdict.ok && verdict.commits === 0) throw new CliFailure(exitCodes.notInOrder, `${target} holds no commits.`);
  if (verdict.ok) {
    answer(
      context,
      `The chain holds: ${verdict.commits} commits, ${verdict.events} events, head ${verdict.head}`,
      verdict,
    );
    return exitCodes.done;
  }
  answer(
    context,
    `The chain is broken at commit ${verdict.index} (version ${verdict.version}): it ${verdict.reason}.`,
    verdict,
  );
  return exitCodes.notInOrder;
}

async function* commitsIn(file: string): AsyncGenerator<Commit, void, undefined> {
  let number = 0;
  for await (const line of createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number += 1;
    if (line.trim() !== '') yield parseCommit(line, `${file}, line ${number}`);
  }
}

function parseCommit(line: string, where: string): Commit {
  try {
    const value: unknown = JSON.parse(line);
    if (isCommit(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new CliFailure(
    exitCodes.notInOrder,
    `${where} is not a commit.`,
    'Such a file is written by: dormouse export THREAD FILE',
  );
}

/** Enough to compute with; everything else is what the chain is for. */
function isCommit(value: unknown): value is Commit {
  return (
    typeof value === 'object' &&
    value !== null &&
    'hash' in value &&
    'body' in value &&
    typeof value.body === 'string' &&
    'inputs' in value &&
    Array.isArray(value.inputs) &&
    'version' in value
  );
}
