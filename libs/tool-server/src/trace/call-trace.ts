/**
 * Owns: what a trace shows of this server: a span for each run of a handler, and one for each attempt at a callback.
 *
 * R1. A call goes on in the trace of its POST: below the author's own span of that request where there is one, else
 *     below the caller's.
 * R2. A message is below the span that it was sent in. An event that is sent outside of any span has a trace of its
 *     own, linked to the POST that subscribed: it may come months later.
 * R3. Every message carries a `traceparent`: of its attempt; without OpenTelemetry that of the POST, unchanged.
 * R4. Spans have names, ids and codes: no argument, no result, no URL. T32
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { PostedCall } from '../call/call-address.ts';
import type { DeliveryAnswer } from '../outbox/callback-delivery.ts';
import { activeTraceparent, beginSpan, type BegunSpan } from './open-telemetry.ts';
import { parseTraceparent, traceparentOf } from './traceparent.ts';

/** (R1) */
export function traceOfRequest({ traceparent }: IncomingHttpHeaders): string | null {
  const given = parseTraceparent(typeof traceparent === 'string' ? traceparent : null);
  const own = activeTraceparent();
  if (given === null || parseTraceparent(own)?.traceId === given.traceId) return own;
  return traceparentOf(given);
}

/** The run of a tool's handler; null without OpenTelemetry. */
export const beginRun = ({ id, groupId, trace }: PostedCall, tool: string): BegunSpan | null =>
  beginSpan({
    name: `run_tool ${tool}`,
    kind: 'server',
    attributes: {
      'gen_ai.operation.name': 'run_tool', // a tool without an operation would be drawn as a second run of it
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': id,
      'gen_ai.conversation.id': groupId,
    },
    parent: trace ?? null,
    link: null,
  });

/** Where a message comes from, as `traceparent`s. */
export interface MessageTrace {
  readonly parent?: string;
  readonly link?: string;
}

/** Of a message that is sent now, about a call whose POST had this `traceparent`. (R2) */
export function traceOfMessage(ofCall: string | undefined, isEvent: boolean): MessageTrace {
  const active = activeTraceparent();
  if (active !== null) return { parent: active };
  if (ofCall === undefined) return {};
  return isEvent ? { link: ofCall } : { parent: ofCall };
}

export interface MessageAttempt {
  /** (R3) */
  readonly traceparent: string | null;
  readonly run: BegunSpan['run'];
  readonly end: (answer: DeliveryAnswer) => void;
}

export function beginAttempt(
  from: MessageTrace,
  about: { readonly callbackUrl: string; readonly threadId: string; readonly attempt: number },
): MessageAttempt {
  const { hostname, port, protocol } = new URL(about.callbackUrl);
  const parent = from.parent ?? null;
  const link = from.link ?? null;
  const span = beginSpan({
    name: 'POST callback',
    kind: 'client',
    attributes: {
      'gen_ai.conversation.id': about.threadId,
      'http.request.method': 'POST',
      'http.request.resend_count': about.attempt > 1 ? about.attempt - 1 : undefined,
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    },
    parent,
    link,
  });
  return {
    traceparent: span?.traceparent ?? parent ?? link,
    run: span?.run ?? ((work) => work()),
    end: (answer) => span?.end(errorOf(answer), statusOf(answer)),
  };
}

const statusOf = (answer: DeliveryAnswer): { readonly 'http.response.status_code'?: number } =>
  answer.status === undefined || answer.status === 0 ? {} : { 'http.response.status_code': answer.status };

/** A status or a code; `_OTHER` is OpenTelemetry's own word for anything else. */
function errorOf(answer: DeliveryAnswer): string | null {
  if (answer.kind === 'accepted') return null;
  if (answer.status !== undefined) return String(answer.status);
  return answer.kind === 'again' && /^[A-Z_]+$/.test(answer.reason) ? answer.reason : '_OTHER';
}
