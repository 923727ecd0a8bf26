// Which blobs some events refer to, wherever their content is. Arguments of a call are the model's own words: what
// looks like a reference in them is none.
import type { RecordedEvent } from '@dormouse/thread';

const hash = /^[0-9a-f]{64}$/;

export function namedBlobs(events: readonly RecordedEvent[]): ReadonlySet<string> {
  const found = new Set<string>();
  JSON.stringify(events, (name, value: unknown) => {
    if (name === 'arguments') return undefined;
    if (isReference(value)) found.add(value.blob);
    return value;
  });
  return found;
}

/** An image, or a text that keeps a preview. */
const isReference = (value: unknown): value is { readonly blob: string } =>
  typeof value === 'object' &&
  value !== null &&
  'blob' in value &&
  typeof value.blob === 'string' &&
  hash.test(value.blob) &&
  ('mediaType' in value || 'preview' in value);
