// `dormouse audit`: who did what; list, export, and the check of an export, offline.
import { ask, everyItem, type Schemas, verifyAudit } from '@dormouse/client';
import { type Command, Option } from 'commander';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { cleanLine } from '../../clean-text.ts';
import { auditKeysIn } from '../../audit-key-file.ts';
import type { RunCommand } from '../../command.ts';
import { answer, answerList, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { linesIn, linesOf } from '../../file-lines.ts';
import { hasCode, isThereAlready } from '../../thrown.ts';

interface ListOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly from?: string;
  readonly to?: string;
  readonly order: 'asc' | 'desc';
  readonly limit: string;
}

export function addAuditCommands(program: Command, run: RunCommand): void {
  const audit = program.command('audit').description('who did what, in rows that cannot be changed unseen');
  audit
    .command('list', { isDefault: true })
    .description('the rows, newest first')
    .option('--actor <actor>', "a key's id, user:ID, or platform")
    .option('--action <action>', 'such as key.created')
    .option('--from <time>', 'inclusive; RFC 3339, such as 2026-01-01T00:00:00.000Z')
    .option('--to <time>', 'exclusive')
    .addOption(new Option('--order <order>', 'by number').choices(['asc', 'desc']).default('desc'))
    .option('--limit <n>', 'rows at most', '50')
    .action(run(list));
  audit
    .command('export [file]')
    .description('every row and a signed root as NDJSON, into a new file or to stdout')
    .action(run(exportRows));
  audit.command('keys').description('the public keys that sign exports, as a JSON Web Key Set').action(run(keys));
  audit
    .command('verify <file>')
    .description('check an export, offline: its chain, and with --keys its signature; exits 5 when it is broken')
    .option('--keys <file>', 'what `dormouse audit keys` printed, kept apart from the export')
    .action(run(verify));
}

async function list(context: CliContext, { limit, ...query }: ListOptions): Promise<void> {
  const { api } = await context.connect();
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1) throw wrongUsage('--limit must be a whole number.');
  const found: Schemas['AuditRow'][] = [];
  for await (const row of everyItem((cursor) =>
    ask(api.GET('/v1/audit', { params: { query: { ...query, limit: Math.min(most, 200), cursor } } })),
  )) {
    found.push(row);
    if (found.length === most) break;
  }
  answerList(context, found, {
    heading: ['SEQ', 'AT', 'ACTOR', 'ACTION', 'TARGET', 'FROM', 'OUTCOME'],
    row: ({ seq, at, actor, action, target, from, outcome }) =>
      [String(seq), at, actor, action, target ?? '', from ?? '', outcome].map((cell) => cleanLine(cell, 60)),
    none: 'No row of the audit matches.',
  });
}

/** All of it or nothing: an export without its root verifies as broken. */
async function exportRows(context: CliContext, file: string | undefined): Promise<void> {
  const { api } = await context.connect();
  const body = await ask(api.GET('/v1/audit/export', { parseAs: 'stream' }));
  const bytes = Readable.fromWeb(body as never);
  if (file === undefined) {
    for await (const line of linesIn(bytes.setEncoding('utf8'))) context.terminal.out(line);
    return;
  }
  try {
    await pipeline(bytes, createWriteStream(file, { flags: 'wx', flush: true }));
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw isThereAlready(file);
    await rm(file, { force: true });
    throw new CliFailure(exitCodes.failed, `${file} could not be written whole: ${String(error)}`, 'Try again.');
  }
  if (context.json) answer(context, '', { file });
  else progress(context, `Written to ${file}. Check it with: ${context.hint(`audit verify ${file}`)}`);
}

async function keys(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  const found = await ask(api.GET('/v1/audit/keys'));
  context.terminal.out(JSON.stringify(found));
}

async function verify(context: CliContext, file: string, flags: { readonly keys?: string }): Promise<number> {
  const verdict = await verifyAudit(linesOf(file), flags.keys === undefined ? null : await auditKeysIn(flags.keys));
  if (!verdict.ok) {
    answer(context, `The audit is broken at line ${verdict.line}: it ${verdict.reason}.`, verdict);
    return exitCodes.notInOrder;
  }
  const signature =
    verdict.signature === 'checked'
      ? 'and its signature is valid'
      : `but its signature was not checked: pass --keys with what ${context.hint('audit keys')} prints`;
  const removed = verdict.removed === 0 ? '' : `, behind ${verdict.removed} that were removed`;
  answer(context, `The chain of ${verdict.rows} rows${removed} holds, head ${verdict.head}, ${signature}.`, verdict);
  return exitCodes.done;
}
