// A tool's result as the log takes it: cleaned, and with everything large or binary in the blob store. (claim check)
//
// Invariants:
//   S1. At most `inlineBytesMax` bytes of one result are inline, all its texts and segments together.
//   S2. A blob is durable before the input that refers to it exists.
//   S3. Display is cosmetic: a segment that does not fit is left out, and people see the text instead.
import { hash } from 'node:crypto';
import type { ContentItem as WireItem, DisplaySegment as WireSegment } from '@dormouse/protocol';
import type { Blobs } from '@dormouse/ports';
import type { ContentItem, DisplaySegment } from '@dormouse/thread';
import { cleanText } from './clean-text.ts';

export interface StoredResult {
  readonly content: readonly ContentItem[];
  readonly displayAs: readonly DisplaySegment[] | null;
}

interface Checking {
  readonly blobs: Blobs;
  readonly tenant: string;
  leftBytes: number;
  readonly puts: Promise<void>[];
}

const previewCharactersMax = 1_000;

/** Resolves when every blob is durable. @throws Fault when the blob store is not reachable. */
export async function storeResult(
  deps: { readonly blobs: Blobs; readonly inlineBytesMax: number },
  tenant: string,
  items: readonly WireItem[],
  segments: readonly WireSegment[] | undefined,
): Promise<StoredResult> {
  const checking: Checking = { blobs: deps.blobs, tenant, leftBytes: deps.inlineBytesMax, puts: [] };
  const content = items.map((item) => toItem(item, checking));
  const displayAs = segments === undefined ? null : segments.flatMap((segment) => toSegment(segment, checking) ?? []);
  if (checking.puts.length > 0) await Promise.all(checking.puts); // (S2)
  return { content, displayAs };
}

/** Text without control characters; images are bytes and stay. */
export const cleanItem = (item: WireItem): WireItem =>
  item.type === 'text' ? { type: 'text', text: cleanText(item.text) } : item;

function toItem(item: WireItem, checking: Checking): ContentItem {
  if (item.type === 'image')
    return { type: 'image', mediaType: item.mediaType, ...putBase64(item.data, item.mediaType, checking) };
  const { text } = item;
  if (takes(checking, text)) return { type: 'text', text };
  const bytes = Buffer.from(text, 'utf8');
  return {
    type: 'text',
    blob: put(bytes, 'text/plain; charset=utf-8', checking),
    bytes: bytes.length,
    preview: beginning(text),
  };
}

function toSegment(segment: WireSegment, checking: Checking): DisplaySegment | null {
  switch (segment.type) {
    case 'text': {
      const content = cleanText(segment.content);
      return takes(checking, content) ? { type: 'text', content } : null;
    }
    case 'diff': {
      const content = { path: cleanText(segment.content.path), patch: cleanText(segment.content.patch) };
      return takes(checking, content.path + content.patch) ? { type: 'diff', content } : null;
    }
    case 'image': {
      const { mediaType, data } = segment.content;
      return { type: 'image', content: { mediaType, blob: putBase64(data, mediaType, checking).blob } };
    }
  }
}

/** (S1) */
function takes(checking: Checking, text: string): boolean {
  const bytes = Buffer.byteLength(text);
  if (bytes > checking.leftBytes) return false;
  checking.leftBytes -= bytes;
  return true;
}

function putBase64(
  data: string,
  mediaType: string,
  checking: Checking,
): { readonly blob: string; readonly bytes: number } {
  const bytes = Buffer.from(data, 'base64');
  return { blob: put(bytes, mediaType, checking), bytes: bytes.length };
}

function put(bytes: Buffer, mediaType: string, checking: Checking): string {
  const sha256 = hash('sha256', bytes);
  checking.puts.push(checking.blobs.put(checking.tenant, sha256, bytes, mediaType));
  return sha256;
}

/** The first characters, never half of one. */
function beginning(text: string): string {
  const cut = text.slice(0, previewCharactersMax);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
