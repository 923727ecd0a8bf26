export { inputBusWithSpans, processed, workBusWithSpans } from './bus-spans.ts';
export { callbackContext } from './callback-span.ts';
export { createContentSwitch, tracerWithSwitch } from './content-switch.ts';
export {
  attribute,
  type AttributeDescription,
  type AttributeName,
  attributeTable,
  type SpanDescription,
  spanTable,
} from './semconv.ts';
export { inTrace, newSpanId, newTraceId } from './span-ids.ts';
export { threadAttributes } from './attributes.ts';
export { tracedTransport } from './traced-transport.ts';
export { offTracing, type Tracing } from './tracing.ts';
