// The answer of a model that needs nobody: it follows from the prompt alone, so it is worked out before the commit that asks for
// it is stored, and both are stored in one write. It is no effect: when neither is stored, nobody has seen anything. ADR 25
//
// Invariants:
//   O1. Only an answer counts that is there when this turn of the event loop ends: no commit waits for a model or a schema. What
//       is given up is broken off, or not asked at all. Nothing is read from the log, which does not hold the whole prompt yet.
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

export function createAskAtOnce(deps: AtOnceDeps): AskAtOnce {
  /** Of everything that is asked in this turn of the event loop: it is over for all of it at once. Null before the first. */
  let turn: AbortController | null = null;

  async function ask(order: CompletionOrder, signal: AbortSignal): Promise<AnswerAtOnce | null> {
    const { completionId } = order;
    const request = await deps.requests.build({ ...order, isAhead: true }, signal);
    if (signal.aborted) return null;
    const answer = new PartialAnswer(1);
    const deltas: Delta[] = [];
    for await (const part of deps.model.complete(request)) {
      if (signal.aborted) return null;
      const delta = answer.add(completionId, part);
      if (answer.characters > deps.settings.completionBytesMax) return null;
      if (delta !== null) deltas.push(delta);
      if (answer.finish !== null) return { result: await resultOf(deps, completionId, answer, request.tools), deltas };
    }
    return null;
  }

  function answersAtOnce(order: CompletionOrder): boolean {
    try {
      const model = deps.requests.modelOf(order.thread);
      return model !== null && deps.model.answersAtOnce?.(model) === true;
    } catch {
      return false; // (O2)
    }
  }

  /** (O1, O2) */
  function inThisTurn(order: CompletionOrder): Promise<AnswerAtOnce | null> {
    const mine = (turn ??= new AbortController());
    const answer = ask(order, mine.signal);
    return new Promise((resolve) => {
      let isOver = false;
      const end = (value: AnswerAtOnce | null): void => {
        isOver = true;
        resolve(value);
      };
      answer.then(end, () => end(null));
      // After every microtask that follows from this one.
      process.nextTick(() => {
        if (turn === mine) turn = null;
        if (isOver) return;
        mine.abort();
        end(null);
      });
    });
  }

  return (order) => (answersAtOnce(order) ? () => inThisTurn(order) : null);
}
