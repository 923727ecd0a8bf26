// The trace context that goes out with a request. Only a well-formed `traceparent`; baggage never.
import { parseTraceparent } from '@dormouse/ports';

export function traceHeaders(trace: string | null): { readonly traceparent?: string } {
  return trace === null || parseTraceparent(trace) === null ? {} : { traceparent: trace };
}
