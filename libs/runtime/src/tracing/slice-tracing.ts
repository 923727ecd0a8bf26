// What a slice needs of tracing: the context that a commit names as its cause, the fold beside the thread's state, and
// the spans that a commit ends.
//
// Invariants:
//   S1. A commit's `trace` is decided before the commit, from the state before it: deciding again gives the same one.
//   S2. What a tool, a timer or a child brings goes on in the turn's trace while the turn is younger than `turnMsMax`
//       by the thread's clock; after that in a new trace, whose first span is linked to the cause.
//   S3. A message, an opening and a retry go on in the trace of their own request.
//   S4. An input that came over a bus between processes has a CONSUMER span, the parent of what S3 begins; of any other
//       input it is beside what follows, linked to the span that sent it.
//   S5. With tracing off nothing is folded or kept, and a commit keeps the `trace` of its first input: when it is on
//       again, no wake or call of before is taken for one that goes on.
//   S6. What follows a callback is linked to the callback's SERVER span, also when a later process reads the commit.
//   S7. Recording may wait for the registry, which the completion has mostly read; no commit waits for it.
import {
  type Agent,
  type Clock,
  parseTraceparent,
  type Span,
  type SpanAttributes,
  type SpanContext,
  type ThreadKey,
  type ToolDefinition,
  traceparentOf,
} from '@dormouse/ports';
import { own, type Thread, type ThreadInput } from '@dormouse/thread';
import type { CommittedSlice, TracedInput } from './committed-slice.ts';
import { agentAttributes, toolAttributes } from './attributes.ts';
import { processedInput } from './bus-spans.ts';
import { callbackContexts, isOfCallback } from './callback-span.ts';
import { attribute } from './semconv.ts';
import { beginning, inTrace, spanIdOf, traceIdOf } from './span-ids.ts';
import { foldTrace, noTraceState, type OpenCause, type TraceState } from './trace-state.ts';
import { spansOf } from './thread-spans.ts';
import type { Tracing } from './tracing.ts';

export interface SliceTracing {
  /** `trace` of the commit that these inputs lead to. (S1) */
  causeOf(state: TraceState, thread: Thread, inputs: readonly TracedInput[], at: number): string | null;
  /** The state after a commit that is about to be stored, and the spans to record once it is. */
  fold(state: TraceState, slice: CommittedSlice): { readonly state: TraceState; readonly spans: readonly Span[] };
  /** The state after a commit that is read from the log. */
  read(state: TraceState, slice: Omit<CommittedSlice, 'inputs' | 'before'>): TraceState;
  /** Of the thread after its commit. What the log does not say of an agent and its tools is read now. (S7) */
  record(spans: readonly Span[], thread: Thread): void;
}

export interface SliceTracingDeps extends Tracing {
  readonly clock: Clock;
  /** @throws Fault */
  readonly agentOf: (thread: Thread) => Promise<Pick<Agent, 'id' | 'model'>>;
  readonly toolsOf: (thread: Thread) => Promise<readonly ToolDefinition[]>;
}

const nothingFolded = { state: noTraceState, spans: [] };

/** (S5) */
const noTracing: SliceTracing = {
  causeOf: (_state, _thread, inputs) => inputs[0]?.trace ?? null,
  fold: () => nothingFolded,
  read: () => noTraceState,
  record: () => {},
};

export function createSliceTracing(deps: SliceTracingDeps): SliceTracing {
  const { tracer, clock, turnMsMax, wallNow, mayHaveContent = () => false } = deps;
  if (!tracer.isOn) return noTracing;

  const newTrace = (key: ThreadKey, inputId: string): SpanContext => {
    const traceId = traceIdOf(key, inputId);
    return beginning(traceId, tracer.isSampled(traceId));
  };

  function causeOf(state: TraceState, thread: Thread, each: TracedInput, at: number): SpanContext {
    const { input, trace } = each;
    const key = { tenant: thread.tenant, thread: thread.id };
    const delivered = parseTraceparent(trace);
    if (isOfModel(input)) return delivered ?? newTrace(key, input.id);
    if (beginsTurn(input)) return delivered === null ? newTrace(key, input.id) : spanOfInput(key, each, delivered); // (S3)
    const { turn } = state;
    if (turn === null || at - turn.since > turnMsMax) return newTrace(key, input.id); // (S2)
    const call = 'toolCallId' in input ? own(state.open, input.toolCallId) : callOfAnswer(state, thread, input);
    return call?.context.traceId === turn.request.traceId ? call.context : turn.request;
  }

  /** (S7) */
  function missingOf({ attributes }: Span, thread: Thread): Promise<SpanAttributes> | null {
    switch (attributes[attribute.operation]) {
      case 'invoke_agent':
        return deps.agentOf(thread).then(agentAttributes);
      case 'execute_tool':
        if (!mayHaveContent(thread.tenant)) return null;
        return deps.toolsOf(thread).then((tools) => toolAttributes(tools, attributes[attribute.toolName]));
      default:
        return null;
    }
  }

  return {
    causeOf: (state, thread, inputs, at) => {
      const last = inputs.findLast(({ input }) => input.kind === 'ToolResult') ?? inputs[0];
      return last === undefined ? null : traceparentOf(causeOf(state, thread, last, at));
    },
    fold: (state, slice) => {
      const { key, commit, inputs, events, effects, after } = slice;
      const wallAt = wallNow();
      // (S6)
      const deliveredBy = [...callbackContexts(tracer, key, commit.inputs), ...contextsOf(inputs, commit.trace)];
      const { state: folded, ...ended } = foldTrace(state, {
        ...{ key, trace: commit.trace, at: commit.at, wallAt, events, effects, after, deliveredBy },
      });
      const spans = [...inputSpans(slice, wallAt), ...spansOf(slice, ended, wallAt, mayHaveContent(key.tenant))];
      return { state: folded, spans };
    },
    record: (spans, thread) => {
      for (const span of spans) {
        const missing = missingOf(span, thread);
        if (missing === null) tracer.record(span);
        else
          void missing.catch(nothing).then((more) => {
            tracer.record({ ...span, attributes: { ...span.attributes, ...more } });
          });
      }
    },
    read: (state, { key, commit, events, effects, after }) => {
      const wallAt = commit.at - Math.max(0, clock.now() - wallNow());
      const deliveredBy = commit.trace === null ? [] : callbackContexts(tracer, key, commit.inputs); // (S6)
      return foldTrace(state, { key, trace: commit.trace, at: commit.at, wallAt, events, effects, after, deliveredBy })
        .state;
    },
  };
}

/** A store that does not answer leaves these attributes out. */
const nothing = (): SpanAttributes => ({});

const isOfModel = ({ kind }: ThreadInput): boolean => kind === 'CompletionResult' || kind === 'CompletionFailure';

const beginsTurn = ({ kind }: ThreadInput): boolean =>
  kind === 'UserMessage' || kind === 'ExternalEvent' || kind === 'ThreadOpening' || kind === 'RetryRequest';

/** The call that a person's answer is about. */
function callOfAnswer(state: TraceState, thread: Thread, input: ThreadInput): OpenCause | undefined {
  if (input.kind !== 'ChoiceAnswer') return undefined;
  const choice = own(thread.choices, input.choiceId);
  return choice === undefined ? undefined : own(state.open, choice.toolCallId);
}

const takenAtOf = ({ deliveries = [] }: TracedInput): number | null =>
  deliveries.find(({ takenAt }) => takenAt !== undefined)?.takenAt ?? null;

/** The context that an input which begins a turn goes on in: of its CONSUMER span, else of what brought it. (S4) */
const spanOfInput = (key: ThreadKey, input: TracedInput, delivered: SpanContext): SpanContext =>
  takenAtOf(input) === null ? delivered : inTrace(delivered, spanIdOf('process inputs', key, input.input.id));

/** (S4) */
function inputSpans({ key, commit, inputs }: CommittedSlice, endedAt: number): readonly Span[] {
  const cause = parseTraceparent(commit.trace);
  return inputs.flatMap((each) => {
    const delivered = parseTraceparent(each.trace);
    const startedAt = takenAtOf(each);
    if (delivered === null || startedAt === null || cause === null) return [];
    const begins = beginsTurn(each.input);
    const parent = begins ? delivered : cause;
    const context = inTrace(parent, spanIdOf('process inputs', key, each.input.id));
    const links = begins ? [] : [delivered];
    return [processedInput(key, { parent, context, startedAt, endedAt, links }, commit.at)];
  });
}

/**
 * The contexts that brought these inputs, of which the log does not tell, and that are not the commit's own cause; and
 * what an opening is linked to.
 */
function contextsOf(inputs: readonly TracedInput[], cause: string | null): readonly SpanContext[] {
  const others = inputs.flatMap(({ input, trace }) => {
    if (input.kind === 'ThreadOpening') return [input.link];
    return isOfModel(input) || beginsTurn(input) || isOfCallback(input.id) || trace === cause ? [] : [trace];
  });
  return [...new Set(others)].flatMap((trace) => parseTraceparent(trace) ?? []);
}
