// The answer of a model that needs nobody: it follows from the prompt alone, so it is worked out before the commit that asks for
// it is stored, and is decided in that commit. It is no effect: when nothing is stored, nobody has seen anything. ADR 25
//
// Invariants:
//   O1. Only what is at hand counts: no commit waits for a model or a schema, and nothing is read, least of all from the log, which
//       does not hold the whole prompt yet.
//   O2. Whatever goes wrong is null: then the completion is asked for as an effect, which knows how to fail.
import type { AnsweringAtOnce, Delta, Model, ModelPart, RequestAtHand } from '@dormouse/ports';
import type { CompletionResult } from '@dormouse/thread';
import type { CompletionOrder, RequestBuilder } from './completion-request.ts';
import { resultAtHand, type ResultRules } from './completion-result.ts';
import { PartialAnswer } from './partial-answer.ts';

export interface AnswerAtOnce {
  readonly result: CompletionResult;
  /** What people who watch are shown of it. */
  readonly deltas: readonly Delta[];
}

/** Null when there is no such answer. Nothing is asked before the second call. */
export type AskAtOnce = (order: CompletionOrder) => (() => AnswerAtOnce | null) | null;

export interface AtOnceDeps extends ResultRules {
  readonly model: Pick<Model, 'answersAtOnce'>;
  readonly requests: Pick<RequestBuilder, 'atHand' | 'modelOf'>;
  readonly settings: { readonly completionBytesMax: number };
}

export function createAskAtOnce(deps: AtOnceDeps): AskAtOnce {
  function answering({ thread }: CompletionOrder): AnsweringAtOnce | null {
    const model = deps.requests.modelOf(thread);
    return model === null ? null : (deps.model.answersAtOnce?.(model) ?? null);
  }

  function ask(order: CompletionOrder, answer: AnsweringAtOnce): AnswerAtOnce | null {
    const request = deps.requests.atHand(order);
    return request === null ? null : answerOf(order.completionId, request, answer(request) ?? []);
  }

  function answerOf(completionId: string, { tools }: RequestAtHand, parts: Iterable<ModelPart>): AnswerAtOnce | null {
    const answer = new PartialAnswer(1);
    const deltas: Delta[] = [];
    for (const part of parts) {
      const delta = answer.add(completionId, part);
      if (answer.characters > deps.settings.completionBytesMax) return null;
      if (delta !== null) deltas.push(delta);
      if (answer.finish !== null) break;
    }
    if (answer.finish === null) return null;
    const result = resultAtHand(deps, completionId, answer, tools);
    return result === null ? null : { result, deltas };
  }

  return (order) => {
    const answer = orNull(() => answering(order));
    return answer && (() => orNull(() => ask(order, answer)));
  };
}

/** (O2) */
function orNull<Value>(work: () => Value | null): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
