/**
 * Owns: which calls were taken, and that each ends once: the stored side of a call.
 * Not here: running handlers (`calls.ts`).
 *
 * L1. A call is stored before it is acknowledged; a second POST of it changes nothing. T11 T26
 * L2. A call ends once: its state and its message are one transaction. T11
 * L3. What is stored of a call is sealed, and dropped when the call ends. T32
 */
import { type ContentItem, encodeCallback, errorTextPrefix } from '@dormouse/protocol';
import { callKey, echoOf, type TakenCall } from './call-address.ts';
import type { Database } from './database.ts';
import type { Outbox } from './outbox.ts';
import { cleaned } from './thread-store.ts';
import { failed, ToolOutput } from './tool-output.ts';

const rememberedMsMax = 86_400_000;
const rememberedMax = 100_000;
const cancelledRememberedMax = 10_000;

/** A call that an earlier process has left. `restarts` counts how often that has happened to it while it worked. */
export interface LeftCall {
  readonly call: TakenCall;
  /** It waited for a person. */
  readonly wasAsking: boolean;
  readonly state: 'running' | 'subscribed';
  readonly restarts: number;
}

export interface CallLedger {
  /** False when this call was taken before. (L1) */
  readonly take: (call: TakenCall) => boolean;
  /** Ends the call with this result; false when it has ended before. `also` runs in the same transaction. (L2) */
  readonly settle: (call: TakenCall, output: ToolOutput, clean: (text: string) => string) => boolean;
  /** The confirmation of a subscription: the call has its result, its handler may go on. T28 */
  readonly confirm: (call: TakenCall, text: string, clean: (text: string) => string) => boolean;
  /** Ends it without a word: nobody waits. */
  readonly end: (call: TakenCall) => void;
  readonly isOpen: (call: TakenCall) => boolean;
  /** The call begins or ceases to wait for a person. */
  readonly setAsking: (call: TakenCall, isAsking: boolean) => void;
  readonly isAsking: (call: TakenCall) => boolean;
  readonly rememberCancelled: (threadId: string, callId: string) => void;
  readonly wasCancelled: (threadId: string, callId: string) => boolean;
  /** What was running when the process ended; counts the restart. */
  readonly left: () => readonly LeftCall[];
  readonly sweep: () => void;
}

export function createCallLedger(database: Database, outbox: Outbox, log: (line: string) => void): CallLedger {
  const cancelled = new Set<string>();
  const keep = `CASE WHEN ?1 = 'ended' THEN NULL ELSE sealed END`; // (L3)

  function move(call: TakenCall, from: readonly string[], to: string): boolean {
    const where = `thread = ?2 AND call = ?3 AND state IN (${from.map((state) => `'${state}'`).join()})`;
    return database.run(`UPDATE calls SET state = ?1, sealed = ${keep} WHERE ${where}`, to, call.groupId, call.id) > 0;
  }

  function finish(
    call: TakenCall,
    output: ToolOutput,
    to: 'ended' | 'subscribed',
    clean: (text: string) => string,
  ): boolean {
    const body = resultBody(call, output, to === 'subscribed', clean, log);
    const isFirst = database.transaction(() => {
      if (!move(call, ['running'], to)) return false;
      outbox.add({ callbackUrl: call.callbackUrl, threadId: call.groupId, body });
      return true;
    });
    if (isFirst) log(`${call.operation} ${call.id} ${to === 'subscribed' ? 'subscribed' : kindOf(output)}`);
    return isFirst;
  }

  return {
    take(call) {
      const insert = `INSERT OR IGNORE INTO calls (thread, call, state, operation, sealed, at) VALUES (?, ?, 'running', ?, ?, ?)`;
      const sealed = database.vault.seal('call', call);
      return database.run(insert, call.groupId, call.id, call.operation, sealed, Date.now()) > 0;
    },
    settle: (call, output, clean) => finish(call, output, 'ended', clean),
    confirm: (call, text, clean) => finish(call, new ToolOutput({ text }), 'subscribed', clean),
    end: (call) => void move(call, ['running', 'subscribed'], 'ended'),
    isOpen: (call) =>
      database.one(`SELECT 1 FROM calls WHERE thread = ? AND call = ? AND state = 'running'`, call.groupId, call.id) !==
      undefined,
    setAsking: (call, isAsking) =>
      void database.run(
        'UPDATE calls SET asking = ? WHERE thread = ? AND call = ?',
        Number(isAsking),
        call.groupId,
        call.id,
      ),
    isAsking: (call) =>
      database.one('SELECT 1 FROM calls WHERE thread = ? AND call = ? AND asking = 1', call.groupId, call.id) !==
      undefined,
    rememberCancelled(threadId, callId) {
      cancelled.add(callKey(threadId, callId));
      const [oldest] = cancelled;
      if (cancelled.size > cancelledRememberedMax && oldest !== undefined) cancelled.delete(oldest);
    },
    wasCancelled: (threadId, callId) => cancelled.has(callKey(threadId, callId)),
    left() {
      database.run(`UPDATE calls SET restarts = restarts + 1 WHERE state = 'running' AND asking = 0`);
      return database.all(`SELECT * FROM calls WHERE state <> 'ended' ORDER BY at`).map((row) => ({
        call: database.vault.open('call', row['sealed']) as TakenCall,
        state: row['state'] === 'running' ? 'running' : 'subscribed',
        wasAsking: row['asking'] === 1,
        restarts: Number(row['restarts']),
      }));
    },
    sweep() {
      database.run(`DELETE FROM calls WHERE state = 'ended' AND at < ?`, Date.now() - rememberedMsMax);
      const oldest = `SELECT at FROM calls WHERE state = 'ended' ORDER BY at DESC LIMIT 1 OFFSET ?`;
      database.run(`DELETE FROM calls WHERE state = 'ended' AND at <= (${oldest})`, rememberedMax);
    },
  };
}

const kindOf = ({ text }: ToolOutput): string => (text?.startsWith(errorTextPrefix) ? 'error' : 'result');

/** The bytes of a result. One that no runtime could take becomes an error that says so: nothing is dropped. T11 T18 */
function resultBody(
  call: TakenCall,
  output: ToolOutput,
  subscription: boolean,
  clean: (text: string) => string,
  log: (line: string) => void,
): string {
  try {
    const { text, content, displayAs } = output;
    const fields = cleaned({ text, content, displayAs }, clean) as { text?: string; content?: ContentItem[] };
    return JSON.stringify(encodeCallback({ type: 'tool_result', ...echoOf(call), subscription, ...fields }));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    log(`${call.operation} ${call.id}: its result is not valid: ${error.message}`);
    return resultBody(call, failed('the result of the tool is too large or not valid.'), false, clean, log);
  }
}
