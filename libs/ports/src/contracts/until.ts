// Waits until a condition holds. A world whose clock stands still is moved on meanwhile.

/** Moves the clock of the world under test by some milliseconds; worlds on real time have none. */
export type Advance = (ms: number) => Promise<void>;

const realStepMs = 2;
const worldStepMs = 25;

export async function until(condition: () => boolean, advance?: Advance, withinMs = 5_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${condition.toString()}`);
    await pass(advance);
  }
}

/** Waits long enough for anything that may still happen: for a test that something does not. */
export async function settle(advance?: Advance): Promise<void> {
  for (let step = 0; step < 10; step += 1) await pass(advance);
}

/** Waits for work that takes time to end, such as closing. */
export async function ended(work: Promise<unknown>, advance?: Advance): Promise<void> {
  const state = { ended: false };
  const finished = work.finally(() => (state.ended = true));
  await Promise.race([finished, until(() => state.ended, advance)]);
  await finished;
}

async function pass(advance?: Advance): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, realStepMs));
  await advance?.(worldStepMs);
}
