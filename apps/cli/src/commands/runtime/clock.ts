// `dormouse clock +3d`: moves the development clock of a standalone runtime, and wakes what is due.
import { ask } from '@dormouse/client';
import type { Command } from 'commander';
import { answer } from '../../context.ts';
import { parseDuration } from '../../duration.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import type { RunCommand } from '../../command.ts';

export function addClockCommand(program: Command, run: RunCommand): void {
  program
    .command('clock [advance]')
    .description('the development clock; with +3d, +2h30m, +90s it is moved forward')
    .action((advance: string = '+0') =>
      run(async (context) => {
        const ms = parseDuration(advance);
        if (ms === null)
          throw new CliFailure(exitCodes.usage, `"${advance}" is no span of time.`, 'Say +3d, +2h30m or +90s.');
        const { api } = await context.connect();
        const reading = await ask(api.POST('/v1/dev/clock', { body: { advance_ms: ms } }));
        answer(context, `It is ${reading.now}`, reading);
      }),
    );
}
