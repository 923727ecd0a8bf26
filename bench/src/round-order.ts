// The order of measurements: what one contestant leaves behind (a warm processor, pending disk writes) affects the
// next.
//
// Invariants:
//   B35. Over twice as many rounds as there are contestants each is measured after each other one equally often, and at
//        each place of a round equally often (a Williams design). Other numbers of rounds come near to it.

/** Indices of the contestants, in the order of this round, which counts from 0. */
export function roundOrder(round: number, contestants: number): readonly number[] {
  const zigzag = Array.from({ length: contestants }, (_, place) =>
    place % 2 === 1 ? (place + 1) / 2 : contestants - place / 2,
  );
  const order = zigzag.map((contestant) => (contestant + round) % contestants);
  return Math.floor(round / contestants) % 2 === 1 ? order.reverse() : order;
}
