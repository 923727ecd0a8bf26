/**
 * Owns: content items (the part of a result for the model) and display segments (what people see instead).
 * Not here: which one is shown or sent; that is decided where a model or a client is known.
 *
 * 1. An item of an unknown type is skipped, and the message is kept. A known type with wrong fields is a defect.
 * 2. Segments are cosmetic: one that cannot be read is skipped, whatever is wrong with it.
 * 3. Names inside items and segments are the wire's own (`mediaType`); no codec touches them.
 */
import { isJsonObject } from '@dormouse/json';
import { z } from 'zod';
import { contentItemsMax, displaySegmentsMax, fitsBytes, mediaTypeCharactersMax, textBytesMax } from './limits.ts';
import { tooLarge } from './field.ts';
import { describeIssue } from './problem.ts';

/** A MIME type such as `image/png`, optionally with parameters. */
const mediaTypeField = z
  .string()
  .max(mediaTypeCharactersMax)
  .regex(/^[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/);

/** Base64 in either alphabet, with or without padding. One scan, no backtracking: images are long. */
const base64Field = z
  .string()
  .min(1)
  .refine((data) => /^[A-Za-z0-9+/_=-]*$/.test(data), 'must be base64');

const textItem = z.object({ type: z.literal('text'), text: z.string() });
const imageItem = z.object({ type: z.literal('image'), data: base64Field, mediaType: mediaTypeField });

/** Text for the model: `{type: "text", text}`. */
export type TextItem = z.infer<typeof textItem>;
/** An image for the model: `{type: "image", data, mediaType}`, data in base64. RAP tool-result, Multimodal Content. */
export type ImageItem = z.infer<typeof imageItem>;
/** An item of a result for the model. */
export type ContentItem = TextItem | ImageItem;

const textSegment = z.object({ type: z.literal('text'), content: z.string() });
const diffSegment = z.object({ type: z.literal('diff'), content: z.object({ path: z.string(), patch: z.string() }) });
const imageSegment = z.object({
  type: z.literal('image'),
  content: z.object({ data: base64Field, mediaType: mediaTypeField }),
});
export const displaySegment = z.discriminatedUnion('type', [textSegment, diffSegment, imageSegment]);

/**
 * What people see of a result: `{type: "text", content: string}`, `{type: "diff", content: {path, patch}}` or
 * `{type: "image", content: {data, mediaType}}`. RAP tool-result, Display Segments.
 */
export type DisplaySegment = z.infer<typeof displaySegment>;

/** The known items of `content`. (1) */
export const contentItem = z.discriminatedUnion('type', [textItem, imageItem]);

const itemSchemas = new Map<unknown, typeof textItem | typeof imageItem>([
  ['text', textItem],
  ['image', imageItem],
]);

/** The `content` array of a result; unknown items are skipped (1), defects are reported at `/content/<index>/…`. */
export const contentField = z
  .array(z.unknown())
  .max(contentItemsMax)
  .transform((items, context): ContentItem[] => {
    const known: ContentItem[] = [];
    items.forEach((item, index) => {
      const type = isJsonObject(item) ? item.type : undefined;
      if (typeof type !== 'string') {
        context.addIssue({ code: 'custom', path: [index], message: 'must be an object with a type' });
        return;
      }
      const reading = itemSchemas.get(type)?.safeParse(item, { error: describeIssue });
      if (reading?.success) known.push(reading.data);
      for (const issue of reading?.error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [index, ...issue.path], message: issue.message });
      }
    });
    const text = known.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('');
    if (!fitsBytes(text, textBytesMax)) {
      context.addIssue({ code: 'custom', ...tooLarge(`allows at most ${textBytesMax} bytes of text`) });
    }
    return known;
  });

/** The `display_as` array of a result; unreadable segments are skipped (2). RAP tool-result, Rendering Behavior. R48 */
export const displayField = z
  .array(z.unknown())
  .max(displaySegmentsMax)
  .transform((segments): DisplaySegment[] =>
    segments.flatMap((segment) => displaySegment.safeParse(segment).data ?? []),
  );
