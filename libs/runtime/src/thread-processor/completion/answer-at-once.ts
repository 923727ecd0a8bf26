// The answer of a model that needs nobody: it follows from the prompt alone, so it is worked out before the commit that asks for
// it is stored, and is decided in that commit. It is no effect: when nothing is stored, nobody has seen anything. ADR 25
//
// Invariants:
//   O1. Only what is at hand counts: no commit waits for a model or a schema, and nothing is read, least of all from the log, which
//       does not hold the whole prompt yet.
//   O2. Whatever goes wrong is null: then the completion is asked for as an effect, which knows how to fail.
import type { AnsweringAtOnce, Model, ModelPart, RequestAtHand } from '@dormouse/ports';
import type { CompletionResult } from '@dormouse/thread';
import type { CompletionOrder, RequestBuilder } from './completion-request.ts';
import { resultAtHand, type ResultRules } from './completion-result.ts';
import { PartialAnswer } from './partial-answer.ts';

/** Null when there is no such answer. */
export type AskAtOnce = (order: CompletionOrder) => CompletionResult | null;

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

  function answerOf(
    completionId: string,
    { tools }: RequestAtHand,
    parts: Iterable<ModelPart>,
  ): CompletionResult | null {
    const answer = new PartialAnswer(1);
    for (const part of parts) {
      answer.add(completionId, part);
      if (answer.excess(deps.settings.completionBytesMax) !== null) return null;
      if (answer.finish !== null) return resultAtHand(deps, completionId, answer, tools);
    }
    return null;
  }

  return (order) =>
    orNull(() => {
      const answer = answering(order);
      const request = answer && deps.requests.atHand(order);
      return answer && request && answerOf(order.completionId, request, answer(request) ?? []);
    });
}

/** (O2) */
function orNull<Value>(work: () => Value | null): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}
