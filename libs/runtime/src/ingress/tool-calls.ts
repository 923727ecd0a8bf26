// A thread's tool calls: what its log says of each, joined with the dispatcher's ledger of attempts.
import type { Attempt, DispatchLedger, Snapshots, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { Outcome, Thread } from '@dormouse/thread';
import { loadThread } from '../thread-reader.ts';
import { eventsAfter, type PlacedEvent } from './log-scan.ts';
import { answered, type Answered } from './refusal.ts';
import type { ThreadLookup } from './thread-lookup.ts';
import { type ListPage, pageOf } from './thread-page.ts';

export type ToolCallState = 'approval' | 'dispatching' | 'acknowledged' | 'choice' | 'oauth' | 'detached' | 'settled';

export interface ToolCallView {
  readonly toolCallId: string;
  readonly operation: string;
  readonly toolServer: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly state: ToolCallState;
  readonly outcome?: Outcome;
  readonly since: number;
  readonly attempts: readonly { readonly at: number; readonly status: number | string }[];
}

export interface ToolCallDesk {
  /** In the order they were asked for. */
  list(key: ThreadKey, after: number, limit: number): Promise<Answered<ListPage<ToolCallView>>>;
}

export interface ToolCallPorts {
  readonly log: ThreadLog;
  readonly snapshots: Snapshots;
  readonly ledger: DispatchLedger;
  readonly threads: ThreadLookup;
}

type Requested = Pick<ToolCallView, 'toolCallId' | 'operation' | 'toolServer' | 'arguments' | 'since'> & {
  readonly position: number;
};

export function createToolCallDesk(ports: ToolCallPorts): ToolCallDesk {
  const { log, ledger, threads } = ports;
  return {
    async list(key, after, limit) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const { thread } = await loadThread(ports, key);
      const page = await pageOf(eventsAfter(log, key, after), limit, requested);
      const ids = page.data.map((call) => call.toolCallId);
      const outcomes = await outcomesOf(log, key, thread, page.data);
      const attempts = Map.groupBy(await ledger.attempts(key, ids), (attempt) => attempt.toolCallId);
      const data = page.data.map((call) =>
        viewOf(thread, call, outcomes.get(call.toolCallId), attempts.get(call.toolCallId) ?? []),
      );
      return answered({ data, nextCursor: page.nextCursor });
    },
  };
}

function requested({ position, at, event }: PlacedEvent): Requested | null {
  if (event.type !== 'ToolCallRequested') return null;
  const { toolCallId, operation, toolServer } = event;
  return { toolCallId, operation, toolServer, arguments: event.arguments, since: at, position };
}

/** How the calls that are no longer open ended: read on from the first of them until all are found. */
async function outcomesOf(
  log: ThreadLog,
  key: ThreadKey,
  thread: Thread,
  calls: readonly Requested[],
): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const missing = new Set(calls.map((call) => call.toolCallId).filter((id) => thread.calls[id] === undefined));
  const first = calls[0];
  if (first === undefined || missing.size === 0) return outcomes;
  for await (const { event } of eventsAfter(log, key, first.position)) {
    if (event.type !== 'ToolCallSettled' || !missing.delete(event.toolCallId)) continue;
    outcomes.set(event.toolCallId, event.outcome);
    if (missing.size === 0) break;
  }
  return outcomes;
}

function viewOf(
  thread: Thread,
  call: Requested,
  outcome: Outcome | undefined,
  attempts: readonly Attempt[],
): ToolCallView {
  const { position: _, ...about } = call;
  const tried = attempts.toSorted((a, b) => a.number - b.number).map(({ at, status }) => ({ at, status }));
  return { ...about, state: stateOf(thread, call.toolCallId, attempts), outcome, attempts: tried };
}

function stateOf(thread: Thread, toolCallId: string, attempts: readonly Attempt[]): ToolCallState {
  const call = thread.calls[toolCallId];
  if (call === undefined) return 'settled';
  if (call.detached) return 'detached';
  if (call.waiting.for === 'approval' || call.waiting.for === 'choice') return call.waiting.for;
  if (call.waiting.for === 'login') return 'oauth';
  return attempts.some(({ status }) => typeof status === 'number' && status >= 200 && status < 300)
    ? 'acknowledged'
    : 'dispatching';
}
