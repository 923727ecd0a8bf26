// The facts of a message that may become arguments: numbers, durations, places, quoted texts. This file knows no tools.
export interface MessageFacts {
  readonly text: string;
  readonly quoted: readonly string[];
  /** City names and time zones, in order. */
  readonly places: readonly string[];
  /** Plain numbers, without those of durations. */
  readonly numbers: readonly number[];
  readonly durationsMs: readonly number[];
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

const duration =
  /(?<![\p{L}\p{N}.])(\d+(?:\.\d+)?\s*-?|(?:half an?|an?)\s+)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![\p{L}\p{N}])/giu;
const quotedText = /"([^"]+)"|“([^”]+)”|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/gu;
const number = /(?<![\p{L}\p{N}.])-?\d+(?:\.\d+)?(?![\p{L}\p{N}])/gu;
const timeZone = /(?<![\p{L}\p{N}])(?:UTC|GMT|[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?)(?![\p{L}\p{N}])/gu;
const capitalised = "\\p{Lu}[\\p{L}.'’-]*(?:\\s+(?:(?:de|da|do|del|la|le|am|of)\\s+)?\\p{Lu}[\\p{L}.'’-]*)*";
const capitalisedPlaces = new RegExp(
  `\\b(?:in|for|at|near|from|of)\\s+(${capitalised}(?:(?:\\s*,\\s*(?:and\\s+)?|\\s+(?:and|or|&)\\s+)${capitalised})*)`,
  'gu',
);
const plainPlace =
  /\b(?:in|at|near)\s+((?!(?:the|a|an|my|your|this|that|it|all|\d)\b)\p{L}[\p{L}'’-]*(?:\s+\p{L}[\p{L}'’-]*)?)\s*(?:[?!.,;]|$)/giu;
const notPlaces = new Set([
  'seconds',
  'second',
  'minutes',
  'minute',
  'hours',
  'hour',
  'days',
  'day',
  'i',
  'now',
  'today',
  'tomorrow',
  'general',
  'english',
]);

const numberWords = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const numberWord = new RegExp(`(?<![\\p{L}\\p{N}])(?:${numberWords.join('|')})(?![\\p{L}\\p{N}])`, 'giu');

type FactFinders = { readonly [Name in Exclude<keyof MessageFacts, 'text'>]: () => MessageFacts[Name] };

/** Facts that are searched for on first access: most tools want one kind of the four. */
export const factsFoundBy = (text: string, find: FactFinders): MessageFacts => new FoundFacts(text, find);

/** A class, because its getters are made once; those of an object literal are made anew for each object. */
class FoundFacts implements MessageFacts {
  readonly text: string;
  readonly #find: FactFinders;
  readonly #found: { -readonly [Name in keyof FactFinders]?: MessageFacts[Name] } = {};

  constructor(text: string, find: FactFinders) {
    this.text = text;
    this.#find = find;
  }

  get quoted(): MessageFacts['quoted'] {
    return (this.#found.quoted ??= this.#find.quoted());
  }

  get places(): MessageFacts['places'] {
    return (this.#found.places ??= this.#find.places());
  }

  get numbers(): MessageFacts['numbers'] {
    return (this.#found.numbers ??= this.#find.numbers());
  }

  get durationsMs(): MessageFacts['durationsMs'] {
    return (this.#found.durationsMs ??= this.#find.durationsMs());
  }
}

export function findFacts(text: string): MessageFacts {
  const withoutQuotes = (): string =>
    text.replaceAll(quotedText, ' ').replaceAll(numberWord, (word) => String(numberWords.indexOf(word.toLowerCase())));
  const withoutDurations = (): string => withoutQuotes().replaceAll(duration, ' ');
  return factsFoundBy(text.trim(), {
    quoted: () => [...text.matchAll(quotedText)].map((match) => match[1] ?? match[2] ?? match[3] ?? ''),
    places: () => findPlaces(withoutDurations()),
    numbers: () => [...withoutDurations().matchAll(number)].map((match) => Number(match[0])),
    durationsMs: () =>
      [...withoutQuotes().matchAll(duration)].map((match) => durationMs(match[1] ?? '', match[2] ?? '')),
  });
}

function durationMs(amount: string, unit: string): number {
  const lower = unit.toLowerCase();
  const ms = unitMs[lower] ?? unitMs[lower.replace(/s$/, '')] ?? 0;
  if (/^half/i.test(amount)) return ms / 2;
  return (/^\d/.test(amount) ? Number.parseFloat(amount) : 1) * ms;
}

function findPlaces(text: string): readonly string[] {
  const zones = [...text.matchAll(timeZone)].map((match) => match[0]);
  if (zones.length > 0) return zones;
  const named = [...text.matchAll(capitalisedPlaces)].flatMap((match) =>
    (match[1] ?? '').split(/\s*,\s*(?:and\s+)?|\s+(?:and|or|&)\s+/),
  );
  const found = named.length > 0 ? named : [...text.matchAll(plainPlace)].map((match) => match[1] ?? '');
  return found
    .map((place) => place.replace(/[.'’-]+$/, ''))
    .filter((place) => place !== '' && !notPlaces.has(place.toLowerCase()));
}
