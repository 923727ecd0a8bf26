// Work that arrives in one tick of the event loop continues together at its end, instead of separately from each socket
// to the disk: every step then runs for all of it in succession, while its code is in the processor's caches. ADR 26
//
// Invariants:
//   W1. In the order of arrival, and in the next `setImmediate`: a lone request waits for no other.

let waiting: (() => void)[] = [];

/** `goOn` must not throw: it resolves a promise, and what follows is a microtask. */
export function atEndOfTick(goOn: () => void): void {
  if (waiting.push(goOn) === 1) setImmediate(goOnTogether); // (W1)
}

function goOnTogether(): void {
  const arrived = waiting;
  waiting = [];
  for (const goOn of arrived) goOn();
}
