// One figure beside its limit and its target, and the ratio of two contestants.
//
// Invariants:
//   B19. A figure is null when this run did not measure it; it is printed as such and never as passed.
//   B20. A ratio of two contestants is the median of the ratios of their rounds.
import type { TurnsMeasurement } from '../one-tool-turns.ts';
import { median } from '../statistics.ts';

export interface Verdict {
  readonly figure: string;
  readonly must: Bound | null;
  readonly aim: Bound | null;
  readonly measured: number | null;
  readonly unit: string;
  readonly verdict: 'aim met' | 'must met' | 'MISSED' | 'reported' | 'not measured';
}

export interface Bound {
  readonly is: 'at least' | 'at most';
  readonly value: number;
}

export const atLeast = (value: number): Bound => ({ is: 'at least', value });
export const atMost = (value: number): Bound => ({ is: 'at most', value });

export function judge(
  figure: string,
  measured: number | null,
  unit: string,
  must: Bound | null,
  aim: Bound | null,
): Verdict {
  const known = measured !== null && !Number.isNaN(measured);
  return {
    figure,
    must,
    aim,
    measured: known ? measured : null,
    unit,
    verdict: known ? verdictOf(measured, must, aim) : 'not measured',
  }; // (B19)
}

function verdictOf(measured: number, must: Bound | null, aim: Bound | null): Verdict['verdict'] {
  if (aim !== null && holds(aim, measured)) return 'aim met';
  if (must !== null) return holds(must, measured) ? 'must met' : 'MISSED';
  return 'reported';
}

const holds = ({ is, value }: Bound, measured: number): boolean =>
  is === 'at least' ? measured >= value : measured <= value;

/** (B20) */
export function ratioOf(
  turns: readonly TurnsMeasurement[],
  threads: number,
  peer: string,
  figure: 'turnsPerSecond' | 'p50',
): number | null {
  const ratios = ratiosOf(turns, threads, peer, figure);
  return ratios.length === 0 ? null : median(ratios);
}

/** Of each round in which both were measured. */
export function ratiosOf(
  turns: readonly TurnsMeasurement[],
  threads: number,
  peer: string,
  figure: 'turnsPerSecond' | 'p50',
  of = 'dormouse',
): readonly number[] {
  const rounds = turns.filter((measurement) => measurement.threads === threads);
  const ratios: number[] = [];
  for (const ours of rounds.filter(({ contestant }) => contestant === of)) {
    const theirs = rounds.find(({ contestant, round }) => contestant === peer && round === ours.round);
    if (theirs) ratios.push(ours[figure] / theirs[figure]);
  }
  return ratios;
}
