import { setImmediate } from 'node:timers/promises';
import { resultOf, type Steps } from '@dormouse/protocol';

/**
 * Takes the steps one by one; before each of them whoever waits for this process gets a turn. The first wait leads out of the phase
 * of the event loop that reads sockets: an immediate that is set there comes before the timers, which would wait for two steps.
 */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    await setImmediate();
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same for what may be long; what is not is done at once. */
export const inTurnsIf = <Result>(isLong: boolean, steps: Steps<Result>): Result | Promise<Result> =>
  isLong ? inTurns(steps) : resultOf(steps);
