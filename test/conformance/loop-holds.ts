// How long an event loop was blocked by the code that ran on it: processor time of its thread, without the garbage
// collections that fell into it. That code controls neither the other load of the machine nor the moments of V8's
// collections.

/** Between two checks of an event loop; `ms` is the processor time by which the second came late. */
export interface Hold {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

export type Stretch = Pick<Hold, 'from' | 'to'>;

/** The part of a hold without the collections inside it. */
export function heldMs({ from, to, ms }: Hold, collections: readonly Stretch[]): number {
  const inside = collections.map((each) => Math.min(to, each.to) - Math.max(from, each.from));
  return Math.max(0, ms - inside.reduce((sum, each) => sum + Math.max(0, each), 0));
}
