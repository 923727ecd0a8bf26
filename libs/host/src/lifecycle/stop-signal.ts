// SIGINT and SIGTERM: the first asks to stop, the second ends the process at once.

/** Resolves with the first signal. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    const hear = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(130); // somebody is in a hurry; what was acknowledged is on disk
      asked = true;
      resolve(signal);
    };
    process.on('SIGINT', hear);
    process.on('SIGTERM', hear);
  });
}
