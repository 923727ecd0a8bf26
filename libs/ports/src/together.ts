// What arrives in one turn of the event loop goes on together at its end, instead of each by itself from its socket to the disk:
// every step is then taken for all of them, one after the other, while its code is in the processor's caches. ADR 26
//
// Invariants:
//   W1. In the order of arrival, and in the next `setImmediate` that has room: whoever is alone waits for nobody.
//   W2. Between two steps that wait for nothing stands `await inStep`: all who have come there take the first of them before any
//       takes the second. A microtask, and nothing else: whoever goes on uses what it took along.
//   W3. At most `togetherMax` in one turn of the event loop; the others in the next ones.

/** (W2) */
export const inStep: Promise<void> = Promise.resolve();

/**
 * Enough to find the code of a step in the caches; few enough that a crowd breaks up. If all went on at once they would stay one: the
 * disk and the tools would wait for all of them, and then they for the disk and the tools.
 */
const togetherMax = 32;

let waiting: (() => void)[] = [];

/** `goOn` must not throw: it resolves a promise, and what follows is a microtask. */
export function together(goOn: () => void): void {
  if (waiting.push(goOn) === 1) setImmediate(nextOnes); // (W1)
}

function nextOnes(): void {
  const next = waiting;
  waiting = next.splice(togetherMax);
  if (waiting.length > 0) setImmediate(nextOnes); // when whatever else is ready has had its turn (W3)
  for (const goOn of next) goOn();
}
