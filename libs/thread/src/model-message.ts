// What the model sees, independent of any provider.
import type { Content } from './content.ts';
import type { Outcome } from './event.ts';

export interface ModelToolCall {
  /** Our call id; the provider's own id never comes back. */
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
