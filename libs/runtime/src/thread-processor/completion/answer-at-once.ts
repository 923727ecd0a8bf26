// The answer of a model that needs nobody: it follows from the prompt alone, so it is worked out before the commit that asks for
// it is stored, and both are stored in one write. It is no effect: when neither is stored, nobody has seen anything. ADR 25
//
// Invariants:
//   O1. Only an answer counts that is there when this turn of the event loop ends: no commit waits for a model, a store or a schema.
//   O2. Whatever goes wrong is null: then the completion is asked for as an effect, which knows how to fail.
import type { Delta, Model } from '@dormouse/ports';
import type { CompletionResult } from '@dormouse/thread';
import type { CompletionOrder, RequestBuilder } from './completion-request.ts';
import { resultOf, type ResultRules } from './completion-result.ts';
import { PartialAnswer } from './partial-answer.ts';

export interface AnswerAtOnce {
  readonly result: CompletionResult;
  /** What people who watch are shown of it. */
  readonly deltas: readonly Delta[];
}

/** Null, sooner or later, when there is no such answer. Nothing is asked before the second call. */
export type AskAtOnce = (order: CompletionOrder) => (() => Promise<AnswerAtOnce | null>) | null;

export interface AtOnceDeps extends ResultRules {
  readonly model: Model;
  readonly requests: RequestBuilder;
  readonly settings: { readonly completionBytesMax: number };
}

/** There is nothing to break off. */
const { signal } = new AbortController();

export function createAskAtOnce(deps: AtOnceDeps): AskAtOnce {
  async function ask(order: CompletionOrder): Promise<AnswerAtOnce | null> {
    const { completionId } = order;
    const request = await deps.requests.build(order, signal);
    const answer = new PartialAnswer(1);
    const deltas: Delta[] = [];
    for await (const part of deps.model.complete(request)) {
      const delta = answer.add(completionId, part);
      if (answer.characters > deps.settings.completionBytesMax) return null;
      if (delta !== null) deltas.push(delta);
      if (answer.finish !== null) return { result: await resultOf(deps, completionId, answer, request.tools), deltas };
    }
    return null;
  }

  return (order) => {
    const model = deps.requests.modelOf(order.thread);
    return model !== null && deps.model.answersAtOnce?.(model) === true ? () => inThisTurn(ask(order)) : null;
  };
}

/** (O1, O2) */
function inThisTurn<Value>(work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve) => {
    const giveUp = (): void => resolve(null);
    work.then(resolve, giveUp);
    process.nextTick(giveUp); // after every microtask that follows from this one
  });
}
