// A fair semaphore: at most `max` places are held at once; waiting owners take turns by their weights, and the keys of
// an owner among themselves.
//
// Invariants:
//   F1. At most `max` places are held. A released place goes to a waiting key that may have it, never to a newcomer.
//   F2. Waiting owners are served by deficit round robin (deficit-rounds), the waiting keys of one owner in turn:
//       between two places of a key every other waiting key of its owner gets one. A key's order is kept.
//   F3. A key holds at most a quarter of the places, or two. An owner holds one, and more of them up to seven for each
//       that is free, less if there is a heavier one: the rest stays available to others, even while the holders of one
//       key or owner hang.
import { createDeficitRounds } from './deficit-rounds.ts';
import { createHeaviest } from './heaviest.ts';
import { TransientMap } from './transient-map.ts';

export interface FairSemaphore {
  /** Whether a place is free and no key waits for one. */
  readonly isFree: boolean;
  /** True with a place, which must be given back under the same key; false when there is none at once. */
  enterNow(key: string): boolean;
  /** Resolves with a place, which must be given back under the same key. */
  enter(key: string): Promise<void>;
  leave(key: string): void;
}

/** The place of a message that is being handled. */
export interface Place {
  /** Releases the place while `wait` runs, and takes one before it resolves; none is held after a rejection. */
  releasedDuring<Result>(wait: () => Promise<Result>): Promise<Result>;
}

export interface FairShares {
  /** Whose key it is. Default: the keys are owners. */
  readonly ownerOf?: (key: string) => string;
  /** Above 0; default: 1. */
  readonly weightOf?: (owner: string) => number;
}

const ownerShare = 7;

interface Owner {
  /** When it began to hold a place, or to wait. */
  readonly weight: number;
  held: number;
  /** In the order of their turns. */
  readonly waiting: Map<string, (() => void)[]>;
}

export function createFairSemaphore(max: number, shares: FairShares = {}): FairSemaphore {
  const { ownerOf = (key: string) => key, weightOf = () => 1 } = shares;
  const perKeyMax = Math.max(2, Math.ceil(max / 4));
  let held = 0;
  let waiting = 0;
  const heldOf = new TransientMap<string, number>();
  /** Owners that hold a place or wait for one. */
  const owners = new Map<string, Owner>();
  /** Owners that wait. While a place is free, every one of them, or each of its keys, holds as many as it may. */
  const rounds = createDeficitRounds<string>(weightOf);
  const heaviest = createHeaviest();

  function ownerNamed(name: string): Owner {
    const known = owners.get(name);
    if (known !== undefined) return known;
    const made: Owner = { weight: weightOf(name), held: 0, waiting: new Map() };
    owners.set(name, made);
    heaviest.add(made.weight);
    return made;
  }

  /** (F3) */
  const ownerMay = ({ held: own, weight }: Owner): boolean =>
    held < max && (own === 0 || own < ((ownerShare * weight) / heaviest.weight) * (max - held));
  const keyMay = (key: string): boolean => (heldOf.get(key) ?? 0) < perKeyMax;

  function take(key: string, owner: Owner): void {
    held += 1;
    owner.held += 1;
    heldOf.set(key, (heldOf.get(key) ?? 0) + 1);
  }

  function giveBack(key: string): void {
    const name = ownerOf(key);
    const owner = ownerNamed(name);
    held -= 1;
    owner.held -= 1;
    forgetIdle(name, owner);
    const left = (heldOf.get(key) ?? 1) - 1;
    if (left === 0) heldOf.delete(key);
    else heldOf.set(key, left);
  }

  function forgetIdle(name: string, owner: Owner): void {
    if (owner.held === 0 && owner.waiting.size === 0 && owners.delete(name)) heaviest.delete(owner.weight);
  }

  function nextKeyOf({ waiting }: Owner): string | null {
    for (const key of waiting.keys()) if (keyMay(key)) return key;
    return null;
  }

  /** (F1, F2) */
  function letNextEnter(): boolean {
    const name = rounds.next((each) => {
      const owner = ownerNamed(each);
      return ownerMay(owner) && nextKeyOf(owner) !== null;
    });
    if (name === null) return false;
    const owner = ownerNamed(name);
    const key = nextKeyOf(owner) ?? '';
    const queue = owner.waiting.get(key) ?? [];
    const enter = queue.shift();
    owner.waiting.delete(key);
    if (queue.length > 0) owner.waiting.set(key, queue); // behind the others
    if (owner.waiting.size === 0) rounds.delete(name);
    waiting -= 1;
    take(key, owner);
    enter?.();
    return true;
  }

  function enterNow(key: string): boolean {
    const name = ownerOf(key);
    const owner = ownerNamed(name);
    const may = ownerMay(owner) && keyMay(key); // nothing of it waits then, but what may have no more
    if (may) take(key, owner);
    else forgetIdle(name, owner);
    return may;
  }

  return {
    get isFree() {
      return held < max && waiting === 0;
    },
    enterNow,
    enter(key) {
      if (enterNow(key)) return Promise.resolve();
      const name = ownerOf(key);
      const owner = ownerNamed(name);
      return new Promise((resolve) => {
        const queue = owner.waiting.get(key);
        if (queue === undefined) owner.waiting.set(key, [resolve]);
        else queue.push(resolve);
        rounds.add(name);
        waiting += 1;
      });
    },
    leave(key) {
      giveBack(key);
      while (letNextEnter()); // a free place more may let an owner have several
    },
  };
}

/** Runs `work` with a place of `key`. */
export async function withPlace<Result>(
  semaphore: FairSemaphore,
  key: string,
  work: (place: Place) => Promise<Result>,
): Promise<Result> {
  await semaphore.enter(key);
  let isHeld = true;
  const place: Place = {
    releasedDuring: async (wait) => {
      isHeld = false;
      semaphore.leave(key);
      const result = await wait();
      await semaphore.enter(key);
      isHeld = true;
      return result;
    },
  };
  try {
    return await work(place);
  } finally {
    if (isHeld) semaphore.leave(key);
  }
}

/** For work whose places are not counted. */
export const uncountedPlace: Place = { releasedDuring: (wait) => wait() };
