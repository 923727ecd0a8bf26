/**
 * Owns: what a handler may return, and the result message it becomes.
 *
 * U1. A string is the text; any other JSON value is its JSON text; no value at all is an error, never an empty result.
 *     T18 T20
 * U2. An error is a text that begins with `Error: ` and says what would help; never a stack trace. T18 T19
 * U3. An image has a text before it for models without vision, which is the result's text too for runtimes that read no
 *     content; among segments it is followed by a text, and a text is the last segment. T21
 */
import { type ContentItem, type DisplaySegment, errorTextPrefix } from '@dormouse/protocol';

const summaryCharactersMax = 120;

/** A result with more than a text; made by `image`, `failed` and `shownAs`. */
export class ToolOutput {
  readonly text?: string;
  readonly content?: readonly ContentItem[];
  readonly displayAs?: readonly DisplaySegment[];
  constructor(fields: Pick<ToolOutput, 'text' | 'content' | 'displayAs'>) {
    if (fields.text !== undefined) this.text = fields.text;
    if (fields.content !== undefined) this.content = fields.content;
    if (fields.displayAs !== undefined) this.displayAs = fields.displayAs;
  }
}

/** What a handler returns: a text, a result with more than a text, or any JSON value. */
export type HandlerOutput = ToolOutput | string | number | boolean | object | null | undefined;

/** Thrown by a handler to end its call with this error; the message goes to the model, unlike that of other errors. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** An error result: say what went wrong, and what would work. */
export function failed(sentence: string): ToolOutput {
  return new ToolOutput({ text: sentence.startsWith(errorTextPrefix) ? sentence : `${errorTextPrefix}${sentence}` });
}

/** An image for the model and for users; `description` replaces it wherever it cannot be seen. (U3) */
export function image(picture: {
  readonly data: Uint8Array | string;
  /** For example `image/png`. */
  readonly mediaType: string;
  readonly description: string;
}): ToolOutput {
  const data = typeof picture.data === 'string' ? picture.data : Buffer.from(picture.data).toString('base64');
  const { mediaType, description } = picture;
  if (description.trim() === '') throw new RangeError('an image needs a description');
  return new ToolOutput({
    text: description,
    content: [
      { type: 'text', text: description },
      { type: 'image', data, mediaType },
    ],
    displayAs: [
      { type: 'image', content: { data, mediaType } },
      { type: 'text', content: summaryOf(description) },
    ],
  });
}

/** A segment for users: a unified diff of one file. */
export function diff(path: string, patch: string): DisplaySegment {
  return { type: 'diff', content: { path, patch } };
}

/**
 * The same result for the model, and these segments for users, best first. `summary` is the short text that comes last;
 * default: the first line of the result. (U3)
 */
export function shownAs(output: HandlerOutput, segments: readonly DisplaySegment[], summary?: string): ToolOutput {
  const result = toOutput(output);
  const last = segments.at(-1);
  const text = summaryOf(summary ?? result.text ?? 'Done.');
  const displayAs: DisplaySegment[] =
    last?.type === 'text' ? [...segments] : [...segments, { type: 'text', content: text }];
  const isRedundant = displayAs.length === 1 && displayAs[0]?.content === result.text; // T21: nothing beyond the text
  const { text: ownText, content } = result;
  return new ToolOutput({ text: ownText, content, displayAs: isRedundant ? undefined : displayAs });
}

/** (U1) */
export function toOutput(output: HandlerOutput): ToolOutput {
  if (output instanceof ToolOutput) return output.text || output.content?.length ? output : nothing();
  if (typeof output === 'string') return output === '' ? nothing() : new ToolOutput({ text: output });
  const text = output === undefined || output === null ? undefined : JSON.stringify(output);
  return text === undefined ? nothing() : new ToolOutput({ text });
}

const nothing = (): ToolOutput =>
  failed('the tool returned nothing. Its work may be done; look before calling it again.');

/** (U2) The text that the model gets for a thrown value. */
export function outputOfThrown(error: unknown): ToolOutput {
  if (error instanceof ToolError) return failed(error.message);
  const kind = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : 'unknown';
  return failed(`the tool broke (${kind}). Its operator finds the cause in its log; calling it again may help.`);
}

function summaryOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > summaryCharactersMax ? `${line.slice(0, summaryCharactersMax - 1)}…` : line;
}
