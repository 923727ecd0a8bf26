// Callers that wait for the writer's answers, in the order of their operations. (writer-worker W1)
import { faultOf } from '../file/fault-of.ts';
import type { WriteAnswer } from './write-operation.ts';

export interface Waiting {
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface AnswerQueue {
  readonly length: number;
  add(waiting: readonly Waiting[]): void;
  /** The next answers, in order. */
  settle(answers: readonly WriteAnswer[]): void;
  rejectAll(why: Error): void;
}

/** Settled places at the head are freed in batches. */
const settledAtOnce = 1_024;

export function createAnswerQueue(): AnswerQueue {
  let places: (Waiting | null)[] = [];
  let settled = 0;
  return {
    get length() {
      return places.length - settled;
    },
    add: (waiting) => void places.push(...waiting),
    settle: (answers) => {
      for (const answer of answers) {
        const next = places[settled];
        places[settled] = null; // frees what it refers to
        settled += 1;
        if (typeof answer === 'object' && 'failure' in answer) next?.reject(faultOf(answer.failure));
        else next?.resolve(answer);
      }
      if (settled < places.length && settled < settledAtOnce) return;
      places = places.slice(settled);
      settled = 0;
    },
    rejectAll: (why) => {
      const left = places.slice(settled);
      places = [];
      settled = 0;
      for (const waiting of left) waiting?.reject(why);
    },
  };
}
