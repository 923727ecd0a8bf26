// The client API's negative answers: a refusal is a value, with a code that has a page. Faults are thrown.
import type { Problem } from '@dormouse/json';

/** Codes that the ingress itself gives; the host adds its own (syntax, keys, limits). */
export type RefusalCode =
  | 'NOT_FOUND'
  | 'INVALID_BODY'
  | 'FORBIDDEN'
  | 'ALREADY_EXISTS'
  | 'AGENT_IN_USE'
  | 'SECRET_IN_USE'
  | 'CONTENT_ERASED'
  | 'THREAD_OPEN'
  | 'CHOICE_SETTLED'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMITED'
  | 'CHOICE_CHANGED'
  | 'APPROVAL_COUNTED'
  | 'QUOTA_EXCEEDED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'TOO_MANY_WEBHOOKS'
  | 'TOO_MANY_SOURCES'
  | 'TOO_MANY_SCHEDULES'
  | 'WEBHOOK_DISABLED'
  | 'UNAUTHENTICATED'
  | 'INVALID_JSON'
  | 'BODY_TOO_DEEP'
  | 'BODY_TOO_LARGE';

export interface Refusal {
  readonly code: RefusalCode;
  /** One English sentence for the client's developer; never quotes a value of the request but a name. */
  readonly detail: string;
  readonly errors?: readonly Problem[];
  /** With `CHOICE_SETTLED`: the first answer. */
  readonly settled?: object;
  /** With `RATE_LIMITED`. */
  readonly retryAfterMs?: number;
}

export type Answered<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const answered = <T>(value: T): Answered<T> => ({ ok: true, value });

export const refused = (code: RefusalCode, detail: string, more: Partial<Refusal> = {}): Answered<never> => ({
  ok: false,
  refusal: { code, detail, ...more },
});

export const notFound = (what: string): Answered<never> => refused('NOT_FOUND', `There is no such ${what}.`);

/** What must be true of what is there, or of its absence, for a change to be made. */
export type Precondition<Item> = (current: Item | null) => boolean;

/** For a change without one. */
export const always: Precondition<unknown> = () => true;

export const preconditionFailed = (what: string): Answered<never> =>
  refused('PRECONDITION_FAILED', `The ${what} is another one than \`If-Match\` names: it was changed meanwhile.`);

/** Right syntax, wrong content; each problem points into the body as it was sent. */
export const invalid = (errors: readonly Problem[]): Answered<never> =>
  refused('INVALID_BODY', 'The request cannot be used as it is; see errors.', { errors });
