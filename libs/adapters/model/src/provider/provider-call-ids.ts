// Converts ids of calls into the form that a provider accepts, and back.
//
// Invariants:
//   N1. The id on the wire is a function of the runtime's id alone, so that every request names a call in the same way.
//   N2. A model knows a call by its id on the wire, by the runtime's where a text names it: `cancel_subscription` takes
//       both.
import { createHash } from 'node:crypto';
import type { ModelMessage } from '@dormouse/thread';

const shortCharacters = 9;

export interface CallIds {
  onWire(toolCallId: string): string;
  /** The arguments of a call, in which a wire id is replaced by the runtime's id of that call. (N2) */
  argumentsFromWire(operation: string, given: string): string;
}

/** The runtime's ids, unless the endpoint accepts only short ones. */
export function callIds(messages: readonly ModelMessage[], isShort: boolean): CallIds {
  if (!isShort) return { onWire: (id) => id, argumentsFromWire: (_operation, given) => given };
  const onWire = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, shortCharacters); // (N1)
  return {
    onWire,
    argumentsFromWire(operation, given) {
      if (operation !== 'cancel_subscription') return given;
      const named = namedCall(given);
      const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
      const call = calls.find(({ toolCallId }) => onWire(toolCallId) === named);
      return call === undefined ? given : JSON.stringify({ tool_call_id: call.toolCallId });
    },
  };
}

/** Null for arguments that are no JSON, or name no call: they are judged elsewhere. */
function namedCall(given: string): unknown {
  try {
    const parsed = JSON.parse(given) as { readonly tool_call_id?: unknown } | null;
    return parsed?.tool_call_id ?? null;
  } catch {
    return null;
  }
}
