// `dormouse export`, `import` and `verify`: a thread as one file, and whether its hash chain holds.
//
// The file can be verified for ever, without the runtime; what is in it: libs/client/src/export-file.ts.
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { commitsOf, exportThread, verifyChain, verifyExport } from '@dormouse/client';
import type { Command } from 'commander';
import { cleanJson } from '../clean-text.ts';
import { answer, type CliContext, progress } from '../context.ts';
import { CliFailure, exitCodes } from '../exit-code.ts';
import { importFile, linesOf } from '../import-file.ts';
import type { RunCommand } from '../command.ts';

export function addLogCommands(program: Command, run: RunCommand): void {
  program
    .command('export <thread> [file]')
    .description('a thread with all that it needs as NDJSON, into a new file or to stdout')
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

async function exportLog(context: CliContext, thread: string, file: string | undefined): Promise<void> {
  const lines = exportThread(await context.connect(), thread);
  if (file === undefined) {
    for await (const line of lines) context.terminal.out(cleanJson(line));
    return;
  }
  const first = await lines.next(); // an unknown thread leaves no empty file behind
  const handle = await open(file, 'wx').catch((error: unknown) => {
    throw new CliFailure(
      exitCodes.failed,
      `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      'An existing file is never overwritten.',
    );
  });
  let [commits, blobs, threads] = [0, 0, 0];
  try {
    for (let next = first; next.done !== true; next = await lines.next()) {
      await handle.write(`${JSON.stringify(next.value)}\n`);
      if ('end' in next.value) ({ commits, blobs, threads } = next.value);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (context.json) answer(context, '', { file, commits, blobs, threads });
  else progress(context, `${commits} commits and ${blobs} payloads written to ${file}`);
}

async function importLog(context: CliContext, file: string): Promise<void> {
  if (!existsSync(file)) throw new CliFailure(exitCodes.failed, `${file} is not there.`);
  const imported = await importFile(await context.connect(), file, (words) => progress(context, words));
  const { thread, position } = imported;
  answer(
    context,
    `imported as ${thread}, closed; to go on with it: dormouse threads fork ${thread} ${position}`,
    imported,
  );
}

async function verify(context: CliContext, target: string): Promise<number> {
  return existsSync(target) ? verifyFile(context, target) : verifyThread(context, target);
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
