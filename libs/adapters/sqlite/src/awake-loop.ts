// Keeps the event loop from falling asleep for a moment: being woken by another thread would take it a third of the time that a
// fast disk needs. It goes round meanwhile, so everybody else is served as ever.
//
// Invariants:
//   A1. At most `awakeMsMax` at a time: longer than the sync of most disks, and what a slow one takes longer is slept through.
//   A2. Where `vainMax` times in a row were not enough, it is tried again about once in `triedAgainEvery` times: a slow disk, or a
//       loop that is busy anyway, costs next to nothing, and a disk that is fast again is noticed.
export const awakeMsMax = 1.5;
export const vainMax = 4;
export const triedAgainEvery = 32;

/** Goes round until `isOver`. */
export type StayAwake = (isOver: () => boolean) => void;

export function createAwakeLoop(now: () => number = () => performance.now()): StayAwake {
  /** How often in a row it was not enough, or not tried for that. */
  let vain = 0;
  return (isOver) => {
    if (vain >= vainMax && ++vain % triedAgainEvery !== 0) return; // (A2)
    const until = now() + awakeMsMax;
    const again = (): void => {
      if (isOver()) vain = 0;
      else if (now() < until) setImmediate(again);
      else vain += 1; // (A1)
    };
    setImmediate(again);
  };
}
