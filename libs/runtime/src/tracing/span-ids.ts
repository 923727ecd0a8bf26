// Ids of spans and traces that are functions of the log: a process that takes a thread over gives the same ids.
import { hash, randomBytes } from 'node:crypto';
import type { SpanContext, ThreadKey } from '@dormouse/ports';

export type SpanSubject =
  'invoke_agent' | 'chat' | 'execute_tool' | 'POST' | 'settle_tool' | 'process inputs' | 'trace' | 'callback';

/** 64 hex digits. */
export const digestOf = (subject: SpanSubject, { tenant, thread }: ThreadKey, id: string): string =>
  hash('sha256', `${subject}\n${tenant}\n${thread}\n${id}`, 'hex');

/** 16 hex digits. */
export const spanIdOf = (subject: SpanSubject, key: ThreadKey, id: string): string =>
  digestOf(subject, key, id).slice(0, 16);

/** The id of the trace that begins with this input: 32 hex digits. */
export const traceIdOf = (key: ThreadKey, inputId: string): string => digestOf('trace', key, inputId).slice(0, 32);

/** The context of a commit that begins a trace: no span has it, and the first span of the trace has no parent. */
export const beginning = (traceId: string, sampled: boolean): SpanContext => ({
  traceId,
  spanId: traceId.slice(0, 16),
  sampled,
});

/** The span above, null where the context begins a trace. */
export const parentIdOf = (context: SpanContext): string | null => (isBeginning(context) ? null : context.spanId);

export const isBeginning = ({ traceId, spanId }: SpanContext): boolean => traceId.startsWith(spanId);

/** The context in the same trace with another span. */
export const inTrace = ({ traceId, sampled }: SpanContext, spanId: string): SpanContext => ({
  traceId,
  spanId,
  sampled,
});

/** For a span that no other process has to find: an attempt, a request. */
export const newSpanId = (): string => randomBytes(8).toString('hex');

export const newTraceId = (): string => randomBytes(16).toString('hex');
