// What a user's message carries into the log: small text inline, everything large in the blob store first.
//
// Invariants:
//   M1. A payload over `inlineBytesMax` is durable in the blob store before the input naming it exists.
//   M3. The blob is stored as one of its thread: it goes with the last of those that name it. (ports B1)
//   M2. A reference to text keeps a preview, so that a log reads without the blob store. (content C2)
import { hash } from 'node:crypto';
import { fitsBytes } from '@dormouse/protocol';
import type { Blobs, ThreadKey } from '@dormouse/ports';
import type { Content, ContentItem } from '@dormouse/thread';

export const inlineBytesMax = 65_536;
const previewCharacters = 1_000;

/** One item of a message as a client sends it; `data` is base64 that has been checked. */
export type MessageItem =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mediaType: string };

export async function storeContent(
  { blobs }: { readonly blobs: Blobs },
  key: ThreadKey,
  items: readonly MessageItem[],
): Promise<Content> {
  const content: ContentItem[] = [];
  for (const item of items) content.push(isInline(item) ? inline(item) : await storeItem(blobs, key, item));
  return content;
}

const isInline = (item: MessageItem): boolean =>
  item.type === 'text' ? fitsBytes(item.text, inlineBytesMax) : item.data.length <= inlineBytesMax;

const inline = (item: MessageItem): ContentItem =>
  item.type === 'text'
    ? { type: 'text', text: item.text }
    : { type: 'image', data: item.data, mediaType: item.mediaType };

async function storeItem(blobs: Blobs, key: ThreadKey, item: MessageItem): Promise<ContentItem> {
  if (item.type === 'text') {
    const bytes = Buffer.from(item.text, 'utf8');
    const blob = await put(blobs, key, bytes, 'text/plain; charset=utf-8');
    return { type: 'text', blob, bytes: bytes.length, preview: item.text.slice(0, previewCharacters).toWellFormed() };
  }
  const bytes = Buffer.from(item.data, 'base64');
  const blob = await put(blobs, key, bytes, item.mediaType);
  return { type: 'image', mediaType: item.mediaType, blob, bytes: bytes.length };
}

async function put(blobs: Blobs, { tenant, thread }: ThreadKey, bytes: Uint8Array, mediaType: string): Promise<string> {
  const sha256 = hash('sha256', bytes);
  await blobs.put(tenant, sha256, bytes, mediaType, thread); // (M3)
  return sha256;
}
