export { inputBusWithSpans, processed, workBusWithSpans } from './bus-spans.ts';
export { attribute } from './semconv.ts';
export { inTrace, newSpanId, newTraceId } from './span-ids.ts';
export { threadAttributes } from './attributes.ts';
export { tracedTransport } from './traced-transport.ts';
export { offTracing, type Tracing } from './tracing.ts';
