// Adds the attempts of calls to the steps of a turn, how long each call has waited, and how many of its callbacks had
// no effect. Pure: the attempts come from the dispatcher's ledger, which keeps them as long as the log, as the
// gateway's counts are.
//
// Invariants:
//   A1. A call has waited while none of its attempts was under way: for a person before it was sent, then for its tool.
//   A2. Steps are in the order of their times; those of one moment in the order of the log, attempts after their call.
//   A3. The gateway counts every refusal, the log has those that reached it in time: the larger number is shown. A
//       repeated question is counted by the log, any other repetition by the gateway.
import type { Attempt, CallbackCount, ThreadKey } from '@dormouse/ports';
import { spanIdOf } from '../../../tracing/span-ids.ts';
import type { Step, Turn } from './turn.ts';

export function withAttempts(
  key: ThreadKey,
  turn: Turn,
  attempts: ReadonlyMap<string, readonly Attempt[]>,
  counts: readonly CallbackCount[] = [],
): Turn {
  const counted = new Map(counts.map((count) => [count.toolCallId, count]));
  const steps = turn.steps.flatMap((step) => {
    if (step.kind !== 'call') return [step];
    const made = (attempts.get(step.id) ?? []).toSorted((a, b) => a.number - b.number);
    const shown = withCounts(waited(step, made), counted.get(step.id));
    return [shown, ...made.map((attempt) => attemptStep(key, step, attempt))];
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

/** (A3) */
function withCounts(call: Step, count: CallbackCount | undefined): Step {
  if (count === undefined) return call;
  const { duplicates = 0, refused = 0 } = call;
  return { ...call, duplicates: duplicates + count.duplicates, refused: Math.max(refused, count.refused) };
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
