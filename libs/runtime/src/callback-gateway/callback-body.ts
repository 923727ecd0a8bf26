// The body of a callback: a message of RAP, or the reason why it is refused for good.
//
// Invariant:
//   B1. A long message is decoded and read step by step; until then only its bytes are held.
import type { Steps } from '@dormouse/json';
import { readingCallback, type Callback, type CallbackReading } from '@dormouse/protocol';

export interface CallbackRequest {
  readonly contentType: string | null | undefined;
  readonly body: Uint8Array | string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** True when the host stopped reading: `body` is only the beginning. */
  readonly truncated?: boolean;
}

/** Why a message is refused for good, in the words of the answer and of the thread. */
export interface Refused {
  readonly status: 400 | 413 | 415 | 422;
  readonly code: string;
  readonly detail: string;
  readonly settles: boolean;
  /** Distinguishes this refusal from others of the same call; default: the body's hash. */
  readonly about?: string;
}

export type Accepted = Extract<CallbackReading, { readonly ok: true }>;
export interface NotAccepted {
  readonly ok: false;
  readonly refused: Refused;
}

const problemsShownMax = 5;

/** The message, or the reason why it is refused. (B1) */
export function* readingBody(body: CallbackRequest['body']): Steps<Accepted | NotAccepted> {
  const text = typeof body === 'string' ? body : yield* decoding(body);
  if (text === null) return { ok: false, refused: unreadable('not UTF-8', typeOf(body)) };
  const read = yield* readingCallback(text);
  return read.ok ? read : { ok: false, refused: refusalOf(read, body) };
}

/** Why the body is not even read; null for nearly all requests. */
export function whyUnread(request: CallbackRequest, bytesMax: number): Refused | null {
  const { body } = request;
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  if (request.truncated === true || size > bytesMax)
    return tooLarge(`more than ${bytesMax / 1_048_576} MiB`, typeOf(body));
  if (isJson(request.contentType)) return null;
  const detail = 'a callback needs Content-Type: application/json';
  return { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', detail, settles: false };
}

/** A missing content type is accepted, because some servers send none; one that is sent must be JSON. */
const isJson = (contentType: string | null | undefined): boolean =>
  !contentType || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType);

const utf8 = new TextDecoder('utf-8', { fatal: true });
const decodedAtOnceBytesMax = 262_144;

/** Null when it is no UTF-8. */
function* decoding(bytes: Uint8Array): Steps<string | null> {
  try {
    if (bytes.length <= decodedAtOnceBytesMax) return utf8.decode(bytes);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; at += decodedAtOnceBytesMax) {
      pieces.push(decoder.decode(bytes.subarray(at, at + decodedAtOnceBytesMax), { stream: true }));
      yield;
    }
    return pieces.join('') + decoder.decode();
  } catch {
    return null;
  }
}

function refusalOf(read: Exclude<CallbackReading, { ok: true }>, body: Uint8Array | string): Refused {
  const defects = read.problems
    .slice(0, problemsShownMax)
    .map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer} ${detail}`));
  switch (read.code) {
    case 'BODY_TOO_LARGE':
      return tooLarge(defects.join('; '), ('type' in read ? read.type : undefined) ?? typeOf(body));
    case 'INVALID_JSON':
    case 'BODY_TOO_DEEP':
      return unreadable(defects.join('; '), typeOf(body));
    case 'INVALID_BODY': {
      const detail = `the tool sent a message that is not valid: ${defects.join('; ')}`;
      return { status: 422, code: 'INVALID_BODY', detail, settles: false, about: aboutType(read.type) };
    }
  }
}

/** A body too large that names no other type is taken for a result: nothing else is ever that large. */
export function tooLarge(why: string, type: string | null): Refused {
  const settles = type === null || type === 'tool_result';
  return {
    status: 413,
    code: settles ? 'RESULT_TOO_LARGE' : 'BODY_TOO_LARGE',
    detail: `the tool sent ${settles ? 'a result' : 'a message'} that is too large: ${why}`,
    settles,
  };
}

function unreadable(why: string, type: string | null): Refused {
  const settles = type === 'tool_result';
  return {
    status: 400,
    code: settles ? 'RESULT_UNREADABLE' : 'INVALID_JSON',
    detail: `the tool sent a message that cannot be read: ${why}`,
    settles,
  };
}

/** One record per call and other type: a stream of broken view updates must not settle a call as broken results. */
const aboutType = (type: Callback['type'] | undefined): string | undefined =>
  type === 'tool_result' ? undefined : type;

/** The type that an unreadable body claims near start or end. JSON strings escape quotes, so text cannot fake it. */
export function typeOf(body: Uint8Array | string): string | null {
  const claim = /"type"\s{0,16}:\s{0,16}"(tool_result|subscription_event|oauth|user_choice|view_update)"/;
  const stretch = 65_536;
  const textOf = (part: Uint8Array | string): string =>
    typeof part === 'string' ? part : Buffer.from(part).toString('latin1');
  return (claim.exec(textOf(body.slice(0, stretch))) ?? claim.exec(textOf(body.slice(-stretch))))?.[1] ?? null;
}
