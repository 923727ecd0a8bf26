// Each call ends once, and ending one thing never blocks another. I-10, I-20
import { ofType, type Reading, type ReadingThread } from './reading.ts';

/**
 * I-10: a call is settled once, after it was requested; at rest none is open but those that wait for a user. One that
 * several must allow is allowed with the last of their approvals, each of another credential.
 */
export function callsAreSettledOnce({ threads, calls, history }: Reading): readonly string[] {
  const bad = [...threads.flatMap(settledOutOfTurn), ...threads.flatMap(allowedByTooFew)];
  for (const [id, { settled, thread }] of calls) {
    if (settled.length > 1)
      bad.push(`${id} was settled ${settled.length} times (${settled.map((event) => event.outcome).join(', ')})`);
    if (settled.length > 0 || history.unrest === null || history.unrest.length > 0) continue;
    const waits = thread.end?.calls.find(({ toolCallId }) => toolCallId === id)?.waiting.for;
    if (waits !== 'approval') bad.push(`${id} is never settled`);
  }
  return bad;
}

function settledOutOfTurn(thread: ReadingThread): string[] {
  const requested = new Set<string>();
  const bad: string[] = [];
  for (const { event } of thread.events) {
    if (event.type === 'ToolCallRequested') requested.add(event.toolCallId);
    if (event.type === 'ToolCallSettled' && !requested.has(event.toolCallId))
      bad.push(`${event.toolCallId} was settled and never requested`);
  }
  return bad;
}

function allowedByTooFew(thread: ReadingThread): string[] {
  const counting = new Map<string, { readonly needed: number; readonly credentials: string[] }>();
  const bad: string[] = [];
  for (const { event } of thread.events) {
    if (event.type === 'ChoiceRequested')
      counting.set(event.choiceId, { needed: event.approvalsNeeded ?? 1, credentials: [] });
    if (event.type !== 'ApprovalCounted' && event.type !== 'ChoiceSettled') continue;
    const { choiceId } = event;
    const { needed = 0, credentials = [] } = counting.get(choiceId) ?? {};
    if (event.type === 'ApprovalCounted') {
      if (event.edited === true) credentials.length = 0;
      if (credentials.includes(event.credential)) bad.push(`${choiceId}: ${event.credential} counts twice`);
      credentials.push(event.credential);
    } else {
      const isAllowed = event.decision === 'allow' || event.decision === 'allow_for_thread';
      if (isAllowed && credentials.length !== needed - 1)
        bad.push(`${choiceId} was allowed by ${credentials.length + 1} approvals, and needs ${needed}`);
      counting.delete(choiceId);
    }
  }
  return bad;
}

/** I-20: an acknowledged close closes; a closed thread has nothing open and records only refusals. */
export function closingCloses({ history, threads, byName }: Reading): readonly string[] {
  const bad: string[] = [];
  for (const thread of threads) {
    const closed = thread.events.findIndex(({ event }) => event.type === 'ThreadClosed');
    if (closed < 0) continue;
    const after = thread.events
      .slice(closed + 1)
      .filter(({ event }) => event.type !== 'MessageRefused' && event.type !== 'RequestRefused');
    if (after.length > 0) bad.push(`${thread.name}: ${after[0]?.event.type} after it was closed`);
    const open = (thread.end?.calls ?? []).map(({ toolCallId }) => toolCallId);
    if (open.length > 0) bad.push(`${thread.name} was closed with ${open.join(', ')} open`);
  }
  if (history.unrest === null) return bad;
  for (const { key, kind, answeredAt } of history.requests) {
    const thread = byName.get(`${key.tenant}:${key.thread}`);
    if (
      kind !== 'close' ||
      answeredAt === null ||
      (thread !== undefined && ofType(thread, 'ThreadClosed').length === 1)
    )
      continue;
    bad.push(`${key.tenant}:${key.thread} was asked to close, acknowledged it, and is not closed`);
  }
  return bad;
}
