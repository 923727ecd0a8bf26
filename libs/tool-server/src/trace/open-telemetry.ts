/**
 * Owns: the OpenTelemetry that a server's author has set up in this process. It is found without depending on it: the
 * API of every version 1.x keeps what an SDK registers in one global object.
 *
 * G1. Without a registered provider there are no spans. One that is registered later counts from then on.
 * G2. A failure inside OpenTelemetry changes nothing but its spans.
 * G3. A span's context is passed on explicitly: it does not depend on what runs between two steps of a call.
 */
import { parseTraceparent, type SpanContext, traceparentOf } from './traceparent.ts';

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A span that has begun. */
export interface BegunSpan {
  /** Of the span; null when OpenTelemetry gives it none. */
  readonly traceparent: string | null;
  /** Runs the work as the span's own: what the author's code begins in it is below the span. */
  readonly run: <Result>(work: () => Result) => Result;
  /** `error`: a code for a span that failed, else null. No words: they may be a user's. */
  readonly end: (error: string | null, attributes?: Attributes) => void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: Attributes;
  /** `traceparent` of the span above; null for the first span of a trace. */
  readonly parent: string | null;
  /** `traceparent` of a span that caused it and is not above it, or null. */
  readonly link: string | null;
}

/** Null without OpenTelemetry. (G1) */
export function beginSpan({ name, kind, attributes, parent, link }: SpanStart): BegunSpan | null {
  const api = registered();
  if (api?.trace === undefined) return null;
  try {
    const above = parseTraceparent(parent);
    const linked = parseTraceparent(link);
    const context = above === null ? emptyContext : emptyContext.setValue(spanKey, remoteSpan(above));
    const options = {
      ...{ kind: kinds[kind], attributes, root: above === null },
      links: linked === null ? [] : [{ context: { ...linked, isRemote: true } }],
    };
    const span = api.trace.getTracer(scope).startSpan(name, options, context);
    return begun(api, span, context.setValue(spanKey, span));
  } catch {
    return null; // (G2)
  }
}

function begun(api: OpenTelemetry, span: Span, context: Context): BegunSpan {
  return {
    traceparent: traceparentOf(span.spanContext()),
    run: (work) => (api.context === undefined ? work() : api.context.with(context, work)),
    end: (error, attributes = {}) => {
      try {
        span.setAttributes(error === null ? attributes : { ...attributes, 'error.type': error });
        if (error !== null) span.setStatus({ code: errorStatus });
        span.end();
      } catch {
        // (G2)
      }
    },
  };
}

/** `traceparent` of the span in which the author's code runs, or null. */
export function activeTraceparent(): string | null {
  try {
    const span = registered()?.context?.active().getValue(spanKey) as Span | undefined;
    return span === undefined ? null : traceparentOf(span.spanContext());
  } catch {
    return null; // (G2)
  }
}

const scope = '@dormouse/tool-server';
const kinds = { server: 1, client: 2 } as const;
const errorStatus = 2;

/** What is used of the API's objects. */
interface OpenTelemetry {
  readonly trace?: {
    getTracer(name: string): { startSpan(name: string, options: object, context: Context): Span };
  };
  readonly context?: { active(): Context; with<Result>(context: Context, work: () => Result): Result };
}

interface Span {
  spanContext(): SpanContext;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

const globalKey = Symbol.for('opentelemetry.js.api.1');
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');

const registered = (): OpenTelemetry | undefined => (globalThis as { readonly [globalKey]?: OpenTelemetry })[globalKey];

const remoteSpan = (context: SpanContext): Pick<Span, 'spanContext'> & { isRecording(): boolean } => ({
  spanContext: () => ({ ...context, isRemote: true }) as SpanContext,
  isRecording: () => false,
});

const contextOf = (values: ReadonlyMap<symbol, unknown>): Context => ({
  getValue: (key) => values.get(key),
  setValue: (key, value) => contextOf(new Map([...values, [key, value]])),
  deleteValue: (key) => contextOf(new Map([...values].filter(([known]) => known !== key))),
});

const emptyContext = contextOf(new Map());
