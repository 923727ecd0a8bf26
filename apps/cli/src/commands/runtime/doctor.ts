// `dormouse doctor`: looks at an installation from outside and says what to do.
import type { Command } from 'commander';
import { cleanJson, cleanText } from '../../clean-text.ts';
import type { RunCommand } from '../../command.ts';
import { connectionOf } from '../../connection.ts';
import type { CliContext } from '../../context.ts';
import { examine } from '../../doctor/checks.ts';
import { exitCodeOf, wordsOf } from '../../doctor/finding.ts';

interface Flags {
  readonly operations: readonly string[];
  readonly callbacks?: string;
}

const helpText = `
Exit codes of this command: 0 all is in order · 1 a warning · 2 a failure.
The servers of a cluster are looked at from inside, where the settings are: npm run doctor`;

export function addDoctorCommand(program: Command, run: RunCommand): void {
  const collect = (url: string, urls: readonly string[]): readonly string[] => [...urls, url];
  program
    .command('doctor')
    .description('check an installation from outside, and say what to do')
    .option('--operations <url>', 'operations port of a process; again for each of them', collect, [])
    .option('--callbacks <url>', 'address that tool servers call (standard: the one of a runtime on this machine)')
    .addHelpText('after', helpText)
    .action(run(doctor));
}

async function doctor(context: CliContext, { operations, callbacks }: Flags): Promise<number> {
  const { url, key } = await connectionOf(context.flags);
  const isHere = /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/.test(url);
  const findings = await examine({
    ...{ url: bare(url), key, operations: operations.map(bare), hint: context.hint },
    callbacks: callbacks === undefined ? (isHere && operations.length === 0 ? bare(url) : null) : bare(callbacks),
  });
  const { terminal, json } = context;
  for (const finding of findings) terminal.out(json ? cleanJson(finding) : cleanText(wordsOf(finding)));
  return exitCodeOf(findings);
}

const bare = (url: string): string => url.replace(/\/+$/, '');
