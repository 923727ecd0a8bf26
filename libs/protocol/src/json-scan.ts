/**
 * Owns: the two passes over JSON text that `JSON.parse` cannot replace: counting (fast) and locating a fault (slow).
 * Not here: syntax; `JSON.parse` judges that. On broken JSON both passes end, and their answers mean nothing.
 *
 * 1. Both are linear in the length of the text and recursion-free, whatever the text is.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** A string longer than this is searched for its end by `indexOf`, which is faster per character, slower per call. */
const shortStringCharacters = 24;
/** A string with more escaped quotes than this is read character by character to its end. */
const escapedQuotesMax = 16;
/** What is neither a string nor structure, and longer than this, is skipped by a native search. */
const shortGapCharacters = 32;
const structure = /["{}[\],:]/g;

/** What one look at the text tells. */
export interface JsonScan {
  /** Object members: a colon outside a string separates exactly one, so no key has to be read. */
  readonly members: number;
  /** Whether any key is spelled with a backslash. */
  readonly escapedKeys: boolean;
}

/**
 * Scans `text`, or says `'too deep'` at the first container nested more than `depthMax` deep, `'too many'` at the first value
 * beyond `valuesMax`: a few bytes each, and they cost a reader far more than the same bytes of a string.
 */
export function scanJson(
  text: string,
  depthMax: number,
  valuesMax = Number.POSITIVE_INFINITY,
): JsonScan | 'too deep' | 'too many' {
  const escapes = text.includes('\\');
  let depth = 0;
  let values = 1;
  let gap = 0;
  let members = 0;
  let escapedKeys = false;
  let keyStart = 0;
  let keyEnd = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        keyStart = index;
        index = endOfString(text, index);
        keyEnd = index;
        break;
      case colon:
        if (++members > valuesMax) return 'too many'; // more than commas only in what is no JSON
        if (escapes && !escapedKeys) escapedKeys = holdsBackslash(text, keyStart, keyEnd);
        break;
      case comma:
        if (++values > valuesMax) return 'too many';
        break;
      case openBrace:
      case openBracket:
        if (++depth > depthMax) return 'too deep';
        if (++values > valuesMax) return 'too many';
        break;
      case closeBrace:
      case closeBracket:
        depth--;
        break;
      default:
        if (++gap <= shortGapCharacters) continue;
        index = nextStructure(text, index) - 1;
    }
    gap = 0;
  }
  return { members, escapedKeys };
}

function nextStructure(text: string, from: number): number {
  structure.lastIndex = from;
  return structure.exec(text)?.index ?? text.length;
}

function holdsBackslash(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (text.charCodeAt(index) === backslash) return true;
  return false;
}

/** Index of the quote that closes the string opened at `start`, or the length of the text if none does. */
export function endOfString(text: string, start: number): number {
  const near = Math.min(text.length, start + shortStringCharacters);
  let index = start + 1;
  for (; index < near; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index;
    if (unit === backslash) index++;
  }
  for (let escapedQuotes = 0; escapedQuotes < escapedQuotesMax; escapedQuotes++) {
    const end = text.indexOf('"', index);
    if (end === -1) return text.length;
    let slashes = end;
    while (slashes > index && text.charCodeAt(slashes - 1) === backslash) slashes--;
    if ((end - slashes) % 2 === 0) return end;
    index = end + 1;
  }
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index;
    if (unit === backslash) index++;
  }
  return text.length;
}

/** The key between the quotes at `start` and `end`, unescaped; the raw characters if its escapes are broken. */
export function keyBetween(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

/** The path of the first container nested more than `depthMax` deep or the first repeated key, in textual order. */
export function locateFault(text: string, depthMax: number): { fault: 'too deep' | 'repeated'; path: string[] } | null {
  const frames: Frame[] = [];
  const path = () => frames.map((frame) => (frame.keys ? frame.key : String(frame.index)));
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const frame = frames.at(-1);
    if (unit === quote) {
      const end = endOfString(text, index);
      if (frame?.keys && frame.awaitsKey) {
        frame.key = keyBetween(text, index, end);
        frame.awaitsKey = false;
        if (frame.keys.has(frame.key)) return { fault: 'repeated', path: path() };
        frame.keys.add(frame.key);
      }
      index = end;
    } else if (unit === comma && frame) {
      frame.index++;
      frame.awaitsKey = true;
    } else if (unit === openBrace || unit === openBracket) {
      if (frames.length === depthMax) return { fault: 'too deep', path: path() };
      frames.push({ keys: unit === openBrace ? new Set() : null, key: '', index: 0, awaitsKey: true });
    } else if (unit === closeBrace || unit === closeBracket) {
      frames.pop();
    }
  }
  return null;
}

interface Frame {
  /** Keys met so far; null in an array. */
  readonly keys: Set<string> | null;
  key: string;
  index: number;
  awaitsKey: boolean;
}
