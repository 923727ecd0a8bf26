// Times the appends of the processor, and counts conflicts and inputs that were decided before, at the port of the log.
//
// Invariant:
//   L1. The processor looks an input up only to learn whether it was decided before: what it finds is a duplicate.
import type { AppendAnswer, duplicateKinds, Metrics, ThreadLog } from '@dormouse/ports';
import type { Measuring } from './measuring.ts';

export function measuredLog(log: ThreadLog, { metrics, now }: Measuring): ThreadLog {
  const times = metrics.histogram('dormouse_append_duration_seconds');
  const conflicts = metrics.counter('dormouse_append_conflicts_total');
  return {
    append: async (group) => {
      const from = now();
      const answers = await log.append(group);
      times.record((now() - from) / 1_000);
      const lost = answers.filter(isConflict).length;
      if (lost > 0) conflicts.add(lost);
      return answers;
    },
    read: (key, from, limit) => log.read(key, from, limit),
    at: (key, position) => log.at(key, position),
    head: (key) => log.head(key),
    findByInputs: async (key, inputs) => {
      const commits = await log.findByInputs(key, inputs);
      for (const [place, input] of inputs.entries()) if (commits[place]) countDuplicate(metrics, input); // (L1)
      return commits;
    },
  };
}

const isConflict = (answer: AppendAnswer): boolean => answer === 'conflict';

export function countDuplicate(metrics: Metrics, inputId: string): void {
  metrics.counter('dormouse_duplicates_total', kindOfId(inputId)).add(1);
}

type DuplicateKind = (typeof duplicateKinds)[number];

/** By what stands before the colon, see `inputIds`. */
const kinds: Readonly<Record<string, DuplicateKind>> = {
  open: 'ThreadOpening',
  ts: 'ToolsetsResult',
  mg: 'MigrationResult',
  m: 'CompletionResult',
  r: 'ToolResult',
  rs: 'ToolResult',
  e: 'SubscriptionEvent',
  o: 'LoginPrompt',
  q: 'ChoicePrompt',
  qf: 'ChoiceAnswerFailure',
  d: 'DispatchFailure',
  x: 'CallbackRejection',
  k: 'ChildReport',
  p: 'ParentMessage',
  t: 'TimerFiring',
};

const kindOfId = (inputId: string): DuplicateKind => kinds[inputId.slice(0, inputId.indexOf(':'))] ?? 'ClientInput';
