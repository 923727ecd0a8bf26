// The trace context that goes out with a request. Only a well-formed `traceparent`; baggage never.
const traceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function traceHeaders(trace: string | null): { readonly traceparent?: string } {
  return trace !== null && traceparent.test(trace) ? { traceparent: trace } : {};
}
