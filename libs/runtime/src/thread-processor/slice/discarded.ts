// Counts the messages of tool servers that `decide` discards because no call waits for them. R35, R81, R82
//
// Invariants:
//   X1. Each is counted, by thread, kind and reason. The first is logged, then every count that is a power of two: a
//       flood of them is a few lines.
//   X2. A log line contains nothing of the message.
import { createBoundedMap } from '@dormouse/collections';
import type { Logger, ThreadKey } from '@dormouse/ports';
import type { StableRefusal, ThreadInput } from '@dormouse/thread';

export interface Discarded {
  note(key: ThreadKey, input: ThreadInput, reason: StableRefusal): void;
}

const countedMax = 1_000;

export function createDiscarded(logger: Logger): Discarded {
  const counts = createBoundedMap<number>(countedMax);
  return {
    note({ tenant, thread }, input, reason) {
      const toolCallId = callOf(input);
      if (toolCallId === null) return;
      const name = JSON.stringify([tenant, thread, input.kind, reason]);
      const count = counts.set(name, (counts.get(name) ?? 0) + 1);
      if (Number.isInteger(Math.log2(count)))
        logger.info('callback_discarded', { tenant, thread, call: toolCallId, input: input.kind, reason, count }); // (X1)
    },
  };
}

/** The call that a tool server's message is about; null for what comes from elsewhere. */
function callOf(input: ThreadInput): string | null {
  switch (input.kind) {
    case 'ToolResult':
    case 'SubscriptionEvent':
    case 'LoginPrompt':
    case 'ChoicePrompt':
    case 'CallbackRejection':
      return input.toolCallId;
    default:
      return null;
  }
}
