// The calls this server has taken: what runs, what was seen, and how each ends.
//
// Invariants:
//   K1. A call that was taken ends in exactly one message, except when nobody waits for it any more. T11
//   K2. A second POST of the same call changes nothing: the runtime may send one twice. T24 keeps their ids apart.
//   K3. Ids come from outside and are only ever keys of a map. T39
import { encodeCallback, errorTextPrefix } from '@dormouse/protocol';
import { deliverResult, type DeliverySettings } from './result-delivery.ts';
import { type ExampleTool, failed } from './tool.ts';

const callsRunningMax = 1_000;
const callsRememberedMax = 10_000;

/** Where a result goes and what it must echo. T12 T13 */
export interface CallAddress {
  readonly id: string;
  readonly callId?: string;
  readonly groupId: string;
  readonly callbackUrl: string;
}

export interface Calls {
  /** How often this call has been POSTed, this time included. */
  attempt(address: CallAddress): number;
  take(address: CallAddress, tool: ExampleTool | null, operation: string, given: unknown): void;
  /** Answers a call that cannot be run at all. */
  refuse(address: CallAddress, reason: string): void;
  cancel(threadId: string, toolCallId: string): void;
  closeThread(threadId: string): void;
  /** Ends everything; resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

export function createCalls(options: {
  readonly delivery: DeliverySettings;
  readonly log: (line: string) => void;
}): Calls {
  const running = new Map<
    string,
    { readonly abort: AbortController; readonly groupId: string; readonly ended: Promise<void> }
  >();
  const attempts = new Map<string, number>();
  const taken = new Map<string, true>();
  const tools = new Set<ExampleTool>();

  function run(address: CallAddress, label: string, work: (signal: AbortSignal) => Promise<string>): void {
    const key = keyOf(address.groupId, address.id);
    if (taken.has(key)) return; // (K2)
    remember(taken, key, true);
    const abort = new AbortController();
    const ended = finish(address, label, work, abort.signal)
      .catch((error: unknown) => options.log(`${label} broke: ${String(error)}`))
      .finally(() => running.delete(key));
    running.set(key, { abort, groupId: address.groupId, ended });
  }

  async function finish(
    address: CallAddress,
    label: string,
    work: (signal: AbortSignal) => Promise<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const text = await work(signal).catch((error: unknown) =>
      failed(`the tool broke (${error instanceof Error ? error.name : 'unknown'}).`),
    ); // T19: no stack
    if (signal.aborted) return options.log(`${label} stopped`);
    const { callbackUrl, ...echo } = address;
    const body = JSON.stringify(encodeCallback({ type: 'tool_result', subscription: false, text, ...echo }));
    const outcome = await deliverResult(callbackUrl, body, options.delivery, signal);
    const said = text.startsWith(errorTextPrefix) ? 'error' : 'result';
    options.log(`${label} ${said} ${outcome.delivered} (${'status' in outcome ? outcome.status : outcome.reason})`);
  }

  return {
    attempt(address) {
      const key = keyOf(address.groupId, address.id);
      const next = (attempts.get(key) ?? 0) + 1;
      remember(attempts, key, next);
      return next;
    },
    take(address, tool, operation, given) {
      const label = `${operation} ${address.id}`;
      if (tool === null) return run(address, label, async () => failed(`there is no tool "${operation}" here.`)); // T10
      if (running.size >= callsRunningMax)
        return run(address, label, async () => failed('too many calls at once; try again later.')); // T23
      tools.add(tool);
      run(address, label, (signal) => tool.work(given, { groupId: address.groupId, signal }));
    },
    refuse: (address, reason) => run(address, `call ${address.id}`, async () => failed(reason)),
    cancel: (threadId, toolCallId) => running.get(keyOf(threadId, toolCallId))?.abort.abort(),
    closeThread(threadId) {
      for (const call of running.values()) if (call.groupId === threadId) call.abort.abort();
      for (const tool of tools) tool.forget?.(threadId);
    },
    async close() {
      for (const call of running.values()) call.abort.abort();
      await Promise.all([...running.values()].map((call) => call.ended));
    },
  };
}

const keyOf = (threadId: string, toolCallId: string): string => JSON.stringify([threadId, toolCallId]);

/** Keeps the youngest keys: this server remembers enough to recognise a repeat, not everything for ever. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > callsRememberedMax && oldest !== undefined) map.delete(oldest);
}
