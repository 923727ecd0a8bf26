// Ids of calls as a provider takes them, and back.
//
// Invariants:
//   N1. An id on the wire is a function of ours alone, so that every request names a call alike.
//   N2. A model knows a call by its id on the wire, and by ours where a text names it: `cancel_subscription` takes both.
import { createHash } from 'node:crypto';
import type { ModelMessage } from '@dormouse/thread';

const shortCharacters = 9;

export interface CallIds {
  onWire(toolCallId: string): string;
  /** The arguments of a call, with our id of the call that they name. (N2) */
  argumentsFromWire(operation: string, given: string): string;
}

/** Ours, unless the endpoint takes short ones only. */
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

/** Null for arguments that are no JSON, or name no call: judging them is not for this file. */
function namedCall(given: string): unknown {
  try {
    const parsed = JSON.parse(given) as { readonly tool_call_id?: unknown } | null;
    return parsed?.tool_call_id ?? null;
  } catch {
    return null;
  }
}
