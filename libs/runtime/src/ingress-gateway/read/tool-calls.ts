// A thread's tool calls: each as it is in the log, joined with the dispatcher's ledger of attempts.
import type { Attempt, PageRequest, ThreadKey, ThreadLog, Page } from '@dormouse/ports';
import { callOf, type Outcome, type Thread } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { type Generation, lineageOf, pageOfLineage, threadAt } from './lineage.ts';
import { eventsAfter, type PlacedEvent } from './log-scan.ts';
import { answered, type Answered } from '../refusal.ts';
import { isAcknowledgement } from './waiting-sentence.ts';

export type ToolCallState = 'approval' | 'dispatching' | 'acknowledged' | 'choice' | 'oauth' | 'detached' | 'settled';

export interface ToolCallView {
  readonly toolCallId: string;
  readonly operation: string;
  readonly toolServer: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What a person allowed instead of `arguments`. */
  readonly argumentsAllowed?: Readonly<Record<string, unknown>>;
  readonly state: ToolCallState;
  readonly outcome?: Outcome;
  readonly since: number;
  readonly attempts: readonly { readonly at: number; readonly status: number | string }[];
  /** For an inherited call of a fork: the thread that made the call. */
  readonly threadId?: string;
}

export interface ToolCallApi {
  /** In the order of the model's requests; a fork's begin with those that it inherited. */
  list(key: ThreadKey, page: PageRequest): Promise<Answered<Page<ToolCallView>>>;
}

export type ToolCallPorts = Pick<IngressParts, 'log' | 'snapshots' | 'ledger' | 'threads'>;

type Requested = Pick<ToolCallView, 'toolCallId' | 'operation' | 'toolServer' | 'arguments' | 'since'> & {
  readonly position: number;
  readonly generation: Generation;
};

export function createToolCallApi(ports: ToolCallPorts): ToolCallApi {
  const { log, threads } = ports;
  return {
    async list(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const { data, nextCursor } = await pageOfLineage(log, await lineageOf(log, key), page, requested);
      const views: ToolCallView[] = [];
      for (const [generation, calls] of Map.groupBy(data, (call) => call.generation))
        views.push(...(await viewsOf(ports, generation, calls)));
      return answered({ data: views, nextCursor });
    },
  };
}

function requested({ position, at, event }: PlacedEvent, generation: Generation): Requested | null {
  if (event.type !== 'ToolCallRequested') return null;
  const { toolCallId, operation, toolServer } = event;
  return { toolCallId, operation, toolServer, arguments: event.arguments, since: at, position, generation };
}

async function viewsOf(
  ports: ToolCallPorts,
  generation: Generation,
  calls: readonly Requested[],
): Promise<readonly ToolCallView[]> {
  const { key } = generation;
  const thread = await threadAt(ports, generation);
  const { outcomes, edits } = await settledOf(ports.log, generation, thread, calls);
  const ids = calls.map((call) => call.toolCallId);
  const attempts = Map.groupBy(await ports.ledger.attempts(key, ids), (attempt) => attempt.toolCallId);
  return calls.map((call) => {
    const tried = attempts.get(call.toolCallId) ?? [];
    const outcome = outcomes.get(call.toolCallId);
    const allowed = edits.get(call.toolCallId) ?? editOf(thread, call);
    const edit = allowed === undefined ? {} : { argumentsAllowed: allowed };
    return generation.inherited
      ? { ...viewOf(call, 'settled', outcome ?? 'interrupted', tried), ...edit, threadId: key.thread } // (lineage N3)
      : { ...viewOf(call, stateOf(thread, call.toolCallId, tried), outcome, tried), ...edit };
  });
}

/** Of an open call: its arguments, if they are not those of the model. */
function editOf(thread: Thread, call: Requested): ToolCallView['argumentsAllowed'] {
  const open = callOf(thread, call.toolCallId)?.arguments;
  return open === undefined || JSON.stringify(open) === JSON.stringify(call.arguments) ? undefined : open;
}

/** Of calls that are no longer open, by call. */
interface Settled {
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Arguments that a person allowed instead of the model's. */
  readonly edits: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** How the calls that are no longer open ended: reads on from the first of them until all are found. */
async function settledOf(
  log: ThreadLog,
  { key, upTo }: Generation,
  thread: Thread,
  calls: readonly Requested[],
): Promise<Settled> {
  const outcomes = new Map<string, Outcome>();
  const edits = new Map<string, Readonly<Record<string, unknown>>>();
  const callOfChoice = new Map<string, string>();
  const missing = new Set(calls.map((call) => call.toolCallId).filter((id) => callOf(thread, id) === undefined));
  const first = calls[0];
  if (first === undefined || missing.size === 0) return { outcomes, edits };
  for await (const { event, position } of eventsAfter(log, key, first.position)) {
    if (position > upTo) break;
    if (event.type === 'ChoiceRequested') callOfChoice.set(event.choiceId, event.toolCallId);
    if (event.type === 'ChoiceSettled' && event.argumentsAllowed !== undefined)
      edits.set(callOfChoice.get(event.choiceId) ?? '', event.argumentsAllowed);
    if (event.type !== 'ToolCallSettled' || !missing.delete(event.toolCallId)) continue;
    outcomes.set(event.toolCallId, event.outcome);
    if (missing.size === 0) break;
  }
  return { outcomes, edits };
}

function viewOf(
  { toolCallId, operation, toolServer, since, ...call }: Requested,
  state: ToolCallState,
  outcome: Outcome | undefined,
  attempts: readonly Attempt[],
): ToolCallView {
  const tried = attempts.toSorted((a, b) => a.number - b.number).map(({ at, status }) => ({ at, status }));
  return { toolCallId, operation, toolServer, arguments: call.arguments, since, state, outcome, attempts: tried };
}

function stateOf(thread: Thread, toolCallId: string, attempts: readonly Attempt[]): ToolCallState {
  const call = callOf(thread, toolCallId);
  if (call === undefined) return 'settled';
  if (call.detached) return 'detached';
  if (call.waiting.for === 'approval' || call.waiting.for === 'choice') return call.waiting.for;
  if (call.waiting.for === 'login') return 'oauth';
  return attempts.some(({ status }) => isAcknowledgement(status)) ? 'acknowledged' : 'dispatching';
}
