// A transport to tool servers whose traced POSTs are CLIENT spans, one per attempt.
//
// Invariants:
//   T1. A tool server sees the context of the attempt, never that of the span above it; baggage never. Where its
//       registration says `fresh`, it sees a new trace that the span links; where it says `none`, nothing.
//   T2. A request without a valid `traceparent` passes as it is.
//   T3. It has no attribute of the GenAI conventions but the conversation: a backend for agents would take an attempt
//       for one more run of the tool.
import {
  parseTraceparent,
  type SendOutcome,
  type SendRequest,
  type SpanContext,
  type ToolServer,
  type ToolTransport,
  traceparentOf,
} from '@dormouse/ports';
import { serverAttributes, threadAttributes } from './attributes.ts';
import { attribute } from './semconv.ts';
import { inTrace, newSpanId, newTraceId, spanIdOf } from './span-ids.ts';
import type { Tracing } from './tracing.ts';

export function tracedTransport(transport: ToolTransport, { tracer, wallNow }: Tracing): ToolTransport {
  if (!tracer.isOn) return transport;

  async function post(request: SendRequest): Promise<SendOutcome> {
    const parent = parseTraceparent(request.headers['traceparent']);
    if (parent === null) return transport.post(request); // (T2)
    const { about, server, url } = request;
    const spanId = about === undefined ? newSpanId() : spanIdOf('POST', about, `${about.toolCallId} ${about.attempt}`);
    const context = inTrace(parent, spanId);
    const startedAt = wallNow();
    const shown = shownTo(server, context);
    const headers = { ...request.headers };
    delete headers['traceparent'];
    if (shown !== null) headers['traceparent'] = traceparentOf(shown); // (T1)
    const outcome = await transport.post({ ...request, headers });
    tracer.record({
      name: `POST ${server.name}`,
      kind: 'client',
      context,
      parentId: parent.spanId,
      startedAt,
      endedAt: wallNow(),
      attributes: {
        ...(about === undefined ? {} : threadAttributes(about, about.at)),
        ...serverAttributes(url),
        [attribute.call]: about?.toolCallId, // (T3)
        [attribute.httpMethod]: 'POST',
        [attribute.httpStatus]: outcome.sent ? outcome.status : undefined,
      },
      links: shown === null || shown === context ? [] : [shown],
      error: errorOf(outcome),
    });
    return outcome;
  }

  return { ...transport, post };
}

/** (T1) */
function shownTo({ propagateTrace = 'same' }: ToolServer, context: SpanContext): SpanContext | null {
  if (propagateTrace === 'none') return null;
  return propagateTrace === 'same' ? context : { ...context, traceId: newTraceId(), spanId: newSpanId() };
}

function errorOf(outcome: SendOutcome): string | null {
  if (!outcome.sent) return outcome.code;
  return outcome.status >= 400 ? String(outcome.status) : null;
}
