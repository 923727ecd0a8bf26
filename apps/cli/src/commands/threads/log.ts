// `dormouse export`, `import` and `verify`: a thread as one file, and whether its hash chain holds.
//
// The file can be verified for ever, without the runtime; what is in it: libs/client/src/export-file.ts.
import { existsSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import {
  ask,
  commitsOf,
  type EndLine,
  everyItem,
  type ExportLine,
  exportThread,
  verifyChain,
  verifyExport,
} from '@dormouse/client';
import type { Command } from 'commander';
import { cleanJson } from '../../clean-text.ts';
import { answer, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { linesOf } from '../../file-lines.ts';
import { isThereAlready, messageOf } from '../../thrown.ts';
import { importFile } from './import-file.ts';
import type { RunCommand } from '../../command.ts';

export function addLogCommands(program: Command, run: RunCommand): void {
  program
    .command('export <thread> [file]')
    .description('a thread with all that it needs as NDJSON, into a new file or to stdout')
    .action(run(exportLog));
  program
    .command('import <file>')
    .description('an exported thread as a closed thread of this runtime, to be read and forked; again changes nothing')
    .action(run(importLog));
  program
    .command('verify [thread-or-file]')
    .description("check a thread's hash chain, from the runtime or from an export; offline for a file")
    .option('--all', 'every thread that the runtime has')
    .action(run(verify));
}

async function exportLog(context: CliContext, thread: string, file: string | undefined): Promise<void> {
  const lines = exportThread(await context.connect(), thread);
  const first = await lines.next(); // an unknown thread leaves no empty file behind
  if (first.done === true || 'end' in first.value)
    throw new CliFailure(exitCodes.notInOrder, `${thread} holds no commits yet.`, 'Try again in a moment.');
  const end =
    file === undefined
      ? await writeLines(first.value, lines, (line) => Promise.resolve(context.terminal.out(cleanJson(line))))
      : await writeFile(file, first.value, lines);
  if (file === undefined || end === null) return;
  const { commits, blobs, threads } = end;
  if (context.json) answer(context, '', { file, commits, blobs, threads });
  else progress(context, `${commits} commits and ${blobs} payloads written to ${file}`);
}

type Lines = AsyncGenerator<ExportLine, void, undefined>;

async function writeLines(
  first: ExportLine,
  rest: Lines,
  write: (line: ExportLine) => Promise<void>,
): Promise<EndLine | null> {
  await write(first);
  let last: ExportLine = first;
  for await (last of rest) await write(last);
  return 'end' in last ? last : null;
}

/** All of it or nothing: a partial file would only be an obstacle. */
async function writeFile(file: string, first: ExportLine, rest: Lines): Promise<EndLine | null> {
  const handle = await open(file, 'wx').catch((error: unknown) => {
    throw existsSync(file)
      ? isThereAlready(file)
      : new CliFailure(exitCodes.failed, `${file} cannot be written: ${messageOf(error)}`);
  });
  try {
    const end = await writeLines(first, rest, (line) =>
      handle.appendFile(`${JSON.stringify(line)}\n`).catch((error: unknown) => {
        throw new CliFailure(
          exitCodes.failed,
          `${file} could not be written: ${messageOf(error)}`,
          'Nothing of it was left behind.',
        );
      }),
    );
    await handle.sync();
    return end;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function importLog(context: CliContext, file: string): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new CliFailure(exitCodes.failed, `${file} is not there.`);
  if (!found.isFile())
    throw new CliFailure(
      exitCodes.failed,
      `${file} is no file.`,
      'A file is read twice before anything is stored: save what comes out of a pipe first.',
    );
  const imported = await importFile(await context.connect(), file, (words) => progress(context, words));
  const { thread, position } = imported;
  answer(
    context,
    `imported as ${thread}, closed; to go on with it: ${context.hint(`threads fork ${thread} ${position}`)}`,
    imported,
  );
}

async function verify(
  context: CliContext,
  target: string | undefined,
  { all = false }: { readonly all?: boolean },
): Promise<number> {
  if ((target !== undefined) === all)
    throw wrongUsage('Name one thread or file, or pass --all.', `See: ${context.hint('verify --help')}`);
  if (target === undefined) return verifyAll(context);
  if (existsSync(target)) return verifyFile(context, target);
  if (!target.startsWith('thr_'))
    throw new CliFailure(exitCodes.failed, `There is no file ${target}.`, 'A thread is named by its id, thr_…');
  return verifyThread(context, target);
}

async function verifyThread(context: CliContext, thread: string): Promise<number> {
  const verdict = await verifyChain(commitsOf(await context.connect(), thread));
  if (verdict.ok && verdict.commits === 0) throw new CliFailure(exitCodes.notInOrder, `${thread} holds no commits.`);
  if (!verdict.ok) {
    const { index, version, reason } = verdict;
    answer(context, `The chain is broken at commit ${index} (version ${version}): it ${reason}.`, verdict);
    return exitCodes.notInOrder;
  }
  const { commits, events, head } = verdict;
  answer(context, `The chain holds: ${commits} commits, ${events} events, head ${head}`, verdict);
  return exitCodes.done;
}

/** Threads that are opened meanwhile may be left out; a thread without commits has nothing to verify yet. */
async function verifyAll(context: CliContext): Promise<number> {
  const client = await context.connect();
  const { api } = client;
  const sums = { ok: true, threads: 0, commits: 0, events: 0, broken: [] as string[] };
  const page = (cursor: string | undefined) =>
    ask(api.GET('/v1/threads', { params: { query: { cursor, limit: 200 } } }));
  for await (const { id } of everyItem(page)) {
    const verdict = await verifyChain(commitsOf(client, id));
    sums.threads += 1;
    if (verdict.ok) {
      sums.commits += verdict.commits;
      sums.events += verdict.events;
    } else {
      const { index, version, reason } = verdict;
      sums.broken.push(id);
      progress(context, `${id}: the chain is broken at commit ${index} (version ${version}): it ${reason}.`);
    }
    if (sums.threads % verifiedPerLine === 0) progress(context, `${sums.threads} threads`);
  }
  const { threads, commits, events, broken } = sums;
  if (broken.length === 0) {
    answer(context, `The chains of all ${threads} threads hold: ${commits} commits, ${events} events`, sums);
    return exitCodes.done;
  }
  answer(context, `${broken.length} of ${threads} chains are broken: ${broken.join(' ')}`, { ...sums, ok: false });
  return exitCodes.notInOrder;
}

const verifiedPerLine = 1_000;

async function verifyFile(context: CliContext, file: string): Promise<number> {
  const verdict = await verifyExport(linesOf(file));
  if (!verdict.ok) {
    answer(context, `The file is broken at line ${verdict.line}: it ${verdict.reason}.`, verdict);
    return exitCodes.notInOrder;
  }
  const { threads, commits, events, blobs, head } = verdict;
  const sums = `${commits} commits, ${events} events`;
  const more = blobs === 0 && threads.length === 1 ? '' : `, ${threads.length} threads, ${blobs} payloads`;
  answer(context, `The chain holds: ${sums}${more}, head ${head}`, verdict);
  return exitCodes.done;
}
