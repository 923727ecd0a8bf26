// `dormouse clock +3d`: moves the development clock of a standalone runtime, and wakes what is due.
import { ask } from '@dormouse/client';
import type { Command } from 'commander';
import { answer, type CliContext } from '../../context.ts';
import { durationOf } from '../../given-values.ts';
import type { RunCommand } from '../../command.ts';

export function addClockCommand(program: Command, run: RunCommand): void {
  program
    .command('clock [advance]')
    .description('the development clock; with +3d, +2h30m, +90s it is moved forward')
    .action(run(advanceClock));
}

async function advanceClock(context: CliContext, advance = '+0'): Promise<void> {
  const ms = durationOf(advance, `"${advance}" is no span of time.`, 'Say +3d, +2h30m or +90s.');
  const { api } = await context.connect();
  const reading = await ask(api.POST('/v1/dev/clock', { body: { advance_ms: ms } }));
  answer(context, `It is ${reading.now}`, reading);
}
