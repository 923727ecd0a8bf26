// The conversation as people read it: messages with their authors, and tool results. Derived from events, never stored.
import type { ThreadKey, ThreadLog, Page } from '@dormouse/ports';
import { type DisplaySegment, type Outcome, plainText, type RecordedEvent } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { type Generation, type LineagePage, lineageOf, pageOfLineage, threadAt } from './lineage.ts';
import { lastEventBefore, type PlacedEvent } from './log-scan.ts';
import { answered, type Answered } from '../refusal.ts';

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
  /** For an inherited message of a fork: the thread whose position this is. */
  readonly threadId?: string;
}

export interface ReadableApi {
  /** A fork's conversation begins with the one that it was forked from. */
  list(key: ThreadKey, page: LineagePage): Promise<Answered<Page<ReadableMessage>>>;
}

export type ReadablePorts = Pick<IngressParts, 'log' | 'snapshots' | 'threads'>;

export function createReadableApi(ports: ReadablePorts): ReadableApi {
  const { log, threads } = ports;
  return {
    async list(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const generations = await lineageOf(log, key);
      const operations = new Map<string, string>();
      const cutShort = openAtFork(ports);
      return answered(
        await pageOfLineage(log, generations, page, async (placed, generation) => {
          const { event } = placed;
          const said = await readable(
            placed,
            async (toolCallId, before) =>
              operations.get(toolCallId) ?? (await requestedOperation(log, generation.key, toolCallId, before)),
          );
          if (event.type === 'ToolCallRequested') operations.set(event.toolCallId, event.operation);
          if (!generation.inherited) return said;
          const threadId = generation.key.thread;
          if (said !== null) return { ...said, threadId };
          if (event.type !== 'ToolCallRequested' || !(await cutShort(generation)).has(event.toolCallId)) return null;
          return interrupted(placed, event, threadId);
        }),
      );
    },
  };
}

/** The calls that were unanswered where a fork was made. (lineage N3) */
function openAtFork(ports: ReadablePorts): (generation: Generation) => Promise<ReadonlySet<string>> {
  const known = new Map<Generation, ReadonlySet<string>>();
  return async (generation) => {
    const open =
      known.get(generation) ?? new Set((await threadAt(ports, generation)).calls.map(({ toolCallId }) => toolCallId));
    known.set(generation, open);
    return open;
  };
}

const interrupted = (
  { position, at }: PlacedEvent,
  { toolCallId, operation }: Extract<RecordedEvent, { readonly type: 'ToolCallRequested' }>,
  threadId: string,
): ReadableMessage => ({
  ...{ position, at, role: 'tool', toolCallId, operation, threadId },
  text: 'Interrupted: this thread was forked from the one that made the call.',
  outcome: 'interrupted',
});

async function readable(
  { position, at, event }: PlacedEvent,
  operationOf: (toolCallId: string, before: number) => Promise<string>,
): Promise<ReadableMessage | null> {
  if (event.type !== 'ToolCallSettled') {
    const said = saidBy(event);
    return said === null ? null : { position, at, ...said };
  }
  const { toolCallId, outcome, content, displayAs } = event;
  const result = { toolCallId, operation: await operationOf(toolCallId, position), outcome, display: displayAs?.[0] };
  return { position, at, role: 'tool', text: plainText(content), ...result };
}

/** Of the user, of the assistant, or of an input that the user did not send. */
function saidBy(event: RecordedEvent): Omit<ReadableMessage, 'position' | 'at'> | null {
  switch (event.type) {
    case 'MessageAccepted':
      return { role: 'user', text: plainText(event.content), messageId: event.messageId };
    case 'CompletionRecorded': {
      const { text } = event.message; // without text there are only tool calls: nothing was said
      return text === '' ? null : { role: 'assistant', text, ...(event.interrupted ? { interrupted: true } : {}) };
    }
    case 'SubscriptionEventReceived': {
      const { toolCallId, childId, content } = event;
      return { role: 'event', text: plainText(content), toolCallId, ...(childId === null ? {} : { childId }) };
    }
    case 'ChildReported':
      return { role: 'event', text: plainText(event.report), childId: event.childId };
    case 'ExternalEventReceived': {
      const { childId, content } = event;
      return { role: 'event', text: plainText(content), ...(childId === null ? {} : { childId }) };
    }
    case 'ParentMessageReceived':
      return { role: 'event', text: plainText(event.content) };
    case 'ScheduleCame':
      return event.skipped ? null : { role: 'event', text: plainText(event.content) };
    default:
      return null;
  }
}

/** The call was requested before this page: usually a few events back. */
async function requestedOperation(log: ThreadLog, key: ThreadKey, toolCallId: string, before: number): Promise<string> {
  const asked = await lastEventBefore(
    log,
    key,
    before,
    (event) => event.type === 'ToolCallRequested' && event.toolCallId === toolCallId,
  );
  return asked?.event.type === 'ToolCallRequested' ? asked.event.operation : '';
}
