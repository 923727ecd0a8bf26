// `dormouse keys new-master`, `dormouse keys rotate-master`: another master key, and sealing again with it.
//
// Invariants:
//   M1. A key is printed, or is in the file of a data directory, and nowhere else.
//   M2. The file is replaced as a whole, and is on disk before the command ends; its first key stays in it.
import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';
import { durationOf } from '../../given-values.ts';

interface NewOptions {
  readonly in: string;
  readonly into?: string;
}

export function addMasterKeyCommands(keys: Command, run: RunCommand): void {
  keys
    .command('new-master')
    .description('another master key, with the time from which it is used; printed, or added to a data directory')
    .option('--in <time>', 'when it comes into use: all processes must have it by then', '1h')
    .option('--into <directory>', 'of a standalone: the key goes into its file and is not printed')
    .action(run(newMaster));
  keys
    .command('rotate-master')
    .description('seal all stored secrets again with the master key in use; again is harmless')
    .action(run(rotateMaster));
}

async function newMaster(context: CliContext, { in: span, into }: NewOptions): Promise<void> {
  const ms = durationOf(span, `"${span}" is no span of time.`, 'Say 10m, 1h or 1d.');
  const since = new Date(Math.ceil((Date.now() + ms) / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
  const key = `${randomBytes(32).toString('hex')}@${since}`;
  if (into === undefined) {
    progress(
      context,
      'Put it before the keys of before, with a comma between them, in DORMOUSE_MASTER_KEY of all processes.',
    );
    return answer(context, key, { key, since });
  }
  await addToFile(join(into, 'master-key'), key);
  answer(context, `${into} has another master key, in use from ${since}. Restart the process before.`, { since });
}

/** (M2) */
async function addToFile(path: string, key: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw wrongUsage(`${path} cannot be read (${code}).`, 'Name the data directory of a standalone.');
  });
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await file.writeFile(`${key}\n${before.trim()}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

async function rotateMaster(context: CliContext): Promise<void> {
  const { api } = await context.connect();
  let resealed = 0;
  for (;;) {
    const report: Schemas['Resealing'] = await ask(api.POST('/v1/master-key/reseal'));
    resealed += report.resealed;
    const isStuck = !report.done && report.resealed === 0 && report.unreadable.length > 0;
    if (report.done || isStuck) return show(context, { ...report, resealed });
    progress(context, `${resealed} secrets are sealed again`);
  }
}

function show(context: CliContext, report: Schemas['Resealing']): void {
  const { kid, resealed, unreadable, next_at: nextAt } = report;
  const lost = unreadable.map(({ tenant, name }) => `\n  ${tenant}: ${name}`).join('');
  const words = [
    `All secrets are sealed with the master key ${kid}; ${resealed} were sealed again.`,
    ...(nextAt === null ? [] : [`The next key comes into use at ${nextAt}: run this again then.`]),
  ];
  if (unreadable.length > 0)
    throw new CliFailure(
      exitCodes.notInOrder,
      `${unreadable.length} secrets are opened by no master key that is set:${lost}`,
      'Set the key that has sealed them too, or set these secrets again.',
    );
  answer(context, words.join('\n'), report);
}
