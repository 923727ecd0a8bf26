// `dormouse export` and `dormouse verify`: a thread's log as it is stored, and whether its hash chain holds.
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

async function verify(context: CliContext, target: string): Promise<number> {
  const commits = existsSync(target) ? commitsIn(target) : commitsOf(await context.connect(), target);
  const verdict = await verifyChain(commits);
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
