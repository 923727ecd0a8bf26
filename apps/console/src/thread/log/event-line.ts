// A durable event in one line for people. Types that this console does not know are shown by name: new ones may appear.
import { isEvent, textOf, type ThreadEvent } from '@dormouse/client';
import { plainLine } from '../../elements/plain-text.ts';

export type Tone = 'user' | 'model' | 'tool' | 'person' | 'arrival' | 'time' | 'problem' | 'thread';

const tones: readonly (readonly [RegExp, Tone])[] = [
  [/refused|failed|rejected|exceeded|parked/, 'problem'],
  [/^message_/, 'user'],
  [/^completion_|^model_|^context_/, 'model'],
  [/^tool_call_|^toolset|^callback_/, 'tool'],
  [/^choice_|^oauth_/, 'person'],
  [/^timer_|^schedule_/, 'time'],
  [/^subscription_|^child_|^parent_|^external_/, 'arrival'],
];

export const toneOf = ({ type }: ThreadEvent): Tone => tones.find(([pattern]) => pattern.test(type))?.[1] ?? 'thread';

export const typeText = ({ type }: ThreadEvent): string => plainLine(type.replaceAll('_', ' '), 40);

/** The event in words, without its type. */
export function eventLine(event: ThreadEvent): string {
  return plainLine(speech(event) ?? call(event) ?? arrival(event) ?? rest(event) ?? fields(event));
}

/** What is announced of an event that has just come: what the agent says; null for all others. */
export function speechOf(event: ThreadEvent): string | null {
  if (isEvent(event, 'completion_recorded') && event.message.text !== '')
    return `${event.interrupted ? 'assistant, interrupted' : 'assistant'}: ${plainLine(event.message.text, spokenMax)}`;
  if (isEvent(event, 'completion_failed')) return `The model failed: ${plainLine(event.code, 60)}`;
  return null;
}

/** The same of a question that is open. */
export const askingSpeech = (prompt: string): string => `Waiting for you: ${plainLine(prompt, spokenMax)}`;

const spokenMax = 600;

function speech(event: ThreadEvent): string | null {
  if (isEvent(event, 'message_accepted')) return textOf(event.content);
  if (isEvent(event, 'message_refused')) return `${event.code}: ${event.detail}`;
  if (isEvent(event, 'request_refused')) return `${event.request} ${event.code}`;
  if (isEvent(event, 'completion_requested')) return event.model;
  if (isEvent(event, 'completion_recorded'))
    return `${event.interrupted ? 'interrupted: ' : ''}${event.message.text || event.finish_reason}`;
  if (isEvent(event, 'completion_failed')) return `${event.code}: ${event.detail}`;
  return null;
}

function call(event: ThreadEvent): string | null {
  if (isEvent(event, 'tool_call_requested')) return `${event.operation} ${JSON.stringify(event.arguments)}`;
  if (isEvent(event, 'tool_call_settled')) return `${event.outcome}: ${textOf(event.content)}`;
  if (isEvent(event, 'choice_requested')) return event.prompt;
  if (isEvent(event, 'choice_assigned')) return `for ${event.assignees.join(', ') || 'none'}, by ${event.by}`;
  if (isEvent(event, 'approval_counted')) return `${event.edited === true ? 'edited, ' : ''}allowed by ${event.by}`;
  if (isEvent(event, 'choice_settled')) return `${event.decision ?? `choice ${String(event.selected)}`} by ${event.by}`;
  if (isEvent(event, 'callback_rejected')) return event.reason;
  return null;
}

function arrival(event: ThreadEvent): string | null {
  if (isEvent(event, 'subscription_event_received')) return `${event.final ? 'the last: ' : ''}${event.text}`;
  if (isEvent(event, 'child_spawned')) return `${event.instructions ?? event.reason}`;
  if (isEvent(event, 'child_reported')) return event.report;
  if (isEvent(event, 'external_event_received')) return `${event.source}: ${event.text}`;
  if (isEvent(event, 'parent_message_received')) return event.text;
  if (isEvent(event, 'schedule_came')) return `${event.skipped ? 'skipped: ' : ''}${textOf(event.content)}`;
  if (isEvent(event, 'oauth_requested')) return `until ${event.expires_at}`;
  if (isEvent(event, 'title_set')) return event.title;
  return null;
}

function rest(event: ThreadEvent): string | null {
  if (isEvent(event, 'thread_opened')) return `${event.agent.name} v${event.agent.version}`;
  if (isEvent(event, 'toolsets_loaded'))
    return event.toolsets.map((each) => `${each.tool_server}: ${each.tools.join(', ')}`).join('; ');
  if (isEvent(event, 'toolset_changed')) {
    const { added, removed, changed } = event;
    const parts = Object.entries({ added, removed, changed }).filter(([, names]) => names.length > 0);
    return `${event.tool_server}: ${parts.map(([what, names]) => `${what} ${names.join(', ')}`).join('; ')}`;
  }
  if (isEvent(event, 'toolset_rejected')) return `${event.tool_server}: ${event.problems.join('; ')}`;
  if (isEvent(event, 'timer_set')) return `${event.reason} at ${event.due}`;
  if (isEvent(event, 'budget_exceeded')) return `${event.budget}: ${event.used} of ${event.limit}`;
  if (isEvent(event, 'thread_closed')) return `by ${event.by}`;
  if (isEvent(event, 'content_erased')) return event.scope;
  return null;
}

/** What is left of an event of another kind: its own fields. */
function fields({
  position: _position,
  at: _at,
  type: _type,
  turn_id: _turn,
  cause: _cause,
  ...own
}: ThreadEvent): string {
  return Object.entries(own)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
