// The durable events by type, as the OpenAPI document has them.
import type { components } from './generated/openapi.ts';

type Schemas = components['schemas'];

/** Any durable event, also of a type that this version does not know; the other fields depend on `type`. */
export type ThreadEvent = Pick<Schemas['ThreadClosedEvent'], 'position' | 'at' | 'turn_id' | 'cause'> & {
  readonly type: string;
} & { readonly [field: string]: unknown };

export type ContentItem = Schemas['ContentItem'];

/** The events that this version knows, by type. */
export type EventFields = { readonly [Known in Schemas['ThreadEvent'] as Known['type']]: Known };

/** Whether an event is of this type; its fields are typed then. */
export function isEvent<Type extends keyof EventFields>(
  event: ThreadEvent | Schemas['ThreadEvent'],
  type: Type,
): event is EventFields[Type] {
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
