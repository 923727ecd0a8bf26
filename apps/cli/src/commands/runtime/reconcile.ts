// `dormouse reconcile`: what commits owe and nothing answers, after a lost topic or a restored store; with --pay it is
// paid again.
import { ask, type Schemas } from '@dormouse/client';
import type { Command } from 'commander';
import type { RunCommand } from '../../command.ts';
import { answer, type CliContext, progress, table } from '../../context.ts';
import { durationOf } from '../../given-values.ts';

type Owing = Schemas['ReconcilePage']['data'][number];

interface Flags {
  readonly pay?: boolean;
  readonly olderThan: string;
}

const olderThanStandard = '15m';
const shownMax = 50;

export function addReconcileCommand(program: Command, run: RunCommand): void {
  program
    .command('reconcile')
    .description(
      'what commits owe and nothing answers, after a lost topic or a restored store; without --pay it only looks',
    )
    .option('--pay', 'let the owners of the threads pay it again; again is harmless')
    .option('--older-than <time>', 'leave out what was owed later: it is being paid', olderThanStandard)
    .action(run(reconcile));
}

async function reconcile(context: CliContext, { pay = false, olderThan }: Flags): Promise<void> {
  const ms = durationOf(olderThan, `"${olderThan}" is no span of time.`, 'Say 15m, 2h or 1d.');
  const { api } = await context.connect();
  const owed: Record<string, number> = {};
  const owing: Owing[] = [];
  let threads = 0;
  for (let cursor: string | null = null; ;) {
    const page: Schemas['ReconcilePage'] = await ask(
      api.POST('/v1/reconcile', { body: { pay, older_than_ms: ms, limit: 50, cursor } }),
    );
    threads += page.threads;
    owing.push(...page.data);
    for (const thread of page.data)
      for (const [kind, count] of Object.entries(thread.owed)) owed[kind] = (owed[kind] ?? 0) + count;
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
    progress(context, `${threads} threads, ${owing.length} of them owe`);
  }
  const next =
    pay || owing.length === 0
      ? ''
      : `\nNothing was changed. To pay it: ${context.hint(`reconcile --pay --older-than ${olderThan}`)}`;
  const sum = { threads, owing: owing.length, owed, paid: pay, data: owing };
  answer(context, `${wordsOf(threads, owing, owed, pay)}${next}`, sum);
}

function wordsOf(
  threads: number,
  owing: readonly Owing[],
  owed: Readonly<Record<string, number>>,
  pay: boolean,
): string {
  if (owing.length === 0) return `Nothing: what the commits of ${threads} threads owe is paid, or on its way.`;
  const rows = owing.slice(0, shownMax).map((thread) => [thread.thread_id, debtsOf(thread.owed)]);
  const more = owing.length > shownMax ? `\n… and ${owing.length - shownMax} threads more` : '';
  const done = pay ? 'is being paid again' : 'is owed, and nothing answers it';
  return `${table([['THREAD', 'OWES'], ...rows])}${more}\n\n${debtsOf(owed)}, of ${owing.length} of ${threads} threads, ${done}.`;
}

const debtsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
    .join(', ');
