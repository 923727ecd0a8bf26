// `dormouse threads batch`: interrupt or close all threads of a filter. Without --yes it counts them.
import { ask, type Schemas } from '@dormouse/client';
import { answer, type CliContext, progress } from '../../context.ts';
import { wrongUsage } from '../../exit-code.ts';
import { pairOf } from '../../given-values.ts';

interface BatchFlags {
  readonly agent?: string;
  readonly status?: NonNullable<Schemas['ThreadBatchFilter']['status']>;
  readonly user?: string;
  readonly label?: readonly string[];
  readonly updatedAfter?: string;
  readonly all: boolean;
  readonly yes: boolean;
}

type Action = Schemas['ThreadBatch']['action'];

const words: Readonly<Record<Action, string>> = { interrupt: 'interrupted', close: 'closed' };

/** Sends as many requests as it takes. Each has a key of its own: one that the client repeats asks no thread twice. */
export async function batchThreads(context: CliContext, given: string, flags: BatchFlags): Promise<void> {
  if (given !== 'interrupt' && given !== 'close')
    throw wrongUsage(`"${given}" is no action.`, 'The actions are interrupt and close.');
  const filter = filterOf(flags);
  if (Object.values(filter).every((value) => value === undefined) && !flags.all)
    throw wrongUsage(
      'Which threads?',
      'Name them by --agent, --status, --user, --label or --updated-after; --all is for every thread.',
    );
  const { api } = await context.connect();
  let matched = 0;
  let cursor: string | null = null;
  do {
    const body: Schemas['ThreadBatch'] = { action: given, filter, dry_run: !flags.yes, cursor };
    const outcome: Schemas['ThreadBatchOutcome'] = await ask(api.POST('/v1/threads:batch', { body }));
    matched += outcome.matched;
    cursor = outcome.next_cursor;
    if (cursor !== null) progress(context, `${matched} threads so far`);
  } while (cursor !== null);
  const done = flags.yes
    ? `${matched} threads are being ${words[given]}`
    : `${matched} threads would be ${words[given]}; do it with --yes`;
  answer(context, done, { action: given, matched, dry_run: !flags.yes });
}

function filterOf({ agent, status, user, label = [], updatedAfter }: BatchFlags): Schemas['ThreadBatchFilter'] {
  const labels = label.map((each) => pairOf(each, `--label takes KEY=VALUE, not "${each}".`));
  return {
    ...{ agent, status, user_id: user, updated_after: updatedAfter },
    metadata: labels.length === 0 ? undefined : Object.fromEntries(labels),
  };
}
