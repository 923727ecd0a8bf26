// The values that users give to arguments and options, read: what cannot be read ends the command as wrong usage.
import { parseDuration } from './duration.ts';
import { wrongUsage } from './exit-code.ts';

/** Milliseconds. @throws CliFailure with these words when it is no span of time. */
export function durationOf(text: string, complaint: string, next?: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw wrongUsage(complaint, next);
}

/** @throws CliFailure */
export function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw wrongUsage(`${flag} takes a whole number, not "${text}".`);
}

/** @throws CliFailure that names all values. */
export function oneOf<const Value extends string>(all: readonly Value[], given: string, what: string): Value {
  const found = all.find((each) => each === given);
  if (found !== undefined) return found;
  throw wrongUsage(`${given} is no ${what}`, `One of: ${all.join(', ')}`);
}

/** The parts of NAME=VALUE. @throws CliFailure with these words when there is no name. */
export function pairOf(text: string, complaint: string, next?: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw wrongUsage(complaint, next);
}
