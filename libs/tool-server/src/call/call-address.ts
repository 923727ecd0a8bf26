/**
 * Owns: the identity of a call: where its messages go, what they echo, and what distinguishes it from another one.
 *
 * E1. `id`, `call_id` and `group_id` are echoed as they came, whatever their length; `callback_url` is used as it came.
 *     T12 T13 T17
 * E2. A runtime may use an id again: what is stored of a call refers to its `key`, which this server assigns. T24
 */
import { isJsonObject } from '@dormouse/json';
import { type ToolInvocation } from '@dormouse/protocol';

export interface CallAddress {
  readonly id: string;
  readonly callId?: string;
  readonly groupId: string;
  readonly callbackUrl: string;
  /** `traceparent` that its messages go on with. */
  readonly trace?: string;
}

/** An invocation as it was posted; one with a `problem` ends in an error result. T10 */
export interface PostedCall extends CallAddress {
  readonly operation: string;
  readonly arguments: unknown;
  readonly rootThreadId: string;
  readonly userId?: string;
  readonly problem?: string;
  /** The `Idempotency-Key` of the POST. */
  readonly deliveryKey?: string;
}

/** A call that was taken. */
export interface TakenCall extends PostedCall {
  /** (E2) */
  readonly key: string;
}

export const addressOf = ({ id, callId, groupId, callbackUrl, trace }: CallAddress): CallAddress => ({
  id,
  groupId,
  callbackUrl,
  ...(trace === undefined ? {} : { trace }),
  ...(callId === undefined ? {} : { callId }),
});

/** What every message but an event repeats. (E1) */
export const echoOf = ({ id, callId, groupId }: CallAddress): { id: string; groupId: string; callId?: string } => ({
  id,
  groupId,
  ...(callId === undefined ? {} : { callId }),
});

export function postedCall(invocation: ToolInvocation): PostedCall {
  const { operation, threadAncestors, userId } = invocation;
  return {
    ...addressOf(invocation),
    operation,
    arguments: invocation.arguments,
    rootThreadId: threadAncestors?.[0] || invocation.groupId,
    ...(userId ? { userId } : {}),
  };
}

/** For an invocation that is not valid, but says where its error may go; null when it does not. T10 */
export function addressWithin(json: unknown): CallAddress | null {
  const { id, call_id: callId, group_id: groupId, callback_url: callbackUrl } = isJsonObject(json) ? json : {};
  if (!isText(id) || !isText(groupId) || !isText(callbackUrl)) return null;
  return addressOf({ id, groupId, callbackUrl, ...(typeof callId === 'string' ? { callId } : {}) });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0;

const nameCharactersMax = 200;

/** The name of a call in a log line. Both parts come from outside, and may be as long as a body. */
export const nameOf = ({ operation, id }: Pick<PostedCall, 'operation' | 'id'>): string =>
  [operation, id].map((part) => part.slice(0, nameCharactersMax)).join(' ');
