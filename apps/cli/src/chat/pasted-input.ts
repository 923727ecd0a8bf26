// Between the terminal and the line editor: a paste arrives in one piece, whatever lines it has.
//
// Invariants:
//   B1. A line feed of a paste does not enter the line: it is shown as `lineFeedMark`, and `pastedText` turns it back.
//   B2. Control characters of a paste are left out: pasted text edits nothing.
//   B3. Keys pass through unchanged. Nothing of the terminal is read after `close`.
import { PassThrough, type Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

export const lineFeedMark = '␤';

/** Terminals mark pastes between these two, when they are asked to. */
export const pasteModeOn = '\u001b[?2004h';
export const pasteModeOff = '\u001b[?2004l';
const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

/** The text that was typed or pasted into a line. (B1) */
export const pastedText = (line: string): string => line.replaceAll(lineFeedMark, '\n');

export interface PastedInput {
  /** For the line editor, as a terminal if the source is one. */
  readonly input: Readable;
  close(): void;
}

interface RawMode {
  isRaw?: boolean;
  setRawMode?: (isOn: boolean) => unknown;
}

export function openPastedInput(terminal: Readable): PastedInput {
  const { setRawMode } = terminal as RawMode;
  const input: PassThrough & RawMode = new PassThrough();
  if (setRawMode !== undefined)
    input.setRawMode = (isOn) => {
      setRawMode.call(terminal, isOn);
      input.isRaw = isOn;
    };
  const decoder = new StringDecoder('utf8');
  const reader = createPasteReader();
  const onData = (chunk: Buffer | string): void => {
    input.write(reader.read(typeof chunk === 'string' ? chunk : decoder.write(chunk)));
  };
  const onEnd = (): void => void input.end();
  terminal.on('data', onData).on('end', onEnd);
  terminal.resume(); // it was paused while a question was open
  return {
    input,
    close() {
      terminal.off('data', onData).off('end', onEnd);
      terminal.pause(); // (B3)
    },
  };
}

export interface PasteReader {
  read(chunk: string): string;
}

export function createPasteReader(): PasteReader {
  let isPasting = false;
  let held = '';
  return {
    read(chunk) {
      let rest = held + chunk;
      let out = '';
      held = '';
      while (rest !== '') {
        const marker = isPasting ? pasteEnd : pasteStart;
        const at = rest.indexOf(marker);
        const cut = at >= 0 ? at : rest.length - beginningAtEnd(rest, marker);
        out += isPasting ? inOneLine(rest.slice(0, cut)) : rest.slice(0, cut);
        if (at < 0) {
          held = rest.slice(cut);
          return out;
        }
        isPasting = !isPasting;
        rest = rest.slice(at + marker.length);
      }
      return out;
    },
  };
}

/** Characters at the end that may be the beginning of the marker; an escape alone is a key. */
function beginningAtEnd(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 1; length -= 1)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** (B1, B2) */
const inOneLine = (text: string): string =>
  text
    .replaceAll(/\r\n?|\n/g, lineFeedMark)
    .replaceAll('\t', '  ')
    .replaceAll(/\p{Cc}/gu, '');
