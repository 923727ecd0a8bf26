// Spans of time and times as people read them.
const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

const steps = [
  ['d', unitMs.d, 'h', unitMs.h],
  ['h', unitMs.h, 'm', unitMs.m],
  ['m', unitMs.m, 's', unitMs.s],
] as const;

/** Two units at most: `340 ms`, `1.5 s`, `3 m 5 s`, `2 h 30 m`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 0) return `−${durationText(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < unitMs.m) return `${Math.floor(ms / 1_000)} s`;
  for (const [unit, size, smaller, smallerSize] of steps) {
    if (ms < size) continue;
    const rest = Math.floor((ms % size) / smallerSize);
    return `${Math.floor(ms / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smaller}`}`;
  }
  return `${Math.round(ms)} ms`;
}

/** Relative to now: `just now`, `5 m ago`, `in 3 d`. */
export function agoText(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (Number.isNaN(ms)) return '';
  if (Math.abs(ms) < 10_000) return ms >= 0 ? 'just now' : 'in a moment';
  const [span = ''] = /^\d+ \w+/.exec(durationText(Math.max(10_000, Math.abs(ms)))) ?? [];
  return ms > 0 ? `${span} ago` : `in ${span}`;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** `14:03:59` of today, else with its day. */
export function clockText(at: string, now: number = Date.now()): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return at;
  return new Date(now).toDateString() === time.toDateString()
    ? clock.format(time)
    : `${day.format(time)} ${clock.format(time)}`;
}
