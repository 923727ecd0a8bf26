// Spans of a bus between processes: `send <topic>` by the process that publishes, `process <topic>` by the one that
// takes. The topic is written without an installation's prefix.
//
// Invariants:
//   B1. A record carries the context of its PRODUCER span. One without a trace passes as it is.
//   B2. `process inputs` is recorded with the commit that decides the input (slice-tracing.ts): only there the trace
//       that the input goes on in is known. `process dispatches` and `process notices` end with their handler.
import {
  Fault,
  type InputBus,
  type Owed,
  parseTraceparent,
  type Span,
  type SpanContext,
  type ThreadKey,
  traceparentOf,
  type WorkBus,
} from '@dormouse/ports';
import { threadAttributes } from './attributes.ts';
import { attribute } from './semconv.ts';
import { inTrace, newSpanId, parentIdOf } from './span-ids.ts';
import type { Tracing } from './tracing.ts';

export type BusTopic = 'inputs' | 'dispatches' | 'notices';
type Operation = 'send' | 'process';

export const inputBusWithSpans = (bus: InputBus, tracing: Tracing): InputBus => ({
  publish: (key, input, trace = null) =>
    inSpan(tracing, 'send', 'inputs', key, trace, (on) => bus.publish(key, input, on)),
  consume: (consumer) => bus.consume(consumer),
});

export const workBusWithSpans = (bus: WorkBus, tracing: Tracing): WorkBus => ({
  publish: (topic, message) =>
    inSpan(tracing, 'send', topic, message, message.trace, (trace) => bus.publish(topic, { ...message, trace })),
  consume: (topic, handle, shares) => bus.consume(topic, handle, shares),
});

/** Runs the handler of a record in a CONSUMER span of its own; the handler's message has that span's context. (B2) */
export const processed = <Message extends Owed<unknown>>(
  tracing: Tracing,
  topic: 'dispatches' | 'notices',
  message: Message,
  handle: (message: Message) => Promise<void>,
): Promise<void> =>
  inSpan(tracing, 'process', topic, message, message.trace, (trace) =>
    handle(trace === message.trace ? message : { ...message, trace }),
  );

/** Does the work in a span below `trace`, whose context it gets; without a trace as it is. (B1) */
async function inSpan<Answer>(
  { tracer, wallNow }: Tracing,
  operation: Operation,
  topic: BusTopic,
  key: ThreadKey,
  trace: string | null,
  work: (trace: string | null) => Promise<Answer>,
): Promise<Answer> {
  const parent = tracer.isOn ? parseTraceparent(trace) : null;
  if (parent === null) return work(trace);
  const context = inTrace(parent, newSpanId());
  const startedAt = wallNow();
  let error: string | null = null;
  try {
    return await work(traceparentOf(context));
  } catch (thrown) {
    error = thrown instanceof Fault ? thrown.code : 'INTERNAL';
    throw thrown;
  } finally {
    tracer.record({
      name: `${operation} ${topic}`,
      kind: operation === 'send' ? 'producer' : 'consumer',
      context,
      parentId: parentIdOf(parent),
      startedAt,
      endedAt: wallNow(),
      attributes: attributesOf(topic, operation, key, startedAt),
      links: [],
      error,
    });
  }
}

/** The CONSUMER span of an input that was decided. */
export const processedInput = (
  key: ThreadKey,
  span: Pick<Span, 'context' | 'startedAt' | 'endedAt' | 'links'> & { readonly parent: SpanContext },
  at: number,
): Span => ({
  name: 'process inputs',
  kind: 'consumer',
  ...{ context: span.context, parentId: parentIdOf(span.parent), startedAt: span.startedAt, endedAt: span.endedAt },
  attributes: attributesOf('inputs', 'process', key, at),
  links: span.links,
  error: null,
});

const attributesOf = (topic: BusTopic, operation: Operation, key: ThreadKey, at: number): Span['attributes'] => ({
  ...threadAttributes(key, at),
  [attribute.messagingSystem]: 'kafka',
  [attribute.messagingOperation]: operation,
  [attribute.messagingOperationType]: operation,
  [attribute.messagingDestination]: topic,
});
