// What every answer of the server carries, whichever way its request took: an id to ask about, and that its type is meant.
import type { AnswerHeaders } from './shortcut.ts';

export type RequestMarks = AnswerHeaders & { readonly 'x-request-id': string };

export const marksOf = (id: string): RequestMarks => ({ 'x-request-id': id, 'x-content-type-options': 'nosniff' });

/** A new id with every call. */
export function requestIds(): () => string {
  let requests = 0;
  const start = Date.now().toString(36);
  return () => `req-${start}-${(++requests).toString(36)}`;
}
