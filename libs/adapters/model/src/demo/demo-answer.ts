// How the demo model phrases tool results for a person.
import { type ModelToolResult, plainText, unreachable } from '@dormouse/thread';

const answerCharactersMax = 2_000;

export function sentenceFor(results: readonly ModelToolResult[]): string {
  return results.map(sentence).join('\n');
}

function sentence(result: ModelToolResult): string {
  const said = shorten(readable(plainText(result.content).trim()));
  switch (result.outcome) {
    case 'result':
      return said === '' ? `${result.operation} is done.` : `${result.operation} says: ${said}`;
    case 'still_running':
      return `${result.operation} is still running; I will tell you when it is done.`;
    case 'error':
      return `${result.operation} did not work: ${said}`;
    case 'denied':
      return `I was not allowed to use ${result.operation}, so I left it alone.`;
    case 'interrupted':
      return `${result.operation} was interrupted before it answered.`;
    case 'timed_out':
      return `${result.operation} did not answer in time.`;
    case 'outcome_unknown':
      return `I do not know whether ${result.operation} has run: it may have.`;
    default:
      return unreachable(result.outcome);
  }
}

/** A flat JSON object becomes `key: value` pairs; any other text stays unchanged. */
function readable(text: string): string {
  if (!text.startsWith('{')) return text;
  const fields = parseObject(text);
  if (fields === null) return text;
  return Object.entries(fields)
    .map(([key, value]) => `${key.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>; // begins with `{`, so it is an object or not JSON
  } catch {
    return null; // R46: plain text is as good as JSON.
  }
}

function shorten(text: string): string {
  return text.length <= answerCharactersMax ? text : `${text.slice(0, answerCharactersMax)}…`;
}
