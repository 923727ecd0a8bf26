// Adds the attempts of calls to the steps of a turn, and how long each call has waited. Pure: the attempts come from
// the dispatcher's ledger, which keeps them as long as the log.
//
// Invariants:
//   A1. A call has waited while none of its attempts was under way: for a person before it was sent, then for its tool.
//   A2. Steps are in the order of their times; those of one moment in the order of the log, attempts after their call.
import type { Attempt, ThreadKey } from '@dormouse/ports';
import { spanIdOf } from '../../../tracing/span-ids.ts';
import type { Step, Turn } from './turn.ts';

export function withAttempts(key: ThreadKey, turn: Turn, attempts: ReadonlyMap<string, readonly Attempt[]>): Turn {
  const steps = turn.steps.flatMap((step) => {
    if (step.kind !== 'call') return [step];
    const made = (attempts.get(step.id) ?? []).toSorted((a, b) => a.number - b.number);
    return [waited(step, made), ...made.map((attempt) => attemptStep(key, step, attempt))];
  });
  return { ...turn, steps: steps.toSorted((a, b) => a.startedAt - b.startedAt) }; // (A2)
}

export const callsOf = ({ steps }: Turn): readonly string[] =>
  steps.flatMap(({ kind, id }) => (kind === 'call' ? [id] : []));

function attemptStep(key: ThreadKey, { id: call, traceId }: Step, { number, at, status, durationMs }: Attempt): Step {
  return {
    ...{ kind: 'attempt', id: `${call}.${number}`, parentId: call },
    ...{ startedAt: at, endedAt: at + durationMs, outcome: String(status) },
    ...(traceId === undefined ? {} : { traceId, spanId: spanIdOf('POST', key, `${call} ${number - 1}`) }),
  };
}

/** (A1) */
function waited(call: Step, attempts: readonly Attempt[]): Step {
  const { startedAt, endedAt } = call;
  if (endedAt === null) return call;
  let worked = 0;
  let until = startedAt;
  for (const { at, durationMs } of attempts.toSorted((a, b) => a.at - b.at)) {
    const end = Math.min(endedAt, at + durationMs);
    worked += Math.max(0, end - Math.max(until, at));
    until = Math.max(until, end);
  }
  return { ...call, waitedMs: endedAt - startedAt - worked };
}
