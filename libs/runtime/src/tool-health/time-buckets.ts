// Times in buckets whose counts add up over minutes and processes, and the percentiles of what was added up.
//
// Invariants:
//   B1. Eight buckets per doubling: a percentile is off by less than 5 %.
//   B2. There are at most `bucketMax` + 1 buckets: the first has what is below a hundredth of a millisecond, the last
//       what is beyond half a year.
import type { BucketCounts } from '@dormouse/ports';

const perDoubling = 8;
const smallestMs = 0.01;
/** Of 2^41 hundredths of a millisecond. (B2) */
const bucketMax = 41 * perDoubling;

export function bucketOf(ms: number): number {
  if (!(ms > smallestMs)) return 0;
  return Math.min(bucketMax, Math.ceil(Math.log2(ms / smallestMs) * perDoubling)); // (B2)
}

/** The middle of a bucket, in milliseconds with three digits. (B1) */
const middleOf = (bucket: number): number =>
  bucket === 0 ? 0 : Number((smallestMs * 2 ** ((bucket - 0.5) / perDoubling)).toPrecision(3));

export function sumOf(counts: BucketCounts): number {
  let sum = 0;
  for (const count of Object.values(counts)) sum += count;
  return sum;
}

export function addTo(sums: Record<string, number>, counts: BucketCounts): void {
  for (const [bucket, count] of Object.entries(counts)) sums[bucket] = (sums[bucket] ?? 0) + count;
}

/** In milliseconds, by nearest rank; null of nothing. `share` is above 0 and at most 1. */
export function percentile(counts: BucketCounts, share: number): number | null {
  const sorted = Object.entries(counts).toSorted(([one], [other]) => Number(one) - Number(other));
  let left = Math.ceil(sumOf(counts) * share);
  if (left === 0) return null;
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return middleOf(Number(bucket));
  }
  return null;
}
