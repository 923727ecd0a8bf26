// The durable events by type, as the API publishes them: stored for ever, shapes never change, new ones may appear. The
// OpenAPI document leaves their fields open; this file closes them for readers.
import type { components } from './generated/openapi.ts';

/** Any durable event; fields beyond these depend on `type`. */
export type ThreadEvent = components['schemas']['ThreadEvent'];

export type ContentItem =
  /** With `blob` the text is the beginning of one that is too large for the log. */
  | { readonly type: 'text'; readonly text: string; readonly blob?: string; readonly bytes?: number }
  | { readonly type: 'image'; readonly media_type: string; readonly data?: string; readonly blob?: string };

export interface EventFields {
  readonly thread_opened: {
    readonly agent: { readonly name: string; readonly version: number };
    readonly user_id?: string;
    readonly parent?: { readonly thread_id: string; readonly position: number };
  };
  readonly toolsets_loaded: {
    readonly toolsets: readonly {
      readonly tool_server: string;
      readonly name: string;
      readonly sha256: string;
      readonly tools: readonly string[];
      readonly stale: boolean;
    }[];
    readonly withheld: readonly { readonly tool: string; readonly reason: string }[];
  };
  readonly toolset_rejected: { readonly tool_server: string; readonly problems: readonly string[] };
  readonly message_accepted: { readonly message_id: string; readonly content: readonly ContentItem[] };
  readonly message_queued: { readonly message_id: string };
  readonly message_refused: { readonly message_id: string; readonly code: string; readonly detail: string };
  readonly request_refused: {
    readonly request_id: string;
    readonly request: string;
    readonly code: string;
    readonly detail: string;
  };
  readonly completion_requested: { readonly completion_id: string; readonly model: string };
  readonly completion_recorded: {
    readonly completion_id: string;
    readonly message: { readonly text: string; readonly reasoning?: string };
    readonly finish_reason: string;
    readonly interrupted: boolean;
    readonly final: boolean;
  };
  readonly completion_failed: {
    readonly completion_id: string;
    readonly code: string;
    readonly detail: string;
    readonly retryable: boolean;
  };
  readonly tool_call_requested: {
    readonly tool_call_id: string;
    readonly operation: string;
    readonly tool_server?: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
  readonly tool_call_settled: {
    readonly tool_call_id: string;
    readonly outcome: string;
    readonly content: readonly ContentItem[];
    readonly display_as?: readonly { readonly type: string; readonly content?: unknown }[];
  };
  readonly toolset_changed: {
    readonly tool_server: string;
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  readonly tool_call_late_result: { readonly tool_call_id: string; readonly used: boolean };
  readonly subscription_opened: { readonly tool_call_id: string };
  readonly subscription_event_received: {
    readonly tool_call_id: string;
    readonly event_id?: string;
    readonly text: string;
    readonly associative: boolean;
    readonly final: boolean;
    readonly child_id?: string;
  };
  readonly subscription_closed: { readonly tool_call_id: string; readonly reason: string };
  readonly child_spawned: { readonly child_id: string; readonly reason: string; readonly instructions?: string };
  readonly child_reported: { readonly child_id: string; readonly report: string; readonly closed: boolean };
  readonly parent_message_received: { readonly text: string };
  readonly title_set: { readonly title: string };
  readonly oauth_requested: { readonly tool_call_id: string; readonly expires_at: string };
  readonly migration_started: { readonly migration_id: string };
  readonly migration_ended: {
    readonly migration_id: string;
    readonly ok: boolean;
    readonly migrated: readonly string[];
    readonly problems: readonly string[];
  };
  readonly schedule_came: {
    readonly schedule_id: string;
    readonly scheduled_for: string;
    readonly missed: number;
    readonly skipped: boolean;
    readonly content: readonly ContentItem[];
  };
  readonly tool_call_detached: { readonly tool_call_id: string };
  readonly choice_requested: {
    readonly choice_id: string;
    readonly kind: string;
    readonly tool_call_id: string;
    readonly prompt: string;
    readonly choices: readonly string[];
  };
  readonly choice_settled: {
    readonly choice_id: string;
    readonly decision?: string;
    readonly selected?: number;
    readonly by: string;
    readonly reason?: string;
  };
  readonly timer_set: { readonly timer_id: string; readonly due: string; readonly reason: string };
  readonly timer_fired: { readonly timer_id: string; readonly scheduled_for: string };
  readonly timer_cancelled: { readonly timer_id: string };
  readonly budget_exceeded: { readonly budget: string; readonly used: number; readonly limit: number };
  readonly callback_rejected: { readonly tool_call_id: string; readonly reason: string };
  readonly thread_closed: { readonly by: string };
}

/** Whether an event is of this type; its fields are typed then. */
export function isEvent<Type extends keyof EventFields>(
  event: ThreadEvent,
  type: Type,
): event is ThreadEvent & { readonly type: Type } & EventFields[Type] {
  return event.type === type;
}

/** The text of some content; images and references become short placeholders. */
export function textOf(content: readonly ContentItem[]): string {
  return content
    .map((item) => {
      if (item.type === 'image') return `[image ${item.media_type}]`;
      return item.blob === undefined ? item.text : `${item.text}… [${item.bytes ?? '?'} bytes]`;
    })
    .join('\n');
}
