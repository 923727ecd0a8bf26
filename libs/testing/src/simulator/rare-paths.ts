// How often the rare paths were taken. A run in which one of them is zero proves nothing about it, and reports that.
import { type ProcessorProtocol, soundProtocol } from '@dormouse/runtime';

export type Counters = Map<string, number>;

/** What may happen to a thread, in either topology. */
const outcomes: readonly string[] = [
  'CompletionRecorded, interrupted',
  'CompletionFailed',
  'MessageQueued',
  'MessageRefused',
  'RequestRefused',
  'TurnInterrupted',
  'BudgetExceeded',
  'ThreadClosed',
  'ToolCallDetached',
  'ToolCallLateResult',
  'SubscriptionOpened',
  'SubscriptionEventHeld',
  'SubscriptionEventReceived',
  'SubscriptionClosed',
  'ChildSpawned',
  'ChildReported',
  'ParentMessageReceived',
  'OauthRequested',
  'TimerCancelled',
  'TitleSet',
  'choice settled',
  'choice answered',
  'refused for good: SubscriptionEvent',
  'ToolsetRejected',
  'CallbackRejected',
  'settled: result',
  'settled: error',
  'settled: interrupted',
  'settled: timed_out',
  'settled: denied',
  'settled: outcome_unknown',
  'approval: allow',
  'approval: deny',
  'approval: allow_for_thread',
  'approval: withdrawn',
  'ApprovalCounted',
  'refused for good: ToolResult',
  'refused for good: TimerFiring',
  'refused for good: DispatchFailure',
  'second, different result',
  'tool never answers',
  'tool ran a call twice',
  'callback 401',
  'callback 403',
  'callback 422',
  'agent paused',
  'tool server paused',
  'held by agent',
  'held by tool_server',
];

/** Paths that a sound run over many seeds must have taken, per topology. */
export const rarePaths: Readonly<Record<'durable' | 'standalone', readonly string[]>> = {
  durable: [
    'crash',
    'ordered restart',
    'clock jump',
    'death just after an append',
    'pause',
    'unknown outcome',
    'write applied late',
    'published twice',
    'zombie',
    'rebalance',
    'partition moved',
    'generations counted anew',
    'late answer',
    'record answered by no broker',
    'outage',
    'zombie offset refused',
    'version conflict',
    'duplicate found by the index',
    'commit of several inputs',
    'unknown append was ours',
    'unknown append was not there',
    'foreign commits learned and paid',
    'redelivery paid',
    'redelivery found paid',
    'refusal confirmed',
    'refusal from a stale state',
    'refusal had been decided',
    'effect no longer owed',
    'claim lost',
    'snapshots wiped',
    'dedup wiped',
    'timer fired',
    'client retried',
    'log thread_parked',
    'input put aside',
    'thread replayed',
    'log thread_resumed',
    'slot waited for',
    ...outcomes,
  ],
  standalone: [
    'crash',
    'ordered restart',
    'clock jump',
    'death just after an append',
    'unknown outcome',
    'write applied late',
    'outage',
    'duplicate found by the index',
    'unknown append was ours',
    'unknown append was not there',
    'redelivery paid',
    'refusal confirmed',
    'effect no longer owed',
    'snapshots wiped',
    'dedup wiped',
    'timer fired',
    'client retried',
    'log thread_parked',
    'input put aside',
    'thread replayed',
    'log thread_resumed',
    'slot waited for',
    ...outcomes,
  ],
};

/** The rules of the processor, counted where they matter; `broken` replaces some of them. */
export function countingProtocol(
  broken: Partial<ProcessorProtocol>,
  counted: (path: string) => void,
): ProcessorProtocol {
  const rules = { ...soundProtocol, ...broken };
  const when = <T>(condition: boolean, path: string, value: T): T => {
    if (condition) counted(path);
    return value;
  };
  return {
    ...rules,
    isOwed: (thread, effect) => {
      const owed = rules.isOwed(thread, effect);
      return when(!owed, 'effect no longer owed', owed);
    },
    wasAppended: (ours, stored) => {
      const was = rules.wasAppended(ours, stored);
      return when(true, was ? 'unknown append was ours' : 'unknown append was not there', was);
    },
    confirmRefusal: async (...about) => {
      counted('refusal confirmed');
      const confirmation = await rules.confirmRefusal(...about);
      if (confirmation.refusal === 'stale') counted('refusal from a stale state');
      if (confirmation.refusal === 'decided_before') counted('refusal had been decided');
      return confirmation;
    },
    payForeign: async (deps, lane, debts, state) => {
      if (debts.length > 0) counted('foreign commits learned and paid');
      await rules.payForeign(deps, lane, debts, state);
    },
    repayFrom: (repayment) => {
      const from = rules.repayFrom(repayment);
      return when(true, from === null ? 'redelivery found paid' : 'redelivery paid', from);
    },
  };
}
