/**
 * Owns: the meaning of a tool result, as far as the protocol defines it.
 * Not here: whether the result is expected, and what the model gets of it.
 */
import type { ToolResult } from './callback.ts';
import type { ContentItem } from './content.ts';

/** RAP has no error message: an error is a result whose text starts like this. */
export const errorTextPrefix = 'Error: ';

/** Replaces an unreadable result, so that the model gets an answer. */
export const unreadableResultText = '(The tool answered with nothing that this runtime can read.)';

/**
 * The part of a result for the model, before images are replaced for models that accept none; never empty.
 * RAP tool-result: content wins over text. R44 If no item of the content is known, the text is used.
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
