// The tools of calls: events name a call by its id, people know it by its tool.
//
// Invariants:
//   N1. A call that was asked for before this tool listened is looked up once; what is not found is shown by its id. So
//       is a call that cannot be looked up now: a name is never worth the conversation.
import {
  ApiProblem,
  ask,
  type Client,
  ConnectionProblem,
  everyItem,
  isEvent,
  type ThreadEvent,
} from '@dormouse/client';

export interface CallNames {
  /** Notes a call of this event, and looks up the call that it is about. */
  learn(event: ThreadEvent): Promise<void>;
  /** The tool, or the id of a call that is not known. */
  of(toolCallId: string): string;
}

export function createCallNames({ api }: Client, thread: string): CallNames {
  const operations = new Map<string, string>();
  const missing = new Set<string>();

  async function lookUp(toolCallId: string): Promise<void> {
    const path = { id: thread };
    for await (const call of everyItem((cursor) =>
      ask(api.GET('/v1/threads/{id}/tool-calls', { params: { path, query: { limit: 200, cursor } } })),
    ))
      operations.set(call.tool_call_id, call.operation);
    if (!operations.has(toolCallId)) missing.add(toolCallId); // (N1)
  }

  return {
    of: (toolCallId) => operations.get(toolCallId) ?? toolCallId,
    async learn(event) {
      if (isEvent(event, 'tool_call_requested')) {
        operations.set(event.tool_call_id, event.operation);
        return;
      }
      const about = 'tool_call_id' in event ? event['tool_call_id'] : undefined;
      if (typeof about !== 'string' || operations.has(about) || missing.has(about)) return;
      try {
        await lookUp(about);
      } catch (error) {
        if (!(error instanceof ApiProblem || error instanceof ConnectionProblem)) throw error; // (N1)
      }
    },
  };
}
