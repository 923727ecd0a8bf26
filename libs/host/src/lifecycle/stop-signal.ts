// SIGINT and SIGTERM: the first asks to stop, a later one ends the process at once.
//
// Invariant:
//   1. Signals within half a second of the first are one: npm and the starter forward signals that the group already
//      got.

const sameSignalMs = 500;

/** Resolves with the first signal. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const hear = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      if (askedAt !== null && now - askedAt > sameSignalMs) process.exit(130); // what was acknowledged is on disk
      askedAt ??= now;
      resolve(signal);
    };
    process.on('SIGINT', hear);
    process.on('SIGTERM', hear);
  });
}
