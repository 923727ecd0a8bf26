// A view of a tool for people: text as it is, anything else as JSON; a part of a long one.
import { cleanText } from '../clean-text.ts';

const linesMax = 20;
/** Fields under which tools commonly put a text. */
const textFields = ['patch', 'text', 'markdown', 'content'] as const;

/** Several lines; '' for a view that was cleared. */
export function viewText(content: unknown): string {
  const lines = cleanText(wordsOf(content)).trimEnd().split('\n');
  const more = lines.length - linesMax;
  return more > 0 ? [...lines.slice(0, linesMax), `… ${more} more lines`].join('\n') : lines.join('\n');
}

function wordsOf(content: unknown): string {
  if (content === null || content === undefined) return '';
  if (typeof content !== 'object') return String(content as string | number | boolean);
  const fields = Object.entries(content);
  if (fields.length === 0) return '';
  const [only] = fields;
  const isText = fields.length === 1 && textFields.some((name) => name === only?.[0]);
  return isText && typeof only?.[1] === 'string' ? only[1] : JSON.stringify(content, null, 1);
}
