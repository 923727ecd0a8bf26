// A history without the parts that differ in every run: ids, hashes and addresses become the order in which they first
// appear, times and durations are dropped. Two runs of one scenario are the same history when these are deep-equal.
//
// Invariants:
//   N1. Equal names stay equal and different ones different: a call settled under another id is not the same history.
//   N2. Order, texts, numbers and the fields there are stay as they are.
import type { Json } from './standalone-process.ts';

const ulid = /(?<![0-9A-Za-z])[0-9A-HJKMNP-TV-Z]{26}(?![0-9A-Za-z])/;
const hash = /(?<![0-9A-Za-z])[0-9a-f]{32,64}(?![0-9A-Za-z])/;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;
const origin = /\bhttps?:\/\/[\w.-]+:\d+/;
const named = new RegExp([time, ulid, hash, origin].map((each) => `(${each.source})`).join('|'), 'g');
/** A duration, which is never the same. */
const durations = new Set(['active_ms', 'waiting_ms']);
const kinds = ['time', 'id', 'hash', 'origin'] as const;

/** The same JSON; every part of one canonicalisation shares one numbering. */
export function canonical(history: Json): Json {
  const seen = new Map<string, string>();
  const nameOf = (text: string, ...groups: readonly (string | undefined)[]): string => {
    const kind = kinds[groups.findIndex((group) => group !== undefined)] ?? 'id';
    if (kind === 'time') return '<time>'; // two things may happen in one millisecond, or in two
    const known = seen.get(text) ?? `<${kind} ${seen.size + 1}>`; // (N1)
    seen.set(text, known);
    return known;
  };
  const walk = (value: Json): Json => {
    if (typeof value === 'string')
      return value.replaceAll(named, (text, ...rest: (string | undefined)[]) =>
        nameOf(text, ...rest.slice(0, kinds.length)),
      );
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, durations.has(key) ? '<duration>' : walk(each)]),
    );
  };
  return walk(history);
}
