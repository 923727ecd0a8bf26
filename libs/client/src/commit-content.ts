// What a reader of a log needs of what is in a commit: where the history of its thread begins, and which payloads it refers to.
import type { Commit } from './verify-chain.ts';

export interface Origin {
  readonly threadId: string;
  readonly position: number;
}

interface StoredEvent {
  readonly type?: unknown;
  readonly parent?: Origin;
  readonly from?: Origin;
}

/** Where the history of a thread with this first commit begins. */
export function originOf(first: Commit): Origin | null {
  const events = eventsOf(first);
  const opened = events.find(({ type }) => type === 'ThreadOpened');
  return opened?.parent ?? events.find(({ type }) => type === 'ThreadForked')?.from ?? null;
}

function eventsOf({ kid, body }: Commit): readonly StoredEvent[] {
  if (kid !== null) return [];
  return (JSON.parse(body) as { readonly events: readonly StoredEvent[] }).events; // the chain's check has read it
}

/** What the content of a commit's events refers to; arguments of a call are the model's own words. */
export function namedBlobs(commit: Commit): ReadonlySet<string> {
  const found = new Set<string>();
  if (!commit.body.includes('"blob"')) return found;
  JSON.stringify(eventsOf(commit), (name, value: unknown) => {
    if (name === 'arguments') return undefined;
    if (isReference(value)) found.add(value.blob);
    return value;
  });
  return found;
}

const isReference = (value: unknown): value is { readonly blob: string } =>
  typeof value === 'object' &&
  value !== null &&
  'blob' in value &&
  typeof value.blob === 'string' &&
  /^[0-9a-f]{64}$/.test(value.blob) &&
  ('mediaType' in value || 'preview' in value);
