// Attributes that several kinds of spans have.
import type { Span, SpanAttributes } from '@dormouse/ports';
import { attribute } from './semconv.ts';

/** Attributes that every span of a thread has. */
export function threadAttributes(
  { tenant, thread }: { readonly tenant: string; readonly thread: string },
  at: number,
): SpanAttributes {
  return {
    [attribute.tenant]: tenant,
    [attribute.thread]: thread,
    [attribute.conversation]: thread,
    [attribute.at]: new Date(at).toISOString(),
  };
}

export function serverAttributes(address: string | null): Span['attributes'] {
  const url = URL.parse(address ?? '');
  if (url === null) return {};
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { [attribute.serverAddress]: url.hostname, [attribute.serverPort]: port };
}
