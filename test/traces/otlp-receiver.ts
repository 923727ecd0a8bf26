// A receiver of OTLP over HTTP with JSON, as a collector is: what was sent to it, as plain spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../e2e/conversation.ts';

type AttributeValue = string | number | boolean | readonly AttributeValue[];

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly error: string | null;
}

export interface OtlpReceiver {
  readonly url: string;
  /** In the order in which they came. */
  readonly spans: readonly ReceivedSpan[];
  /** Every byte that came, as text. */
  readonly raw: readonly string[];
  close(): Promise<void>;
}

interface Wire {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: string | number;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
    readonly arrayValue?: { readonly values: readonly Wire['value'][] };
  };
}

interface WireSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Wire[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const raw: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      raw.push(text);
      spans.push(...spansOf(JSON.parse(text)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    raw,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What is sent over OTLP, and what a trace store answers in the same shape. */
export interface OtlpTraces {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Wire[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export const spansOf = ({ resourceSpans = [] }: OtlpTraces): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => received(service, span)));
  });

const received = (service: string, span: WireSpan): ReceivedSpan => ({
  service,
  name: span.name,
  kind: kinds[span.kind] ?? '',
  traceId: span.traceId,
  spanId: span.spanId,
  parentId: span.parentSpanId === undefined || span.parentSpanId === '' ? null : span.parentSpanId,
  startMs: Number(span.startTimeUnixNano) / 1e6,
  endMs: Number(span.endTimeUnixNano) / 1e6,
  attributes: attributesOf(span.attributes ?? []),
  links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
  error: span.status?.code === 2 ? (span.status.message ?? '') : null,
});

const attributesOf = (wires: readonly Wire[]): Record<string, AttributeValue> =>
  Object.fromEntries(wires.map(({ key, value }) => [key, valueOf(value)]));

function valueOf(value: Wire['value']): AttributeValue {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(valueOf);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue);
}

/** The trace of the last span with this name, once it has so many spans. */
export const traceOf = ({ spans }: OtlpReceiver, name: string, count: number): Promise<readonly ReceivedSpan[]> =>
  eventually(async () => {
    const last = spans.findLast((span) => span.name === name);
    const trace = spans.filter(({ traceId }) => traceId === last?.traceId);
    return trace.length >= count && trace;
  });

/** One line per span, children below their parents and in the order of their names: `  name (kind)`. */
export function treeOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const lines: string[] = [];
  const add = (span: ReceivedSpan, depth: number): void => {
    lines.push(`${'  '.repeat(depth)}${span.name} (${span.kind})`);
    for (const child of inOrder(spans.filter(({ parentId }) => parentId === span.spanId))) add(child, depth + 1);
  };
  for (const root of inOrder(spans.filter(({ parentId }) => parentId === null || !known.has(parentId)))) add(root, 0);
  return lines;
}

const inOrder = (spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] =>
  spans.toSorted((a, b) => a.name.localeCompare(b.name) || a.startMs - b.startMs);
