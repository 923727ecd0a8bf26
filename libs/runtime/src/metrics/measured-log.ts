// Times the appends of the processor, and counts conflicts and inputs that were decided before, at the port of the log.
//
// Invariant:
//   L1. The processor looks an input up only to learn whether it was decided before: what it finds is a duplicate.
import type { duplicateKinds, Metrics, ThreadLog } from '@dormouse/ports';
import type { Measuring } from './measuring.ts';

export function measuredLog(log: ThreadLog, { metrics, now }: Measuring): ThreadLog {
  const times = metrics.histogram('dormouse_append_duration_seconds');
  const conflicts = metrics.counter('dormouse_append_conflicts_total');
  return {
    ...log,
    append: async (group) => {
      const from = now();
      const answers = await log.append(group);
      times.record((now() - from) / 1_000);
      const lost = answers.filter((answer) => answer === 'conflict').length;
      if (lost > 0) conflicts.add(lost);
      return answers;
    },
    findByInputs: async (key, inputs) => {
      const commits = await log.findByInputs(key, inputs);
      for (const [place, input] of inputs.entries()) if (commits[place]) countDuplicate(metrics, input); // (L1)
      return commits;
    },
  };
}

export function countDuplicate(metrics: Metrics, inputId: string): void {
  const kind = kinds[inputId.slice(0, inputId.indexOf(':'))] ?? 'ClientInput';
  metrics.counter('dormouse_duplicates_total', kind).add(1);
}

/** By what stands before the colon, see `inputIds`. */
const kinds: Readonly<Record<string, (typeof duplicateKinds)[number]>> = {
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
