// Room that owners share: what one takes never grows beyond what it leaves for the others. Counts, and holds nothing.
//
// Invariants:
//   S1. An owner with nothing inside has room while any is left.
//   S2. Any other has room while it has less than is left: alone it takes half of all, beside one that did so a
//       quarter.
//   S3. `enter` counts also without room: whether a thing is refused then, or only treated differently, is its
//       caller's.

export interface SharedRoom {
  /** Whether one more thing of the owner has room. (S1, S2) */
  hasRoom(owner: string): boolean;
  enter(owner: string): void;
  leave(owner: string): void;
  readonly taken: number;
}

export function createSharedRoom(max: number): SharedRoom {
  const takenBy = new Map<string, number>();
  let taken = 0;
  return {
    hasRoom(owner) {
      const own = takenBy.get(owner) ?? 0;
      return taken < max && own < Math.max(1, max - taken);
    },
    enter(owner) {
      taken += 1;
      takenBy.set(owner, (takenBy.get(owner) ?? 0) + 1);
    },
    leave(owner) {
      taken -= 1;
      const left = (takenBy.get(owner) ?? 1) - 1;
      if (left === 0) takenBy.delete(owner);
      else takenBy.set(owner, left);
    },
    get taken() {
      return taken;
    },
  };
}
