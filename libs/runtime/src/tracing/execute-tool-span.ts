// The span of a call that was sent: from the commit that owes it to the acknowledgement, or to the end of all attempts.
import { type Owed, parseTraceparent, type Span } from '@dormouse/ports';
import type { InvokeTool } from '@dormouse/thread';
import { threadAttributes } from './attributes.ts';
import { bounded } from './recorded-content.ts';
import { attribute } from './semconv.ts';
import { spanIdOf } from './span-ids.ts';

/** Null for a call without a trace. Times are of the wall clock. */
export function executeToolSpan(
  { tenant, thread, at, agent, effect }: Owed<InvokeTool>,
  startedAt: number,
  endedAt: number,
  error: string | null,
  /** Null where contents are not recorded. */
  content: { readonly description: string | undefined } | null,
): Span | null {
  const parent = parseTraceparent(agent);
  if (parent === null) return null;
  const key = { tenant, thread };
  return {
    name: `execute_tool ${effect.operation}`,
    kind: 'internal',
    context: { ...parent, spanId: spanIdOf('execute_tool', key, effect.toolCallId) },
    parentId: parent.spanId,
    startedAt,
    endedAt,
    attributes: {
      ...threadAttributes(key, at),
      [attribute.operation]: 'execute_tool',
      [attribute.toolName]: effect.operation,
      [attribute.toolCallId]: effect.toolCallId,
      [attribute.toolType]: 'function',
      [attribute.toolArguments]: content === null ? undefined : bounded(effect.arguments),
      [attribute.toolDescription]: content?.description,
      [attribute.outcome]: outcomeOf(error),
    },
    links: [],
    error,
  };
}

function outcomeOf(error: string | null): string {
  if (error === null) return 'sent';
  return error === 'cancelled' ? error : 'refused';
}
