// A tool that the runtime itself offers to a model: one file per tool, with its name, its schema and what it does. Each
// is settled inside the decision that requests it.
import { text } from '../content.ts';
import type { Draft } from '../draft.ts';
import { settle } from '../rules/call.ts';
import type { Call } from '../thread.ts';

export interface BuiltInTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Offered to child threads only. */
  readonly childrenOnly: boolean;
  /** Settles the call in the draft. */
  run(draft: Draft, call: Call): AfterAnswer | null;
}

/** What a call asks for when the whole answer has been read. */
export type AfterAnswer =
  { readonly wish: 'sleep'; readonly until: number } | { readonly wish: 'close'; readonly report: string | null };

/** A property that must be a text of at least one character. */
export const words = (description: string) => ({ type: 'string', minLength: 1, description }) as const;

/** An object whose properties are all required, unless `optional`. */
export function schemaOf(
  properties: Readonly<Record<string, object>>,
  { optional = false }: { readonly optional?: boolean } = {},
): BuiltInTool['inputSchema'] {
  const required = optional ? {} : { required: Object.keys(properties) };
  return { type: 'object', properties, ...required, additionalProperties: false };
}

/** A text argument; empty where it is missing or no text. */
export function word(call: Call, name: string): string {
  const value = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
  return typeof value === 'string' ? value : '';
}

export function answer(draft: Draft, call: Call, result: string): null {
  draft.emit({ type: 'ToolCallSettled', toolCallId: call.toolCallId, outcome: 'result', content: [text(result)] });
  return null;
}

export function fail(draft: Draft, call: Call, why: string): null {
  settle(draft, call, 'error', 'ARGUMENTS_INVALID', why);
  return null;
}
