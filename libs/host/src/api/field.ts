// The small shapes that many requests and answers share, each with its limit.
import type { PageRequest } from '@dormouse/ports';
import { idCharactersMax } from '@dormouse/protocol';
import { z } from 'zod';

/** Names chosen by users: agents, tool servers, secrets, keys. */
export const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'must be 1 to 128 letters, digits, dots, dashes or underscores, and begin with a letter or digit',
  );

export const id = z.string().min(1).max(idCharactersMax);
/** Labels of the people whose task something is. */
export const assignees = z
  .array(id)
  .max(50)
  .refine((labels) => new Set(labels).size === labels.length, 'names an assignee twice');

export const shortText = z.string().min(1).max(500);

/** Absolute, http or https, without credentials. The outbound guard decides which URLs may be called. */
export const httpUrl = z
  .string()
  .max(8_192)
  .refine(isHttpUrl, 'must be an absolute http or https URL without credentials, query or fragment');

export const origin = httpUrl.refine(
  (text) => URL.canParse(text) && new URL(text).pathname === '/',
  'must be an origin, such as https://api.example.com',
);

export const metadata = z
  .record(z.string().min(1).max(100), z.string().max(1_000))
  .refine((labels) => Object.keys(labels).length <= 50, 'allows at most 50 labels');

/** RFC 3339 UTC with milliseconds. */
export const time = z.iso.datetime();
export const nullableTime = time.nullable();

/** A time of a request, in milliseconds since the epoch. */
export const msOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

/** A position in a thread's log: 0 is before the first event. */
export const position = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const accepted = z.object({ id: z.string() }).meta({
  id: 'RequestAccepted',
  description: 'It was taken; what came of it is an event with this id in `cause`, if need be a refusal.',
});

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() });

const queryInteger = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));

export const queryPosition = queryInteger(0, Number.MAX_SAFE_INTEGER);
export const limitOf = (standard: number, most: number) => queryInteger(1, most).default(standard);

/** `?limit=&cursor=` of every list whose cursor is issued by a store. */
export const listQuery = z.strictObject({ limit: limitOf(50, 200), cursor: z.string().max(2_000).optional() });

export const pageOf = ({ limit, cursor }: z.output<typeof listQuery>): PageRequest => ({
  limit,
  cursor: cursor ?? null,
});

/** By time: `asc` is oldest first. */
export const listOrder = z.enum(['asc', 'desc']);

/** The same where the cursor is a position in a thread's history, which includes the history that a fork inherited. */
export const historyListQuery = z.strictObject({
  limit: limitOf(50, 200),
  cursor: z
    .string()
    .regex(/^(\d{1,9}\.)?\d{1,16}$/, 'is not a cursor of this list')
    .optional(),
});

/** The same where the cursor is a position. */
export const logListQuery = z.strictObject({ limit: limitOf(50, 200), cursor: queryPosition.default(0) });

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.hash === '' && url.search === ''
  );
}

export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
