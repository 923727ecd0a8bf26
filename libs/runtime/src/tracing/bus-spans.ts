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

export const inputBusWithSpans = (bus: InputBus, tracing: Tracing): InputBus => ({
  publish: (key, input, trace) => sent(tracing, 'inputs', key, trace ?? null, (on) => bus.publish(key, input, on)),
  consume: (consumer) => bus.consume(consumer),
});

export const workBusWithSpans = (bus: WorkBus, tracing: Tracing): WorkBus => ({
  publish: (topic, message) =>
    sent(tracing, topic, message, message.trace, (trace) => bus.publish(topic, { ...message, trace })),
  consume: (topic, handle, shares) => bus.consume(topic, handle, shares),
});

async function sent<Answer>(
  { tracer, wallNow }: Tracing,
  topic: BusTopic,
  key: ThreadKey,
  trace: string | null,
  publish: (trace: string | null) => Promise<Answer>,
): Promise<Answer> {
  const parent = tracer.isOn ? parseTraceparent(trace) : null;
  if (parent === null) return publish(trace); // (B1)
  const context = inTrace(parent, newSpanId());
  const startedAt = wallNow();
  const record = (error: string | null): void =>
    tracer.record({
      ...{ name: `send ${topic}`, kind: 'producer', context, parentId: parentIdOf(parent), startedAt },
      ...{ endedAt: wallNow(), attributes: attributesOf(topic, 'send', key, startedAt), links: [], error },
    });
  try {
    const answer = await publish(traceparentOf(context));
    record(null);
    return answer;
  } catch (error) {
    record(error instanceof Fault ? error.code : 'INTERNAL');
    throw error;
  }
}

/** Runs the handler of a record in a CONSUMER span of its own; the handler's message has that span's context. (B2) */
export async function processed<Message extends Owed<unknown>>(
  { tracer, wallNow }: Tracing,
  topic: 'dispatches' | 'notices',
  message: Message,
  handle: (message: Message) => Promise<void>,
): Promise<void> {
  const parent = tracer.isOn ? parseTraceparent(message.trace) : null;
  if (parent === null) return handle(message);
  const context = inTrace(parent, newSpanId());
  const startedAt = wallNow();
  let error: string | null = 'INTERNAL';
  try {
    await handle({ ...message, trace: traceparentOf(context) });
    error = null;
  } catch (thrown) {
    if (thrown instanceof Fault) error = thrown.code;
    throw thrown;
  } finally {
    tracer.record({
      ...{ name: `process ${topic}`, kind: 'consumer', context, parentId: parentIdOf(parent), startedAt },
      ...{ endedAt: wallNow(), attributes: attributesOf(topic, 'process', message, startedAt), links: [], error },
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

const attributesOf = (
  topic: BusTopic,
  operation: 'send' | 'process',
  key: ThreadKey,
  at: number,
): Span['attributes'] => ({
  ...threadAttributes(key, at),
  [attribute.messagingSystem]: 'kafka',
  [attribute.messagingOperation]: operation,
  [attribute.messagingOperationType]: operation,
  [attribute.messagingDestination]: topic,
});
