// `dormouse threads batch`: interrupt or close all threads of a filter. Without --yes it counts them.
import { ask, type Schemas } from '@dormouse/client';
import { answer, type CliContext, progress } from '../../context.ts';
import { CliFailure, exitCodes } from '../../exit-code.ts';

export interface BatchFlags {
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
    throw new CliFailure(exitCodes.usage, `"${given}" is no action.`, 'The actions are interrupt and close.');
  const filter = filterOf(flags);
  if (Object.keys(filter).length === 0 && !flags.all)
    throw new CliFailure(
      exitCodes.usage,
      'Which threads?',
      'Name them by --agent, --status, --user, --label or --updated-after; --all is for every thread.',
    );
  const { api } = await context.connect();
  let matched = 0;
  let cursor: string | null = null;
  do {
    const outcome: Schemas['ThreadBatchOutcome'] = await ask(
      api.POST('/v1/threads:batch', {
        body: { action: given, filter, dry_run: !flags.yes, cursor },
      }),
    );
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
  const labels = label.map((each): readonly [string, string] => {
    const at = each.indexOf('=');
    if (at > 0) return [each.slice(0, at), each.slice(at + 1)];
    throw new CliFailure(exitCodes.usage, `--label takes KEY=VALUE, not "${each}".`);
  });
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(status === undefined ? {} : { status }),
    ...(user === undefined ? {} : { user_id: user }),
    ...(updatedAfter === undefined ? {} : { updated_after: updatedAfter }),
    ...(labels.length === 0 ? {} : { metadata: Object.fromEntries(labels) }),
  };
}
