/**
 * Owns: which calls were taken, and that each ends once: the stored side of a call.
 * Not here: running handlers (`calls.ts`).
 *
 * L1. A call is stored before it is acknowledged. A POST repeats an earlier one when thread, id, operation and
 *     arguments are equal, and so is the `Idempotency-Key`; without one, only while the call runs and for a short time
 *     after it was taken: foreign runtimes use ids again. Any other POST is a new call. T11 T24 T26
 * L2. A call ends once: its state and its message are one transaction. T11
 * L3. What is stored of a call is sealed; arguments and addresses are dropped when the call ends, its result is kept
 *     for a repetition, which gets the same message again. T32
 * L4. A call whose result cannot be stored ends without one, which is logged: it holds up no other. T11
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type ContentItem, encodeCallback, errorTextPrefix } from '@dormouse/protocol';
import { echoOf, nameOf, type PostedCall, type TakenCall } from './call-address.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { CallState, Store } from '../store/store.ts';
import { cleaned } from './thread-store.ts';
import { failed, ToolOutput } from '../define/tool-output.ts';

const rememberedMsMax = 86_400_000;
const rememberedMax = 100_000;
/** Total size of the results that are kept for repetitions. */
const answersBytesMax = 64 * 1024 * 1024;
/** How long a POST without `Idempotency-Key` may be the repetition of a call that has ended. */
const repetitionMsMax = 60_000;
const cancelledRememberedMax = 10_000;
/** How long a cancellation may precede a call without `Idempotency-Key`. */
const overtakingMsMax = 10_000;

/** A call left over from an earlier process. `restarts` counts the restarts during its work. */
export interface LeftCall {
  readonly call: TakenCall;
  /** It waited for a user. */
  readonly wasAsking: boolean;
  readonly state: 'running' | 'subscribed';
  readonly restarts: number;
}

export interface CallLedger {
  /** (L1) */
  readonly take: (posted: PostedCall) => { readonly isNew: boolean; readonly call: TakenCall };
  /** Sends the stored result of a repeated call to the address in this POST; nothing while there is none. (L3) */
  readonly repeat: (call: TakenCall) => void;
  /** Ends the call with this result; false when it has ended before. `also` runs in the same transaction. (L2) */
  readonly settle: (call: TakenCall, output: ToolOutput, clean: (text: string) => string) => boolean;
  /** The confirmation of a subscription: the call has its result, its handler continues. T28 */
  readonly confirm: (call: TakenCall, text: string, clean: (text: string) => string) => boolean;
  /** Ends it without a message: no caller waits. */
  readonly end: (call: TakenCall) => void;
  readonly isOpen: (call: TakenCall) => boolean;
  /** The call starts or stops waiting for a user. */
  readonly setAsking: (call: TakenCall, isAsking: boolean) => void;
  readonly isAsking: (call: TakenCall) => boolean;
  /** A cancellation that names no call that was taken. It counts for one call. T36 */
  readonly rememberCancelled: (threadId: string, callId: string) => void;
  readonly wasCancelled: (call: TakenCall) => boolean;
  /** The calls that ran when the process ended; counts the restart. */
  readonly left: () => readonly LeftCall[];
  readonly sweep: () => void;
}

interface Answer {
  readonly messageId: string;
  readonly body: string;
}

export function createCallLedger(store: Store, outbox: Outbox, log: (line: string) => void): CallLedger {
  const { vault, calls } = store;
  const cancelled = new Map<string, number>(); // by digest: ids may be long
  const digestOf = (...parts: readonly unknown[]): string => vault.digest(JSON.stringify(parts));
  const move = (call: TakenCall, from: readonly CallState[], to: CallState): boolean => calls.move(call.key, from, to); // (L3)

  const send = ({ callbackUrl, groupId, trace }: TakenCall, { messageId, body }: Answer): void =>
    outbox.add({ callbackUrl, threadId: groupId, messageId, body, trace });

  function finish(
    call: TakenCall,
    output: ToolOutput,
    to: 'ended' | 'subscribed',
    clean: (text: string) => string,
  ): boolean {
    const body = resultBody(call, output, to === 'subscribed', clean, log);
    const isFirst = store.transaction(() => {
      if (!move(call, ['running'], body === null ? 'ended' : to)) return false;
      if (body === null) return false; // (L4)
      const answer: Answer = { messageId: randomUUID(), body };
      calls.answer(call.key, vault.seal('answer', answer));
      send(call, answer);
      return true;
    });
    if (isFirst) log(`${nameOf(call)} ${to === 'subscribed' ? 'subscribed' : kindOf(output)}`);
    return isFirst;
  }

  return {
    take(posted) {
      const { groupId, id, operation, problem, deliveryKey } = posted;
      const work = digestOf(operation, posted.arguments, problem);
      const delivery = deliveryKey === undefined ? null : digestOf(deliveryKey);
      const row = { thread: groupId, call: id, work, delivery };
      const known = calls.repeated(row, Date.now() - repetitionMsMax);
      if (known !== undefined) return { isNew: false, call: { ...posted, key: known.key } };
      const call = { ...posted, key: randomBytes(16).toString('base64url') };
      calls.add({ ...row, key: call.key, operation, sealed: vault.seal('call', call), at: Date.now() });
      return { isNew: true, call };
    },
    repeat(call) {
      const row = calls.get(call.key);
      if (row === undefined || row.state === 'running') return;
      const body = row.answer === null ? resultBody(call, failed(forgottenText), false, (text) => text, log) : null;
      if (row.answer !== null) send(call, vault.open('answer', row.answer) as Answer);
      else if (body !== null) send(call, { messageId: randomUUID(), body });
    },
    settle: (call, output, clean) => finish(call, output, 'ended', clean),
    confirm: (call, text, clean) => finish(call, new ToolOutput({ text }), 'subscribed', clean),
    end: (call) => void move(call, ['running', 'subscribed'], 'ended'),
    isOpen: (call) => calls.get(call.key)?.state === 'running',
    setAsking: (call, isAsking) => calls.setAsking(call.key, isAsking),
    isAsking: (call) => calls.get(call.key)?.isAsking === true,
    rememberCancelled(threadId, callId) {
      if (calls.keysOf(threadId, callId).length > 0) return;
      cancelled.set(digestOf(threadId, callId), Date.now());
      const [oldest] = cancelled.keys();
      if (cancelled.size > cancelledRememberedMax && oldest !== undefined) cancelled.delete(oldest);
    },
    wasCancelled({ groupId, id, deliveryKey }) {
      const digest = digestOf(groupId, id);
      const at = cancelled.get(digest);
      cancelled.delete(digest);
      return at !== undefined && (deliveryKey !== undefined || Date.now() - at <= overtakingMsMax);
    },
    left() {
      calls.countRestart();
      return calls.open().map(({ key, state, sealed, isAsking, restarts }) => ({
        call: { ...(vault.open('call', sealed) as PostedCall), key },
        state: state === 'running' ? 'running' : 'subscribed',
        wasAsking: isAsking,
        restarts,
      }));
    },
    sweep: () => calls.sweep({ before: Date.now() - rememberedMsMax, rowsMax: rememberedMax, answersBytesMax }),
  };
}

const forgottenText = 'this call was made before and has ended; its result is not remembered any more.';

const kindOf = ({ text }: ToolOutput): string => (text?.startsWith(errorTextPrefix) ? 'error' : 'result');

/**
 * The bytes of a result. One that no runtime could accept becomes an error that says so: nothing is dropped. T11 T18
 * Null, and a log line, when not even that can be stored. (L4)
 */
function resultBody(
  call: TakenCall,
  output: ToolOutput,
  subscription: boolean,
  clean: (text: string) => string,
  log: (line: string) => void,
): string | null {
  try {
    return encoded(call, output, subscription, clean);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    try {
      const body = encoded(call, failed('the result of the tool is too large or not valid.'), false, clean);
      log(`${nameOf(call)}: its result is not valid: ${error.message}`);
      return body;
    } catch {
      log(`${nameOf(call)} ends without a result, which cannot be written down: ${error.message}`);
      return null;
    }
  }
}

/** @throws RangeError for a result that no runtime could accept. */
function encoded(
  call: TakenCall,
  { text, content, displayAs }: ToolOutput,
  subscription: boolean,
  clean: (text: string) => string,
): string {
  const fields = cleaned({ text, content, displayAs }, clean) as { text?: string; content?: ContentItem[] };
  return JSON.stringify(encodeCallback({ type: 'tool_result', ...echoOf(call), subscription, ...fields }));
}
