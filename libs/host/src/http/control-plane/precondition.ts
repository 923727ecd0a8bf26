// `ETag` and `If-Match`: a change is made to the version that its sender has seen, or not at all. RFC 9110
import { createHash } from 'node:crypto';
import type { Agent, ToolServer } from '@dormouse/ports';
import type { Precondition } from '@dormouse/runtime';

/** Of a version, which never changes. */
export const etagOfAgent = ({ id, version }: Agent): string => `"${id}.${version}"`;

const etagCharacters = 22;

export const etagOfServer = (server: ToolServer): string =>
  `"${createHash('sha256').update(JSON.stringify(server)).digest('base64url').slice(0, etagCharacters)}"`;

/** What `If-Match` demands of what is there; undefined without the header. A weak tag matches nothing. */
export function ifMatch<Item>(
  header: string | undefined,
  etagOf: (item: Item) => string,
): Precondition<Item> | undefined {
  if (header === undefined) return undefined;
  const wanted = header.split(',').map((tag) => tag.trim());
  return (item) => item !== null && (wanted.includes('*') || wanted.includes(etagOf(item)));
}
