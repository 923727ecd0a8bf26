// The SERVER span of the request that brought a callback, as a function of its input: a thread's log names it, in
// whatever process and at whatever time it is read.
//
// Invariants:
//   K1. A callback's trace begins with its request, and nothing that the thread does is in it: what follows links it.
//   K2. A callback that comes again after it was accepted is another request, with ids of its own. Two that are
//       published have the same ids: the log takes one of them.
import type { SpanContext, ThreadKey, Tracer } from '@dormouse/ports';
import { digestOf } from './span-ids.ts';

/** Ids that only the callback gateway gives to inputs: `inputIds` of the thread's inputs. */
const ofCallback = /^(?:r|rs|x|e|o|q):/;

/** (K1) */
export function callbackSpan(key: ThreadKey, inputId: string): Omit<SpanContext, 'sampled'> {
  const digest = digestOf('callback', key, inputId);
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

export function callbackContext(tracer: Tracer, key: ThreadKey, inputId: string): SpanContext {
  const span = callbackSpan(key, inputId);
  return { ...span, sampled: tracer.isSampled(span.traceId) };
}

/** Of those of these inputs that callbacks brought. */
export const callbackContexts = (tracer: Tracer, key: ThreadKey, inputIds: readonly string[]): readonly SpanContext[] =>
  inputIds.filter(isOfCallback).map((id) => callbackContext(tracer, key, id));

export const isOfCallback = (inputId: string): boolean => ofCallback.test(inputId);
