// Long work of a process, step by step, so that other work waits for one step at most.
//
// Invariants:
//   T1. One step per tick of the event loop, however much long work there is; the pieces of work take turns.
import { type Steps, resultOf } from '@dormouse/json';

/** Takes a step; true when there are more. */
type Work = () => boolean;

const round: Work[] = [];

/** The first step is deferred too: the caller has often just done something long itself. */
export function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    round.push(() => {
      try {
        const step = steps.next();
        if (step.done !== true) return true;
        resolve(step.value);
      } catch (error) {
        reject(error);
      }
      return false;
    });
    if (round.length === 1) setImmediate(takeTurn);
  });
}

/** (T1) */
function takeTurn(): void {
  const [work] = round;
  if (work === undefined) return;
  const goesOn = work();
  round.shift();
  if (goesOn) round.push(work);
  if (round.length > 0) setImmediate(takeTurn);
}

/** The same for work that may be long; short work is done at once. */
export const inTurnsIf = <Result>(isLong: boolean, steps: Steps<Result>): Result | Promise<Result> =>
  isLong ? inTurns(steps) : resultOf(steps);
