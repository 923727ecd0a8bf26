// The result of a handler: a status and a value, bytes, or lines. Written to the wire in one place.
import { apiJson } from '@dormouse/runtime';

export const jsonType = 'application/json; charset=utf-8';

export interface Reply {
  readonly status: number;
  /** Already in the API's JSON; null for no body. */
  readonly json: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: { readonly content: Uint8Array; readonly mediaType: string };
  /** Each becomes one line of JSON. */
  readonly lines?: AsyncIterable<object>;
}

/** Translates names and times by the one codec. */
export const reply = (status: number, value: unknown): Reply => ({ status, json: JSON.stringify(apiJson(value)) });

/** The same with the tag of its version. */
export const tagged = (answer: Reply, etag: string): Reply => ({ ...answer, headers: { ...answer.headers, etag } });

/** A value that is the API's JSON already: events, commits. */
export const replyAsIs = (status: number, value: unknown): Reply => ({ status, json: JSON.stringify(value) });

/** JSON text, character for character. */
export const replyText = (status: number, json: string): Reply => ({ status, json });

/** Lines of JSON, written while they are read. */
export const replyLines = (lines: AsyncIterable<object>): Reply => ({ status: 200, json: null, lines });

export const noContent: Reply = { status: 204, json: null };

export const replyBytes = (content: Uint8Array, mediaType: string): Reply => ({
  status: 200,
  json: null,
  bytes: { content, mediaType },
});
