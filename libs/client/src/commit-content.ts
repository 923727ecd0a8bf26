// Reads the content of a commit: where the history of its thread begins, and which payloads it refers to.
import type { components } from './generated/openapi.ts';

type Stored = Pick<components['schemas']['Commit'], 'kid' | 'body'>;

export interface Origin {
  readonly threadId: string;
  readonly position: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Where the history of a thread with this first commit begins; `unclear` when it inherits, but not from where. */
export function originOf(first: Stored): Origin | null | 'unclear' {
  const events = eventsOf(first) ?? [];
  const opened = events.find(({ type }) => type === 'ThreadOpened');
  const from = opened?.['parent'] ?? events.find(({ type }) => type === 'ThreadForked')?.['from'];
  if (from === undefined) return null;
  return isOrigin(from) ? from : 'unclear';
}

/** The content of a commit; null when it cannot be read, because it is encrypted or holds no events. */
export function eventsOf({ kid, body }: Stored): readonly Fields[] | null {
  if (kid !== null) return null;
  const content = parsed(body);
  const events = isFields(content) ? content['events'] : null;
  return Array.isArray(events) && events.every(isFields) ? events : null;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The references in a commit's events; arguments of a call are the model's own words. */
export function namedBlobs(commit: Stored): ReadonlySet<string> {
  const found = new Set<string>();
  if (!commit.body.includes('"blob"')) return found;
  const left: unknown[] = [...(eventsOf(commit) ?? [])];
  while (left.length > 0) {
    const value = left.pop(); // any depth
    if (!isFields(value)) continue;
    if (isReference(value)) found.add(value.blob);
    for (const [name, member] of Object.entries(value)) if (name !== 'arguments') left.push(member);
  }
  return found;
}

/** An array, too. */
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const isOrigin = (value: unknown): value is Origin =>
  isFields(value) &&
  typeof value['threadId'] === 'string' &&
  Number.isSafeInteger(value['position']) &&
  Number(value['position']) > 0;

const isReference = (value: Fields): value is Fields & { readonly blob: string } =>
  typeof value['blob'] === 'string' &&
  /^[0-9a-f]{64}$/.test(value['blob']) &&
  ('mediaType' in value || 'preview' in value);
