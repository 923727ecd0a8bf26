// Text of strangers, before people, terminals and models see it: control characters and terminal sequences go, every
// other character stays. Lone surrogates never get here, the JSON reader refuses them. R49
import { resultOf, type Steps } from '@dormouse/protocol';

// eslint-disable-next-line no-control-regex -- control characters are what this is about
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const controls = new RegExp(control.source, 'g');
/** Colours and cursor movements (CSI, no longer than any is), and titles and links (OSC), whole; linear on any text. */
// eslint-disable-next-line no-control-regex -- the same
const terminalSequence = /\u001b\[[0-?]{0,256}[ -/]{0,16}[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/;
const terminalSequences = new RegExp(terminalSequence.source, 'g');
/** Where an escape character stands: what belongs to it. */
const sequenceHere = new RegExp(`${terminalSequence.source}|\u001b\\\\?`, 'y');

/** Keeps tab, line feed and carriage return. */
export const cleanText = (text: string): string => resultOf(cleaningText(text));

/** The same step by step, for megabytes; `stepCharacters` are cleaned at once. */
export function* cleaningText(text: string, stepCharacters = 131_072): Steps<string> {
  if (!control.test(text)) return text;
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    if (from > 0) yield;
    const to = endOfPiece(text, from, from + stepCharacters);
    pieces.push(text.slice(from, to).replace(terminalSequences, '').replace(controls, ''));
    from = to;
  }
  return pieces.join('');
}

/** At `to`, or behind the terminal sequence that stands across it. */
function endOfPiece(text: string, from: number, to: number): number {
  const escape = from + text.slice(from, to).lastIndexOf('\u001b');
  if (escape < from) return to;
  sequenceHere.lastIndex = escape;
  return Math.max(to, escape + (sequenceHere.exec(text)?.[0].length ?? 1));
}
