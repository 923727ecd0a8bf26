// What customers are told of a commit: some of its events, and the status that its thread has since. Pure.
//
// Invariants:
//   E1. A commit leads to the same events at the same positions, whenever and however often it is read.
//   E2. A thread has become `idle` or `waiting` by a commit when it was something else before it: a status that a
//       commit passes through is none, and a thread that was only opened has not come to rest. The position is that of
//       the commit's last event.
//   E3. Data is thin: ids and codes, never a content. What was said is fetched with a key.
import type { WebhookEvent } from '@dormouse/ports';
import type { OpenStatus, RecordedEvent } from '@dormouse/thread';

export interface ToldEvent {
  readonly event: WebhookEvent;
  readonly position: number;
  /** Beside the thread and the position. (E3) */
  readonly about: Readonly<Record<string, string | number>>;
}

/** Of a thread, before and after a commit. */
export interface Statuses {
  readonly before: OpenStatus;
  readonly after: OpenStatus;
}

/** Events that a status leads to: these alone need the state of the thread. */
export const statusEvents: readonly WebhookEvent[] = ['thread.waiting', 'thread.idle'];

/** `version`: the events before the commit. `statuses`: null where none of `statusEvents` is wanted. */
export function toldEvents(
  version: number,
  events: readonly RecordedEvent[],
  statuses: Statuses | null,
): readonly ToldEvent[] {
  const told = events.flatMap((event, nth) => {
    const of = toldOf(event);
    return of === null ? [] : [{ ...of, position: version + nth + 1 }];
  });
  const became = statuses === null ? null : becameOf(statuses);
  return became === null ? told : [...told, { event: became, position: version + events.length, about: {} }]; // (E2)
}

function toldOf(event: RecordedEvent): Pick<ToldEvent, 'event' | 'about'> | null {
  switch (event.type) {
    case 'CompletionFailed':
      return { event: 'thread.failed', about: { code: event.code } };
    case 'ThreadClosed':
      return { event: 'thread.closed', about: { by: event.by } };
    case 'ChoiceRequested':
      return { event: 'choice.requested', about: { choice_id: event.choiceId, kind: event.kind } };
    case 'OauthRequested':
      return { event: 'oauth.requested', about: { tool_call_id: event.toolCallId } };
    case 'ChildSpawned':
      return { event: 'child.opened', about: { child_id: event.childId } };
    case 'BudgetExceeded':
      return { event: 'budget.exceeded', about: { budget: event.budget, used: event.used, limit: event.limit } };
    default:
      return null;
  }
}

/** (E2) */
function becameOf({ before, after }: Statuses): WebhookEvent | null {
  if (before === after || before === 'opening') return null;
  return after === 'waiting' || after === 'idle' ? `thread.${after}` : null;
}
