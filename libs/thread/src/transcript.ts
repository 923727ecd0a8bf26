// What the model sees, as an incremental fold over the events.
//
// Invariants:
//   M1. Messages are only ever appended, and only when a completion is requested: a prompt is the first `length` of them,
//       and a longer log never reorders what a model has already seen. I-15
//   M2. An assistant message with calls is followed at once by one tool message with exactly one result for each, in
//       order; legal for every provider, whatever arrived in between. R70
//   M3. What arrives during a round stands behind it, in the order of arrival: log order is not prompt order.
//   M4. A detached call has its placeholder in its round; its outcome comes later as an injected pair.
import { injectedEventToolName } from '@dormouse/protocol';
import type { Content } from './content.ts';
import { text } from './content.ts';
import type { RecordedEvent } from './event.ts';
import type { ModelMessage, ModelToolCall, ModelToolResult } from './model-message.ts';
import type { Policies } from './policy.ts';
import { unreachable } from './unreachable.ts';

interface Round {
  readonly text: string;
  readonly reasoning?: string;
  readonly calls: readonly ModelToolCall[];
  readonly results: Readonly<Record<string, ModelToolResult>>;
}

/** What has been folded and not yet shown: plain JSON, part of a snapshot, bounded by one round and what stands behind it. */
export interface TranscriptTail {
  /** Messages shown so far. */
  readonly length: number;
  readonly eventStyle: Policies['eventStyle'];
  readonly round: Round | null;
  readonly behind: readonly ModelMessage[];
  /** Detached calls whose outcome is still to come. */
  readonly detached: Readonly<Record<string, ModelToolCall>>;
}

export interface TranscriptStep {
  readonly tail: TranscriptTail;
  /** Messages that became final by this event. */
  readonly messages: readonly ModelMessage[];
}

export const emptyTail: TranscriptTail = { length: 0, eventStyle: 'kind', round: null, behind: [], detached: {} };

const none: readonly ModelMessage[] = [];

/** Folds one event. */
export function extendTranscript(tail: TranscriptTail, event: RecordedEvent): TranscriptStep {
  switch (event.type) {
    case 'ThreadOpened':
      return { tail: { ...tail, eventStyle: event.policies.eventStyle }, messages: none };
    case 'CompletionRequested':
      return show(tail);
    case 'CompletionRecorded':
      return { tail: { ...tail, round: { ...event.message, calls: [], results: {} } }, messages: none };
    case 'ToolCallRequested':
      return { tail: addCall(tail, event), messages: none };
    case 'ToolCallDetached':
      return { tail: detach(tail, event.toolCallId), messages: none };
    case 'ToolCallSettled':
      return { tail: settle(tail, event), messages: none };
    case 'MessageAccepted':
      return { tail: { ...tail, behind: [...tail.behind, { role: 'user', content: event.content }] }, messages: none };
    case 'ToolsetsRequested': // these are for people
    case 'ToolsetsLoaded':
    case 'ToolsetRejected':
    case 'MessageQueued':
    case 'MessageRefused':
    case 'RequestRefused':
    case 'CompletionFailed':
    case 'CallbackRejected':
    case 'ChoiceRequested':
    case 'ChoiceSettled':
    case 'TimerSet':
    case 'TimerFired':
    case 'TurnInterrupted':
    case 'BudgetExceeded':
    case 'ThreadClosed':
      return { tail, messages: none };
    default:
      return unreachable(event);
  }
}

/** The whole transcript of some events, from a thread's first on. */
export function transcript(events: readonly RecordedEvent[]): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  let tail = emptyTail;
  for (const event of events) {
    const step = extendTranscript(tail, event);
    tail = step.tail;
    messages.push(...step.messages);
  }
  return messages;
}

/** The round is complete: it and what stands behind it become final. (M1) */
function show(tail: TranscriptTail): TranscriptStep {
  const messages = [...(tail.round === null ? none : roundMessages(tail.round)), ...tail.behind];
  return { tail: { ...tail, length: tail.length + messages.length, round: null, behind: [] }, messages };
}

function roundMessages(round: Round): readonly ModelMessage[] {
  const { calls, results } = round;
  if (round.text === '' && calls.length === 0) return none; // interrupted before a word was said
  const said = { role: 'assistant', text: round.text, toolCalls: calls } as const;
  const assistant: ModelMessage = round.reasoning === undefined ? said : { ...said, reasoning: round.reasoning };
  if (calls.length === 0) return [assistant];
  return [assistant, { role: 'tool', results: calls.map((call) => resultOf(call, results)) }];
}

function resultOf(call: ModelToolCall, results: Round['results']): ModelToolResult {
  const result = results[call.toolCallId];
  if (result === undefined) throw new Error(`(M2) a completion was requested while ${call.toolCallId} has no result`);
  return result;
}

function addCall(tail: TranscriptTail, call: ModelToolCall): TranscriptTail {
  if (tail.round === null) throw new Error(`(M2) ${call.toolCallId} was requested outside a round`);
  const { toolCallId, operation } = call;
  return {
    ...tail,
    round: { ...tail.round, calls: [...tail.round.calls, { toolCallId, operation, arguments: call.arguments }] },
  };
}

function callInRound(
  tail: TranscriptTail,
  toolCallId: string,
): { readonly round: Round; readonly call: ModelToolCall } | null {
  const call = tail.round?.calls.find((candidate) => candidate.toolCallId === toolCallId);
  return tail.round === null || call === undefined ? null : { round: tail.round, call };
}

const placeholder: Content = [
  text('Still running. Its result will come as a later event; do not call the tool again for it.'),
];

function detach(tail: TranscriptTail, toolCallId: string): TranscriptTail {
  const found = callInRound(tail, toolCallId);
  if (found === null) return tail;
  const { round, call } = found;
  const result: ModelToolResult = {
    toolCallId,
    operation: call.operation,
    outcome: 'still_running',
    content: placeholder,
  };
  return {
    ...tail,
    round: { ...round, results: { ...round.results, [toolCallId]: result } },
    detached: { ...tail.detached, [toolCallId]: call },
  };
}

function settle(
  tail: TranscriptTail,
  event: Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>,
): TranscriptTail {
  const { toolCallId, outcome, content } = event;
  const late = tail.detached[toolCallId];
  if (late !== undefined) {
    const { [toolCallId]: _settled, ...detached } = tail.detached;
    return { ...tail, detached, behind: [...tail.behind, ...injectedPair(tail.eventStyle, late, event)] };
  }
  const found = callInRound(tail, toolCallId);
  if (found === null) return tail;
  const { round, call } = found;
  const result: ModelToolResult = { toolCallId, operation: call.operation, outcome, content };
  return { ...tail, round: { ...round, results: { ...round.results, [toolCallId]: result } } };
}

/** A late outcome as a call and its result, so that no call ever has two results. R70, R71, messages §5 */
function injectedPair(
  style: Policies['eventStyle'],
  call: ModelToolCall,
  event: Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>,
): readonly ModelMessage[] {
  const toolCallId = `${call.toolCallId}_late`;
  const injected: ModelToolCall =
    style === 'kind'
      ? {
          toolCallId,
          operation: call.operation,
          arguments: { ...call.arguments, kind: `interrupt:${call.toolCallId} (late result)` },
        }
      : {
          toolCallId,
          operation: injectedEventToolName, // R72
          arguments: {
            original_tool_name: call.operation,
            original_tool_call_id: call.toolCallId,
            original_args: call.arguments,
          },
        };
  const { outcome, content } = event;
  return [
    { role: 'assistant', text: '', toolCalls: [injected] },
    { role: 'tool', results: [{ toolCallId, operation: injected.operation, outcome, content }] },
  ];
}
