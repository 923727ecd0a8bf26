// The span of one attempt at a provider.
//
// Invariants:
//   C1. The attempt that a completion ends with has the completion's own id, so that a reader of the log knows it; the
//       ones before it are numbered.
import {
  Fault,
  ModelFault,
  type ModelRequest,
  parseTraceparent,
  type Span,
  type SpanAttributes,
} from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';
import type { CompletionRun } from '../thread-processor/completion/completion-run.ts';
import type { PartialAnswer } from '../thread-processor/completion/partial-answer.ts';
import { providerName, serverAttributes, threadAttributes } from './attributes.ts';
import { inputMessages, outputMessages } from './recorded-content.ts';
import { attribute } from './semconv.ts';
import { inTrace, spanIdOf } from './span-ids.ts';

export interface ChatAttempt {
  readonly run: CompletionRun;
  readonly request: ModelRequest;
  readonly answer: PartialAnswer;
  /** Wall clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Thread's clock. */
  readonly at: number;
  /** The newest messages of the prompt, where contents are recorded. */
  readonly input: readonly ModelMessage[] | null;
  /** What the attempt threw, or null. */
  readonly error: unknown;
}

/** Null for a completion without a trace. */
export function chatSpan(attempt: ChatAttempt): Span | null {
  const { run, request, answer, startedAt, endedAt, at, error } = attempt;
  const agent = parseTraceparent(run.trace);
  if (agent === null) return null;
  const { provider, name, baseUrl } = request.model;
  const { finish } = answer;
  return {
    name: `chat ${name === '' ? provider : name}`,
    kind: 'client',
    context: inTrace(agent, spanIdOf('chat', run.key, chatIdOf(run, answer, error))),
    parentId: agent.spanId,
    startedAt,
    endedAt,
    attributes: {
      ...threadAttributes(run.key, at),
      ...serverAttributes(baseUrl ?? null),
      [attribute.operation]: 'chat',
      [attribute.provider]: providerName(provider),
      [attribute.requestModel]: name === '' ? undefined : name,
      [attribute.requestStream]: true,
      [attribute.finishReasons]: finish === null ? undefined : [finish.reason],
      [attribute.inputTokens]: finish?.usage.inputTokens,
      [attribute.outputTokens]: finish?.usage.outputTokens,
      ...detailsOf(answer),
      [attribute.timeToFirstChunk]: answer.firstPartAt === null ? undefined : (answer.firstPartAt - startedAt) / 1_000,
      ...contentOf(attempt),
    },
    links: [],
    error: errorOf(run, answer, error),
  };
}

function detailsOf({ finish }: PartialAnswer): SpanAttributes {
  const { responseId, responseModel, cacheReadTokens, cacheWriteTokens } = finish?.details ?? {};
  return {
    [attribute.responseId]: responseId,
    [attribute.responseModel]: responseModel,
    [attribute.cacheReadTokens]: cacheReadTokens,
    [attribute.cacheCreationTokens]: cacheWriteTokens,
  };
}

function contentOf({ input, answer }: ChatAttempt): SpanAttributes {
  if (input === null) return {};
  const { text, reasoning, calls, finish } = answer;
  return {
    [attribute.inputMessages]: inputMessages(input),
    [attribute.outputMessages]: outputMessages({ text, reasoning, calls, finishReason: finish?.reason ?? 'error' }),
  };
}

/** (C1) */
function chatIdOf(run: CompletionRun, answer: PartialAnswer, error: unknown): string {
  const isRefused = error instanceof ModelFault ? !error.retryable : error !== null && !(error instanceof Fault);
  const isStopped = run.state === 'aborted' && run.answer === answer;
  const isLast = isStopped || isRefused || (error === null && answer.finish !== null);
  return isLast ? run.completionId : `${run.completionId} ${answer.attempt}`;
}

/** However a provider's stream ends once it is cut: with what it has so far, or with an error. */
function errorOf(run: CompletionRun, answer: PartialAnswer, error: unknown): string | null {
  if (run.state === 'aborted' && run.answer === answer) return 'interrupted';
  if (error instanceof ModelFault) return error.code;
  if (error !== null) return 'MODEL_FAILED';
  return answer.finish === null ? 'interrupted' : null;
}
