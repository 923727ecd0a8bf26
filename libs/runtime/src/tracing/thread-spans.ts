// The spans that a commit ends: `invoke_agent` of a wake that is over, `settle_tool` of each call that it settles, and
// `execute_tool` of a call that was settled without being sent.
//
// Invariants:
//   S1. Without contents no span holds a word of a user, a model, a tool server or a provider: names, ids, counts and
//       codes only. A tool that a model has made up is `unknown`.
//   S2. `settle_tool` has an operation of its own: a backend for agents takes a span that names a tool and has no
//       operation for one more run of it.
import type { Span } from '@dormouse/ports';
import { callOf } from '@dormouse/thread';
import { shownTool, threadAttributes } from './attributes.ts';
import { bounded, textsOf } from './recorded-content.ts';
import { attribute } from './semconv.ts';
import { inTrace, spanIdOf } from './span-ids.ts';
import type { CommittedSlice } from './committed-slice.ts';
import type { EndedWork, Wake } from './trace-state.ts';

export function spansOf(
  slice: CommittedSlice,
  { wakes, calls }: EndedWork,
  wallAt: number,
  withContent: boolean,
): readonly Span[] {
  return [
    ...wakes.map((wake) => wakeSpan(slice, wake, wallAt)),
    ...calls.flatMap((call) => callSpans(slice, call, wallAt, withContent)),
  ];
}

const goodEnds: ReadonlySet<string> = new Set(['', 'stop', 'tool_calls', 'length']);

function wakeSpan({ key, commit, after }: CommittedSlice, wake: Wake, wallAt: number): Span {
  const { agent, model } = after;
  return {
    name: `invoke_agent ${agent.name}`,
    kind: 'internal',
    context: wake.context,
    parentId: wake.parent?.spanId ?? null,
    startedAt: wake.startedAt,
    endedAt: wallAt,
    attributes: {
      ...threadAttributes(key, wake.at),
      [attribute.operation]: 'invoke_agent',
      [attribute.agentName]: agent.name,
      [attribute.agentVersion]: String(agent.version),
      [attribute.requestModel]: model,
      [attribute.inputTokens]: wake.inputTokens,
      [attribute.outputTokens]: wake.outputTokens,
      [attribute.finishReasons]: goodEnds.has(wake.outcome) && wake.outcome !== '' ? [wake.outcome] : undefined,
      [attribute.position]: commit.version,
    },
    links: wake.links,
    error: goodEnds.has(wake.outcome) ? null : wake.outcome,
  };
}

function callSpans(
  slice: CommittedSlice,
  { event, cause, parent }: EndedWork['calls'][number],
  wallAt: number,
  withContent: boolean,
): Span[] {
  const { key, commit, before, events } = slice;
  const { toolCallId, outcome, code } = event;
  const requested = events.find((each) => each.type === 'ToolCallRequested' && each.toolCallId === toolCallId);
  const call = callOf(before, toolCallId) ?? (requested?.type === 'ToolCallRequested' ? requested : undefined);
  const operation = call === undefined ? 'unknown' : shownTool(call); // (S1)
  const since = call !== undefined && 'since' in call ? call.since : commit.at;
  const result = withContent ? bounded(textsOf(event.content)) : undefined;
  const common = {
    kind: 'internal',
    startedAt: wallAt,
    endedAt: wallAt,
    attributes: {
      ...threadAttributes(key, commit.at),
      [attribute.toolName]: operation,
      [attribute.toolCallId]: toolCallId,
      [attribute.outcome]: outcome,
    },
    error: outcome === 'result' ? null : (code ?? outcome),
  } as const;
  const settled: Span = {
    ...common,
    name: `settle_tool ${operation}`,
    context: inTrace(parent, spanIdOf('settle_tool', key, toolCallId)),
    parentId: parent.spanId,
    attributes: {
      ...common.attributes,
      [attribute.operation]: 'settle_tool', // (S2)
      [attribute.waitedMs]: commit.at - since,
      [attribute.toolResult]: result,
    },
    links: parent.traceId === cause.context.traceId ? [] : [cause.context],
  };
  if (cause.isSent === true || cause.agent === undefined) return [settled];
  const executed: Span = {
    ...common,
    name: `execute_tool ${operation}`,
    context: cause.context,
    parentId: cause.agent.spanId,
    attributes: { ...common.attributes, [attribute.operation]: 'execute_tool', [attribute.toolType]: 'function' },
    links: [],
  };
  return [executed, settled];
}
