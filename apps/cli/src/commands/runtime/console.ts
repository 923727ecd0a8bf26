// `dormouse console`: a link that opens the console signed in, and the browser with it.
import { ask } from '@dormouse/client';
import type { Command } from 'commander';
import { answer, type CliContext, progress } from '../../context.ts';
import type { RunCommand } from '../../command.ts';
import { openBrowser } from '../../open-browser.ts';

export function addConsoleCommand(program: Command, run: RunCommand): void {
  program
    .command('console')
    .description('open the console, signed in; prints the link, which works once and for ten minutes')
    .option('--no-open', 'only print it')
    .action(run(openConsole));
}

async function openConsole(context: CliContext, { open }: { readonly open: boolean }): Promise<void> {
  const { api } = await context.connect();
  const link = await ask(api.POST('/v1/session/links'));
  answer(context, link.url, link);
  if (!open || context.json || !context.terminal.interactive) return;
  if (!(await openBrowser(link.url))) progress(context, 'No browser could be opened: open the link yourself.');
}
