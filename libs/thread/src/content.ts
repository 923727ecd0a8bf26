// Content as the log stores it: texts and images of people, tools and models. Owns the item shapes and nothing else.
//
// Invariants:
//   C1. An item is either inline or a reference: `blob` is the lower-case hex SHA-256 of the payload's bytes.
//   C2. A reference to text keeps the first characters as `preview`, so that a log is readable without the blob store.

/** Text of a person, a tool or the model. */
export interface TextItem {
  readonly type: 'text';
  readonly text: string;
}

/** Text that was too large for the log; the model gets the blob's text, people get the preview and a link. */
export interface TextReference {
  readonly type: 'text';
  readonly blob: string;
  readonly bytes: number;
  readonly preview: string;
}

/** An image; exactly one of `data` (base64) and `blob` is present. */
export interface ImageItem {
  readonly type: 'image';
  readonly mediaType: string;
  readonly data?: string;
  readonly blob?: string;
  readonly bytes?: number;
}

export type ContentItem = TextItem | TextReference | ImageItem;
export type Content = readonly ContentItem[];

/** One piece of a tool's display for people; the model never sees it. Unknown kinds are skipped on arrival. */
export type DisplaySegment =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'diff'; readonly content: { readonly path: string; readonly patch: string } }
  | {
      readonly type: 'image';
      readonly content: { readonly data?: string; readonly blob?: string; readonly mediaType: string };
    };

export const text = (value: string): TextItem => ({ type: 'text', text: value });

/** The text of some content as one string: images and references become short placeholders. */
export function plainText(content: Content): string {
  return content.map(itemText).join('\n');
}

function itemText(item: ContentItem): string {
  if (item.type === 'image') return `[image ${item.mediaType}]`;
  return 'text' in item ? item.text : item.preview;
}

/** What the model reads before an event from outside. */
export function externalEventNote(event: { readonly source: string; readonly eventId: string | null }): string {
  return `[event from ${event.source}${event.eventId === null ? '' : `, id ${event.eventId}`}]`;
}
