// What the model sees, independent of any provider.
import type { Content, ContentItem } from './content.ts';
import type { Outcome } from './event.ts';

export interface ModelToolCall {
  /** The runtime's call id; the provider's own id is never sent back. */
  readonly toolCallId: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ModelToolResult {
  readonly toolCallId: string;
  readonly operation: string;
  readonly outcome: Outcome | 'still_running';
  readonly content: Content;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly content: Content }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning?: string;
      readonly toolCalls: readonly ModelToolCall[];
    }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] };

const isReference = (item: ContentItem): boolean => 'blob' in item && item.blob !== undefined;

/** Whether some of its content is a payload in the blob store. */
export function hasReference(message: ModelMessage): boolean {
  switch (message.role) {
    case 'user':
      return message.content.some(isReference);
    case 'assistant':
      return false;
    case 'tool':
      return message.results.some((result) => result.content.some(isReference));
  }
}
