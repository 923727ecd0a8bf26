// Text from outside, cleaned before people, terminals and models see it: control characters and terminal sequences are
// removed, every other character stays. Lone surrogates never get here, the JSON reader refuses them. R49
import { type Steps, resultOf } from '@dormouse/json';

// eslint-disable-next-line no-control-regex -- control characters are what this is about
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
/** Colours and cursor movements (CSI, no longer than any is), and titles and links (OSC), whole; linear on any text. */
// eslint-disable-next-line no-control-regex -- the same
const terminalSequence = /\u001b\[[0-?]{0,256}[ -/]{0,16}[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/y;
/** A terminal sequence, or what may be the end of one. */
const sequenceOrEnd = new RegExp(`${terminalSequence.source}|\u001b\\\\?`, 'y');
const escape = 0x1b;

/** Keeps tab, line feed and carriage return. */
export const cleanText = (text: string): string => resultOf(cleaningText(text));

/** The same step by step, for megabytes; `stepCharacters` are cleaned at once. */
export function* cleaningText(text: string, stepCharacters = 131_072): Steps<string> {
  if (!control.test(text)) return text;
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    if (from > 0) yield;
    const to = endOfPiece(text, from, from + stepCharacters);
    const piece = text.slice(from, to);
    pieces.push(control.test(piece) ? cleanPiece(piece) : piece);
    from = to;
  }
  return pieces.join('');
}

/** `to`, or the end of the terminal sequence that spans it. */
function endOfPiece(text: string, from: number, to: number): number {
  const last = from + text.slice(from, to).lastIndexOf('\u001b');
  return last < from ? to : Math.max(to, last + lengthAt(sequenceOrEnd, text, last));
}

/** Character by character: `replace` makes a tree of strings, with a node for every removed character. */
function cleanPiece(piece: string): string {
  const kept = new Uint16Array(piece.length);
  let [length, widest] = [0, 0];
  for (let at = 0; at < piece.length; at++) {
    const unit = piece.charCodeAt(at);
    if (unit === escape) at += Math.max(1, lengthAt(terminalSequence, piece, at)) - 1;
    else if (!isControl(unit)) {
      kept[length++] = unit;
      widest |= unit;
    }
  }
  const units = kept.subarray(0, length);
  return widest < 0x100
    ? Buffer.from(units).toString('latin1')
    : Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}

function isControl(unit: number): boolean {
  if (unit < 0x20) return unit !== 0x09 && unit !== 0x0a && unit !== 0x0d;
  return unit >= 0x7f && unit <= 0x9f;
}
