// When a cron line comes next. Calendars and time zones are croner's; this file keeps what was parsed.
import { createBoundedMap } from '@dormouse/collections';
import { Cron } from 'croner';

const parsed = createBoundedMap<Cron | null>(1_000);

/** The first time after `after`, milliseconds since the epoch; null when there is none, or line or zone are invalid. */
export function nextTime(cron: string, timeZone: string, after: number): number | null {
  return lineOf(cron, timeZone)?.nextRun(new Date(after))?.getTime() ?? null;
}

function lineOf(cron: string, timeZone: string): Cron | null {
  const name = `${timeZone} ${cron}`;
  const known = parsed.get(name);
  if (known !== undefined) return known;
  return parsed.set(name, parse(cron, timeZone));
}

function parse(cron: string, timeZone: string): Cron | null {
  try {
    const line = new Cron(cron, { timezone: timeZone, paused: true });
    line.nextRun(); // an unknown zone is noticed only now
    return line;
  } catch {
    return null;
  }
}
