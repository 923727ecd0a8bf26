// How long an event loop was held up by the code that ran on it: processor time of its thread, without the collections of garbage
// that fell into it. Neither what else the machine runs nor when V8 collects is in the hands of that code.

/** Between two looks at an event loop; `ms` is the processor time by which the second came late. */
export interface Hold {
  readonly from: number;
  readonly to: number;
  readonly ms: number;
}

export type Stretch = Pick<Hold, 'from' | 'to'>;

/** What is left of a hold without the collections inside it. */
export function heldMs({ from, to, ms }: Hold, collections: readonly Stretch[]): number {
  const inside = collections.map((each) => Math.min(to, each.to) - Math.max(from, each.from));
  return Math.max(0, ms - inside.reduce((sum, each) => sum + Math.max(0, each), 0));
}
