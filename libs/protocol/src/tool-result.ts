/**
 * Owns: what a tool result means, as far as the protocol says it.
 * Not here: whether the result is expected, and what the model is told.
 */
import type { ToolResult } from './callback.ts';
import type { ContentItem } from './content.ts';

/** RAP has no error message: an error is a result whose text starts like this. */
export const errorTextPrefix = 'Error: ';

/** Stands in for a result of which nothing can be read, so that the model is not left without an answer. */
export const unreadableResultText = '(The tool answered with nothing that this runtime can read.)';

/**
 * What the model gets of a result, before images are replaced for models that take none; never empty.
 * RAP tool-result: content wins over text. R44 A content of which no item is known gives way to the text.
 */
export function resultContent(result: Pick<ToolResult, 'text' | 'content'>): ContentItem[] {
  if (result.content !== undefined && result.content.length > 0) return result.content;
  return [{ type: 'text', text: result.text ?? unreadableResultText }];
}

/** Whether a result reports an error: its first text starts with `Error: `. RAP tool-result, Error Conventions. */
export function isErrorResult(result: Pick<ToolResult, 'text' | 'content'>): boolean {
  const first = resultContent(result).find((item) => item.type === 'text');
  return first?.type === 'text' && first.text.startsWith(errorTextPrefix);
}

/**
 * Whether a result opens a subscription. RAP subscription-events, Subscription tracking. R69
 * An error with `subscription: true` opens none: servers exist that flag a failed attempt.
 */
export function opensSubscription(result: Pick<ToolResult, 'text' | 'content' | 'subscription'>): boolean {
  return result.subscription && !isErrorResult(result);
}
