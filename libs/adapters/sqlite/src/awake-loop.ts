// Keeps the event loop from falling asleep for a moment: being woken by another thread would take it a third of the time that a
// fast disk needs. It goes round meanwhile, so everybody else is served as ever.

/** Longer than the sync of a fast disk; what a slow one takes longer is slept through. */
const awakeMsMax = 0.5;

/** Goes round until `isOver`, half a millisecond at most. */
export function stayAwake(isOver: () => boolean): void {
  const until = performance.now() + awakeMsMax;
  const again = (): void => {
    if (!isOver() && performance.now() < until) setImmediate(again);
  };
  setImmediate(again);
}
