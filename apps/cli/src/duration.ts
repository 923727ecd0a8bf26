// Spans of time as users type them: 90s, 2h30m, +3d, 1w.
const unitMs = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

const isUnit = (unit: string | undefined): unit is keyof typeof unitMs => unit !== undefined && unit in unitMs;

/** Milliseconds; null when it is no span of time. */
export function parseDuration(text: string): number | null {
  if (!/^\+?(\d+(\.\d+)?(ms|[wdhms]))+$/.test(text)) return text === '0' || text === '+0' ? 0 : null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/g)) {
    if (isUnit(unit)) total += Number(amount) * unitMs[unit];
  }
  return Math.round(total);
}

const shownUnits = [
  ['d', unitMs.d, 'h', unitMs.h],
  ['h', unitMs.h, 'm', unitMs.m],
  ['m', unitMs.m, 's', unitMs.s],
] as const;

/** At most seven characters for anything below 1000 days: 950ms, 1.5s, 3m05s, 2h30m, 3d04h. */
export function showDuration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  if (ms < unitMs.m) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  for (const [unit, size, smaller, smallerSize] of shownUnits) {
    if (ms < size) continue;
    return `${Math.floor(ms / size)}${unit}${String(Math.floor((ms % size) / smallerSize)).padStart(2, '0')}${smaller}`;
  }
  return `${ms}ms`;
}
