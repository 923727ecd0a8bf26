// A durable event in one line for people. Types this tool does not know are shown by name: new ones may appear.
import { type ContentItem, isEvent, textOf, type ThreadEvent } from '@dormouse/client';
import { cleanLine } from './clean-text.ts';

/** The tool of a call, or the call's id where it is not known. */
export interface ToolNames {
  of(toolCallId: string): string;
}

const byId: ToolNames = { of: (toolCallId) => toolCallId };

/** The event in words, without position and time. */
export function describeEvent(event: ThreadEvent, names: ToolNames = byId): string {
  return (
    describeSpeech(event) ?? describeCall(event, names) ?? describeArrival(event, names) ?? describeRest(event) ?? ''
  );
}

export function eventLine(event: ThreadEvent, names: ToolNames, columns: number): string {
  const head = `${String(event.position).padStart(4)}  ${event.at}  ${cleanLine(event.type).padEnd(22)} `;
  return `${head} ${cleanLine(describeEvent(event, names), Math.max(40, columns - head.length))}`;
}

function describeSpeech(event: ThreadEvent): string | null {
  if (isEvent(event, 'message_accepted')) return textOf(event.content);
  if (isEvent(event, 'message_refused')) return `${event.code}: ${event.detail}`;
  if (isEvent(event, 'request_refused')) return `${event.request} ${event.code}: ${event.detail}`;
  if (isEvent(event, 'completion_requested')) return event.model;
  if (isEvent(event, 'completion_recorded'))
    return `${event.interrupted ? '[interrupted] ' : ''}${event.message.text || `(${event.finish_reason})`}`;
  if (isEvent(event, 'completion_failed')) return `${event.code}: ${event.detail}`;
  return null;
}

function describeCall(event: ThreadEvent, names: ToolNames): string | null {
  if (isEvent(event, 'tool_call_requested')) return `${event.operation} ${JSON.stringify(event.arguments)}`;
  if (isEvent(event, 'tool_call_settled'))
    return `${names.of(event.tool_call_id)} ${event.outcome}: ${resultText(event)}`;
  if (isEvent(event, 'tool_call_detached')) return names.of(event.tool_call_id);
  if (isEvent(event, 'tool_call_late_result'))
    return `${names.of(event.tool_call_id)}${event.used ? '' : ' (not used)'}`;
  if (isEvent(event, 'choice_requested')) return event.prompt;
  if (isEvent(event, 'choice_assigned')) return `for ${event.assignees.join(', ') || 'none'}, by ${event.by}`;
  if (isEvent(event, 'approval_counted')) return `${event.edited === true ? 'edited, ' : ''}allowed by ${event.by}`;
  if (isEvent(event, 'choice_settled')) return `${event.decision ?? `choice ${String(event.selected)}`} by ${event.by}`;
  if (isEvent(event, 'callback_rejected')) return `${names.of(event.tool_call_id)} ${event.reason}`;
  return null;
}

function describeArrival(event: ThreadEvent, names: ToolNames): string | null {
  if (isEvent(event, 'subscription_opened')) return names.of(event.tool_call_id);
  if (isEvent(event, 'subscription_event_received'))
    return `${names.of(event.tool_call_id)}: ${event.final ? '[last] ' : ''}${event.text}${event.child_id === undefined ? '' : ` → ${event.child_id}`}`;
  if (isEvent(event, 'subscription_closed')) return `${names.of(event.tool_call_id)} ${event.reason}`;
  if (isEvent(event, 'child_spawned')) return `${event.child_id} ${event.instructions ?? ''}`.trim();
  if (isEvent(event, 'child_reported')) return `${event.child_id}: ${event.report}`;
  if (isEvent(event, 'external_event_received'))
    return `${event.source}: ${event.text}${event.child_id === undefined ? '' : ` → ${event.child_id}`}`;
  if (isEvent(event, 'parent_message_received')) return event.text;
  if (isEvent(event, 'schedule_came')) return `${event.skipped ? '[skipped] ' : ''}${textOf(event.content)}`;
  if (isEvent(event, 'oauth_requested')) return `${names.of(event.tool_call_id)} until ${event.expires_at}`;
  if (isEvent(event, 'title_set')) return event.title;
  if (isEvent(event, 'toolset_changed'))
    return `${event.tool_server}: added ${event.added.join(', ') || 'none'}, removed ${event.removed.join(', ') || 'none'}, changed ${event.changed.join(', ') || 'none'}`;
  return null;
}

function describeRest(event: ThreadEvent): string | null {
  if (isEvent(event, 'thread_opened')) return `${event.agent.name} v${event.agent.version}`;
  if (isEvent(event, 'toolsets_loaded'))
    return event.toolsets
      .map((each) => `${each.tool_server}: ${each.tools.join(', ')}${each.stale ? ' (stale)' : ''}`)
      .join('; ');
  if (isEvent(event, 'toolset_rejected')) return `${event.tool_server}: ${event.problems.join('; ')}`;
  if (isEvent(event, 'timer_set')) return `${event.reason} at ${event.due}`;
  if (isEvent(event, 'budget_exceeded')) return `${event.budget}: ${event.used} of ${event.limit}`;
  if (isEvent(event, 'thread_closed')) return `by ${event.by}`;
  if (isEvent(event, 'content_erased')) return event.scope;
  return null;
}

/** The first display segment this tool knows, else the text. R48 */
export function resultText(result: {
  readonly content: readonly ContentItem[];
  readonly display_as?: readonly { readonly type: string; readonly content?: unknown }[];
}): string {
  for (const segment of result.display_as ?? []) {
    if (segment.type === 'text' && typeof segment.content === 'string') return segment.content;
    if (segment.type === 'diff' && isDiff(segment.content)) return `${segment.content.path}\n${segment.content.patch}`;
  }
  return textOf(result.content);
}

function isDiff(content: unknown): content is { readonly path: string; readonly patch: string } {
  return (
    typeof content === 'object' &&
    content !== null &&
    'path' in content &&
    'patch' in content &&
    typeof content.path === 'string' &&
    typeof content.patch === 'string'
  );
}
