/**
 * Owns: the size limits of messages that cross the wire, each named with its unit last.
 * Not here: rates, quotas and queue lengths; they belong to the services that enforce them.
 *
 * 1. A limit is checked where the message is parsed, so that both sides of the wire agree on the verdict.
 * 2. Characters are UTF-16 code units (`string.length`); bytes are those of the UTF-8 encoding.
 */

/** Longest id of any kind: thread, call, event, view type, user. */
export const idCharactersMax = 200;
/** Longest URL that is taken from a message. */
export const urlCharactersMax = 8_192;

/** Whole body of a callback; a gateway stops reading there. */
export const callbackBytesMax = 8 * 1024 * 1024;
/** Text of a result or event: `text`, and all text items of `content` together. */
export const textBytesMax = 4 * 1024 * 1024;
/** Arguments of one tool call, as JSON. */
export const argumentsBytesMax = 1024 * 1024;
/** Items in `content` of one result. */
export const contentItemsMax = 64;
/** Segments in `display_as` of one result. */
export const displaySegmentsMax = 64;
/** Longest media type of an image, for example `image/png`. */
export const mediaTypeCharactersMax = 127;
/** Options of one choice. */
export const choicesMax = 32;
/** Label of one option. */
export const choiceBytesMax = 1024;
/** Question of one choice. */
export const promptBytesMax = 8 * 1024;
/** Ancestors of a thread that are listed in an invocation. */
export const threadAncestorsMax = 64;

/** Body of a manifest; discovery stops reading there. */
export const manifestBytesMax = 512 * 1024;
/** Name of a toolset or of a tool. */
export const nameCharactersMax = 128;
/** Tools in one manifest. */
export const toolsMax = 128;
/** One `inputSchema`, as JSON without insignificant white space. */
export const schemaBytesMax = 64 * 1024;
/** Containers nested in one `inputSchema`. */
export const schemaDepthMax = 16;

/** Defects of one kind that a refusal lists. */
export const problemsMax = 200;
/** Annotations of one tool. */
export const annotationsMax = 200;

/** Whether the UTF-8 encoding of `text` has at most `bytesMax` bytes. Stops counting as soon as the answer is known. */
export function fitsBytes(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return false;
  return text.length * 3 <= bytesMax || utf8Bytes(text) <= bytesMax;
}

/** Number of bytes of the UTF-8 encoding of `text`; a lone surrogate counts as U+FFFD, 3 bytes. */
export function utf8Bytes(text: string): number {
  const beyondAscii = text.search(/[^\0-\x7f]/); // native, and enough for most texts
  if (beyondAscii === -1) return text.length;
  let bytes = text.length;
  for (let index = beyondAscii; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPairAt(text, index, unit)) {
      bytes += 2; // 4 bytes for two units
      index++;
    } else bytes += 2;
  }
  return bytes;
}

function isPairAt(text: string, index: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}
