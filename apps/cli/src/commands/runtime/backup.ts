// `dormouse backup DIR`: a running standalone copies itself into a directory, which another one can be started from.
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Client, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, sayOnce } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';

type Backup = Schemas['Backup'];

const pollMsFirst = 50;
const pollMsMax = 1_000;

export function addBackupCommand(program: Command, run: RunCommand): void {
  program
    .command('backup <directory>')
    .description('copy a running standalone, keys and example tools too, into a new or empty directory of its machine')
    .action(run(backUp));
}

async function backUp(context: CliContext, given: string): Promise<void> {
  const directory = resolve(given);
  const client = await context.connect();
  const begun = await ask(client.api.POST('/v1/backup', { body: { directory } }));
  const ended = await untilEnded(context, client, begun);
  if (ended.state === 'failed' || ended.directory !== directory)
    throw new CliFailure(
      exitCodes.failed,
      `The backup failed: ${ended.reason ?? 'another one has begun since'}.`,
      `Nothing was left at ${directory}. Once the reason is gone: ${context.hint(`backup ${directory}`)}`,
    );
  for (const name of ended.left_out)
    progress(context, `left out: ${name}, a directory that is not part of a data directory`);
  answer(
    context,
    `${directory} is whole: ${sizeOf(ended.bytes_total)}, as of ${ended.began_at}. It starts with: npm start -- --data ${directory}`,
    ended,
  );
}

async function untilEnded(context: CliContext, { api }: Client, begun: Backup): Promise<Backup> {
  const say = sayOnce((words) => progress(context, words));
  for (let backup = begun, pauseMs = pollMsFirst; ; pauseMs = Math.min(pauseMs * 2, pollMsMax)) {
    if (backup.state !== 'copying') return backup;
    const { bytes_done: done, bytes_total: total } = backup;
    if (pauseMs === pollMsMax) say(`${Math.floor((done / Math.max(1, total)) * 100)} % of ${sizeOf(total)}`);
    await sleep(pauseMs);
    backup = await ask(api.GET('/v1/backup'));
  }
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

function sizeOf(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1_024 && unit < units.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`;
}
