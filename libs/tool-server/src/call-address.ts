/**
 * Owns: where the messages of a call go and what they echo.
 *
 * E1. `id`, `call_id` and `group_id` are echoed as they came, `callback_url` is used as it came. T12 T13 T17
 */
import { isJsonObject, type ToolInvocation } from '@dormouse/protocol';

export interface CallAddress {
  readonly id: string;
  readonly callId?: string;
  readonly groupId: string;
  readonly callbackUrl: string;
}

/** An invocation that was taken; one with a `problem` ends in an error result. T10 */
export interface TakenCall extends CallAddress {
  readonly operation: string;
  readonly arguments: unknown;
  readonly rootThreadId: string;
  readonly userId?: string;
  readonly problem?: string;
}

export const addressOf = ({ id, callId, groupId, callbackUrl }: CallAddress): CallAddress => ({
  id,
  groupId,
  callbackUrl,
  ...(callId === undefined ? {} : { callId }),
});

/** What every message but an event repeats. (E1) */
export const echoOf = ({ id, callId, groupId }: CallAddress): { id: string; groupId: string; callId?: string } => ({
  id,
  groupId,
  ...(callId === undefined ? {} : { callId }),
});

export function takenCall(invocation: ToolInvocation): TakenCall {
  const { operation, threadAncestors, userId } = invocation;
  return {
    ...addressOf(invocation),
    operation,
    arguments: invocation.arguments,
    rootThreadId: threadAncestors?.[0] ?? invocation.groupId,
    ...(userId === undefined ? {} : { userId }),
  };
}

/** For an invocation that is not valid, but says where its error may go; null when it does not. T10 */
export function addressWithin(json: unknown): CallAddress | null {
  const { id, call_id: callId, group_id: groupId, callback_url: callbackUrl } = isJsonObject(json) ? json : {};
  if (!isText(id) || !isText(groupId) || !isText(callbackUrl)) return null;
  return addressOf({ id, groupId, callbackUrl, ...(isText(callId) ? { callId } : {}) });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0;

/** One key per call of one thread. Ids come from outside: they are keys of maps and values of statements only. T39 */
export const callKey = (threadId: string, callId: string): string => JSON.stringify([threadId, callId]);
