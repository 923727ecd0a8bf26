// The conversation as people read it: what was said, by whom, and what tools answered. Derived from the events, never stored.
import type { ThreadKey, ThreadLog } from '@dormouse/ports';
import { type DisplaySegment, type Outcome, plainText, type RecordedEvent } from '@dormouse/thread';
import { eventsAfter, lastEventBefore, type PlacedEvent } from './log-scan.ts';
import { answered, type Answered } from './refusal.ts';
import type { ThreadLookup } from './thread-lookup.ts';
import { type ListPage, pageOf } from './thread-page.ts';

export interface ReadableMessage {
  readonly position: number;
  readonly at: number;
  readonly role: 'user' | 'assistant' | 'tool' | 'event';
  readonly text: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly operation?: string;
  readonly outcome?: Outcome;
  /** The first segment that a client can show. R48 */
  readonly display?: DisplaySegment;
  readonly childId?: string;
  readonly interrupted?: boolean;
}

export interface ReadableDesk {
  list(key: ThreadKey, after: number, limit: number): Promise<Answered<ListPage<ReadableMessage>>>;
}

export function createReadableDesk(ports: { readonly log: ThreadLog; readonly threads: ThreadLookup }): ReadableDesk {
  const { log, threads } = ports;
  return {
    async list(key, after, limit) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const operations = new Map<string, string>();
      const operationOf = async (toolCallId: string, before: number): Promise<string> =>
        operations.get(toolCallId) ?? (await requestedOperation(log, key, toolCallId, before));
      const page = await pageOf(eventsAfter(log, key, after), limit, (placed) => {
        if (placed.event.type === 'ToolCallRequested') operations.set(placed.event.toolCallId, placed.event.operation);
        return readable(placed, operationOf);
      });
      return answered(page);
    },
  };
}

async function readable(
  { position, at, event }: PlacedEvent,
  operationOf: (toolCallId: string, before: number) => Promise<string>,
): Promise<ReadableMessage | null> {
  if (event.type === 'MessageAccepted') {
    return { position, at, role: 'user', text: plainText(event.content), messageId: event.messageId };
  }
  if (event.type === 'CompletionRecorded') {
    if (event.message.text === '') return null; // only tool calls: nothing was said
    return {
      position,
      at,
      role: 'assistant',
      text: event.message.text,
      ...(event.interrupted ? { interrupted: true } : {}),
    };
  }
  const arrival = arrivalOf(event);
  if (arrival !== null) return { position, at, ...arrival };
  if (event.type === 'ToolCallSettled') {
    const { toolCallId, outcome, content, displayAs } = event;
    const operation = await operationOf(toolCallId, position);
    return {
      position,
      at,
      role: 'tool',
      text: plainText(content),
      toolCallId,
      operation,
      outcome,
      display: displayAs?.[0],
    };
  }
  return null;
}

/** What came by itself: an event of a subscription, words of a child or of the parent, a time. */
function arrivalOf(event: RecordedEvent): Omit<ReadableMessage, 'position' | 'at'> | null {
  switch (event.type) {
    case 'SubscriptionEventReceived': {
      const { toolCallId, childId, content } = event;
      return { role: 'event', text: plainText(content), toolCallId, ...(childId === null ? {} : { childId }) };
    }
    case 'ChildReported':
      return { role: 'event', text: plainText(event.report), childId: event.childId };
    case 'ParentMessageReceived':
      return { role: 'event', text: plainText(event.content) };
    case 'ScheduleCame':
      return event.skipped ? null : { role: 'event', text: plainText(event.content) };
    default:
      return null;
  }
}

/** The call was asked for before this page: usually a few events back. */
async function requestedOperation(log: ThreadLog, key: ThreadKey, toolCallId: string, before: number): Promise<string> {
  const asked = await lastEventBefore(
    log,
    key,
    before,
    (event) => event.type === 'ToolCallRequested' && event.toolCallId === toolCallId,
  );
  return asked?.event.type === 'ToolCallRequested' ? asked.event.operation : '';
}
