// A tool's result as the log takes it: cleaned, and with everything large or binary in the blob store. (claim check)
//
// Invariants:
//   S1. At most `inlineBytesMax` bytes of one result are inline, all its texts and segments together.
//   S2. A blob is durable before the input that refers to it exists.
//   S3. Display is cosmetic: a segment that does not fit is left out, and people see the text instead.
//   S4. Megabytes are cleaned and hashed step by step, so that other work waits for one step at most.
import type { Steps } from '@dormouse/json';
import { createHash, hash } from 'node:crypto';
import type { ContentItem as WireItem, DisplaySegment as WireSegment } from '@dormouse/protocol';
import type { Blobs, ThreadKey } from '@dormouse/ports';
import type { ContentItem, DisplaySegment } from '@dormouse/thread';
import { cleaningText } from './clean-text.ts';

/** What a tool sent, without control characters. */
export interface CleanResult {
  readonly items: readonly WireItem[];
  /** Null when there is none. */
  readonly segments: readonly WireSegment[] | null;
}

/** A result as it is in the log, and the blobs that it refers to. */
export interface DividedResult {
  readonly content: readonly ContentItem[];
  readonly displayAs: readonly DisplaySegment[] | null;
  readonly blobs: readonly Blob[];
}

/** Bytes that the log refers to by their hash. */
export interface Blob {
  readonly sha256: string;
  readonly bytes: Buffer;
  readonly mediaType: string;
}

interface Dividing {
  leftBytes: number;
  readonly blobs: Blob[];
}

const previewCharactersMax = 1_000;
const encodedAtOnceCharactersMax = 131_072;
const hashedAtOnceBytesMax = 262_144;

/** Texts without control characters; images are bytes and stay. R49 (S4) */
export function* cleaningResult(
  items: readonly WireItem[],
  segments: readonly WireSegment[] | undefined,
): Steps<CleanResult> {
  const [cleanItems, cleanSegments]: [WireItem[], WireSegment[]] = [[], []];
  for (const item of items)
    cleanItems.push(item.type === 'text' ? { type: 'text', text: yield* cleaningText(item.text) } : item);
  for (const segment of segments ?? []) cleanSegments.push(yield* cleaningSegment(segment));
  return { items: cleanItems, segments: segments === undefined ? null : cleanSegments };
}

function* cleaningSegment(segment: WireSegment): Steps<WireSegment> {
  switch (segment.type) {
    case 'text':
      return { type: 'text', content: yield* cleaningText(segment.content) };
    case 'diff': {
      const { path, patch } = segment.content;
      return { type: 'diff', content: { path: yield* cleaningText(path), patch: yield* cleaningText(patch) } };
    }
    case 'image':
      return segment;
  }
}

/** (S1, S4) */
export function* dividingResult({ items, segments }: CleanResult, inlineBytesMax: number): Steps<DividedResult> {
  const dividing: Dividing = { leftBytes: inlineBytesMax, blobs: [] };
  const content: ContentItem[] = [];
  for (const item of items) content.push(yield* dividingItem(item, dividing));
  if (segments === null) return { content, displayAs: null, blobs: dividing.blobs };
  const displayAs: DisplaySegment[] = [];
  for (const segment of segments) {
    const divided = yield* dividingSegment(segment, dividing);
    if (divided !== null) displayAs.push(divided); // (S3)
  }
  return { content, displayAs, blobs: dividing.blobs };
}

/** Resolves when every blob is durable. (S2) @throws Fault when the blob store is not reachable. */
export async function storeBlobs(store: Blobs, { tenant, thread }: ThreadKey, blobs: readonly Blob[]): Promise<void> {
  await Promise.all(blobs.map(({ sha256, bytes, mediaType }) => store.put(tenant, sha256, bytes, mediaType, thread)));
}

function* dividingItem(item: WireItem, dividing: Dividing): Steps<ContentItem> {
  if (item.type === 'image') {
    const { sha256: blob, bytes } = yield* puttingImage(item, dividing);
    return { type: 'image', mediaType: item.mediaType, blob, bytes: bytes.length };
  }
  const { text } = item;
  if (takes(dividing, text)) return { type: 'text', text };
  const { sha256: blob, bytes } = yield* putting(yield* encoding(text), 'text/plain; charset=utf-8', dividing);
  return { type: 'text', blob, bytes: bytes.length, preview: beginning(text, previewCharactersMax) };
}

function* dividingSegment(segment: WireSegment, dividing: Dividing): Steps<DisplaySegment | null> {
  switch (segment.type) {
    case 'text':
      return takes(dividing, segment.content) ? segment : null;
    case 'diff':
      return takes(dividing, segment.content.path + segment.content.patch) ? segment : null;
    case 'image': {
      const { sha256: blob } = yield* puttingImage(segment.content, dividing);
      return { type: 'image', content: { mediaType: segment.content.mediaType, blob } };
    }
  }
}

/** (S1) */
function takes(dividing: Dividing, text: string): boolean {
  const bytes = Buffer.byteLength(text);
  if (bytes > dividing.leftBytes) return false;
  dividing.leftBytes -= bytes;
  return true;
}

const puttingImage = (
  { data, mediaType }: { readonly data: string; readonly mediaType: string },
  dividing: Dividing,
): Steps<Blob> => putting(Buffer.from(data, 'base64'), mediaType, dividing);

function* putting(bytes: Buffer, mediaType: string, { blobs }: Dividing): Steps<Blob> {
  const blob = { sha256: yield* hashing(bytes), bytes, mediaType };
  blobs.push(blob);
  return blob;
}

function* encoding(text: string): Steps<Buffer> {
  if (text.length <= encodedAtOnceCharactersMax) return Buffer.from(text, 'utf8');
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length;) {
    yield;
    const piece = beginning(text.slice(at), encodedAtOnceCharactersMax);
    pieces.push(Buffer.from(piece, 'utf8'));
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

function* hashing(bytes: Buffer): Steps<string> {
  if (bytes.length <= hashedAtOnceBytesMax) return hash('sha256', bytes);
  const sum = createHash('sha256');
  for (let at = 0; at < bytes.length; at += hashedAtOnceBytesMax) {
    yield;
    sum.update(bytes.subarray(at, at + hashedAtOnceBytesMax));
  }
  return sum.digest('hex');
}

/** The first characters, never half of one. */
function beginning(text: string, charactersMax: number): string {
  const cut = text.slice(0, charactersMax);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
