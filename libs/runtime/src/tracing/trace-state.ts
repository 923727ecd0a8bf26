// What a thread's traces need from one commit to the next, as a fold of its commits, beside the thread's own state.
//
// Invariants:
//   T1. The fold of a log is the same in every process: ids come from the log, parents from `trace` of its commits.
//   T2. Its size is bounded by what is open in the thread: calls, timers, subscriptions, children, queued messages.
//   T3. `trace` of a commit is the context that caused it: of the request or callback that brought its input, of the
//       call that it settles, or of the `invoke_agent` whose completion it records.
import { type Commit, parseTraceparent, type SpanContext } from '@dormouse/ports';
import { type Event, own, type RecordedEvent, type Thread, type Usage } from '@dormouse/thread';
import type { CommittedSlice } from './committed-slice.ts';
import { inTrace, isBeginning, spanIdOf } from './span-ids.ts';

/** The trace that commits of the thread go on with, and where it began. */
export interface TurnTrace {
  /** Of the request that began the turn, or the first span of a later trace. */
  readonly request: SpanContext;
  /** Thread's clock, milliseconds since the epoch. */
  readonly since: number;
}

/** A wake that has asked the model and is not over. */
export interface Wake {
  readonly context: SpanContext;
  readonly parent: SpanContext | null;
  readonly links: readonly SpanContext[];
  /** Of the first commit: the wall clock, and the thread's. */
  readonly startedAt: number;
  readonly at: number;
  readonly turnId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** How its last completion ended: the finish reason, `interrupted`, or the code of a failure. */
  readonly outcome: string;
}

/** What caused something that is still open. */
export interface OpenCause {
  /** `execute_tool` for a call and what came of it, `invoke_agent` for a timer, the request of a queued message. */
  readonly context: SpanContext;
  /** For a call: the `invoke_agent` that requested it. */
  readonly agent?: SpanContext;
  /** For a call: its effect was stored, so that its `execute_tool` is recorded by the tool dispatcher. */
  readonly isSent?: boolean;
}

export interface TraceState {
  readonly turn: TurnTrace | null;
  readonly wake: Wake | null;
  /** By tool call id, timer id, child id or message id. */
  readonly open: Readonly<Record<string, OpenCause>>;
  /** Links of the next wake: what came and has not woken the thread yet. At most `linksMax`. */
  readonly links: readonly SpanContext[];
}

export const noTraceState: TraceState = { turn: null, wake: null, open: {}, links: [] };
const linksMax = 16;

/** A commit as the fold sees it. */
export interface TracedCommit
  extends Pick<CommittedSlice, 'key' | 'events' | 'effects' | 'after'>, Pick<Commit, 'trace' | 'at'> {
  /** Wall clock; an estimate for a commit that is read again. */
  readonly wallAt: number;
  /** Contexts that brought the inputs, other than `trace`; of a commit that is read again, those of callbacks. */
  readonly deliveredBy?: readonly SpanContext[];
}

/** What ended with a commit. */
export interface EndedWork {
  readonly wakes: readonly Wake[];
  /** Calls that were settled, with the wake that the commit began or went on with. */
  readonly calls: readonly { readonly event: Settled; readonly cause: OpenCause; readonly parent: SpanContext }[];
}

export type Settled = Extract<RecordedEvent, { readonly type: 'ToolCallSettled' }>;

export function foldTrace(before: TraceState, commit: TracedCommit): { readonly state: TraceState } & EndedWork {
  const cause = parseTraceparent(commit.trace);
  if (cause === null && before === noTraceState) return { state: before, wakes: [], calls: [] };
  const fold = new Fold(before, commit, cause);
  for (const event of commit.events) fold.add(event);
  return fold.end();
}

class Fold {
  readonly #commit: TracedCommit;
  readonly #cause: SpanContext | null;
  #turn: TurnTrace | null;
  #wake: Wake | null;
  readonly #open: Record<string, OpenCause>;
  readonly #wakes: Wake[] = [];
  readonly #settled: { readonly event: Settled; readonly cause: OpenCause }[] = [];
  /** Links of the next wake. */
  #links: SpanContext[];

  constructor(before: TraceState, commit: TracedCommit, cause: SpanContext | null) {
    this.#commit = commit;
    this.#cause = cause;
    this.#turn = before.turn;
    this.#wake = before.wake;
    this.#open = { ...before.open };
    this.#links = [...before.links, ...(commit.deliveredBy ?? [])];
    if (cause !== null && this.#isAnother(cause)) this.#begin(cause);
  }

  /** The commit goes on in a trace of its own; a message that is only queued, or a refusal, begins nothing. */
  #isAnother({ traceId }: SpanContext): boolean {
    const known = [this.#turn?.request.traceId, this.#wake?.context.traceId];
    return !known.includes(traceId) && this.#commit.events.some(({ type }) => !besideTurn.has(type));
  }

  add(event: RecordedEvent): void {
    switch (event.type) {
      case 'ThreadOpened':
        this.#spawned(event);
        break;
      case 'MessageQueued':
        if (this.#cause !== null) this.#open[event.messageId] = { context: this.#cause };
        break;
      case 'MessageAccepted':
        this.#begin(own(this.#open, event.messageId)?.context ?? this.#cause);
        break;
      case 'CompletionRequested':
        this.#ask(event.completionId, event.turnId);
        break;
      case 'CompletionRecorded':
        this.#answered(event.interrupted ? 'interrupted' : event.finishReason, event.usage);
        break;
      case 'CompletionFailed':
        this.#answered(event.code);
        break;
      case 'ToolCallRequested':
        this.#request(event.toolCallId);
        break;
      case 'ToolCallSettled':
        this.#settle(event);
        break;
      case 'TimerSet':
        this.#causedBy(event.timerId, event.toolCallId);
        break;
      case 'ChildSpawned':
        this.#causedBy(event.childId, event.toolCallId);
        break;
      case 'TimerFired':
        this.#link(event.timerId);
        break;
      case 'SubscriptionEventReceived':
        if (event.into === 'thread') this.#link(event.toolCallId); // a child has the link of its own event
        break;
      case 'ChildReported':
        this.#link(event.childId);
        break;
      default:
        break;
    }
  }

  end(): { readonly state: TraceState } & EndedWork {
    for (const effect of this.#commit.effects) if (effect.do === 'InvokeTool') this.#send(effect.toolCallId);
    const { after } = this.#commit;
    if (after.completion === null) this.#endWake();
    const agent = this.#wake ?? this.#wakes.at(-1) ?? null;
    const calls = this.#settled.map(({ event, cause }) => ({ event, cause, parent: agent?.context ?? cause.context }));
    const open = Object.fromEntries(Object.entries(this.#open).filter(([id]) => isOpen(after, id))); // (T2)
    const links = this.#links.slice(-linksMax);
    return { state: { turn: this.#turn, wake: this.#wake, open, links }, wakes: this.#wakes, calls };
  }

  /** A turn begins, in the trace of the request that brought it; or an old one goes on in a new trace. */
  #begin(request: SpanContext | null): void {
    if (request !== null) this.#turn = { request, since: this.#commit.at };
  }

  #ask(completionId: string, turnId: string): void {
    if (this.#wake?.turnId === turnId) return;
    this.#endWake();
    const isOfCause = this.#cause !== null && this.#cause.traceId === this.#turn?.request.traceId;
    const parent = isOfCause && !this.#isAgent(this.#cause) ? this.#cause : (this.#turn?.request ?? null);
    if (parent === null) return;
    const { key, at, wallAt } = this.#commit;
    const context = inTrace(parent, spanIdOf('invoke_agent', key, completionId));
    const links = distinct(this.#links).filter(({ spanId }) => spanId !== parent.spanId);
    const isFirst = isBeginning(parent);
    if (isFirst) this.#begin(context); // what follows has this span above it
    this.#wake = {
      context,
      parent: isFirst ? null : parent,
      links,
      startedAt: wallAt,
      at,
      turnId,
      inputTokens: 0,
      outputTokens: 0,
      outcome: '',
    };
    this.#links = [];
  }

  /** The commit that records a completion is caused by the `invoke_agent` of before, which is no parent of the next. */
  #isAgent(context: SpanContext | null): boolean {
    return context !== null && this.#wakes.some((wake) => wake.context.spanId === context.spanId);
  }

  #answered(outcome: string, usage?: Usage): void {
    if (this.#wake === null) return;
    const inputTokens = this.#wake.inputTokens + (usage?.inputTokens ?? 0);
    const outputTokens = this.#wake.outputTokens + (usage?.outputTokens ?? 0);
    this.#wake = { ...this.#wake, inputTokens, outputTokens, outcome };
  }

  #endWake(): void {
    if (this.#wake !== null) this.#wakes.push(this.#wake);
    this.#wake = null;
  }

  #request(toolCallId: string): void {
    const agent = this.#wake?.context ?? this.#turn?.request;
    if (agent === undefined) return;
    const context = inTrace(agent, spanIdOf('execute_tool', this.#commit.key, toolCallId));
    this.#open[toolCallId] = { context, agent };
  }

  #send(toolCallId: string): void {
    const call = own(this.#open, toolCallId);
    if (call !== undefined) this.#open[toolCallId] = { ...call, isSent: true };
  }

  #settle(event: Settled): void {
    const cause = own(this.#open, event.toolCallId);
    if (cause === undefined) return;
    this.#settled.push({ event, cause });
    const isLate = cause.context.traceId !== this.#turn?.request.traceId;
    if (isLate && event.outcome !== 'interrupted') this.#links.push(cause.context); // what it wakes is in another trace
  }

  #causedBy(id: string, toolCallId: string | undefined): void {
    const context =
      (toolCallId === undefined ? undefined : own(this.#open, toolCallId)?.context) ??
      this.#wake?.context ??
      this.#turn?.request;
    if (context !== undefined && !isBeginning(context)) this.#open[id] = { context }; // no span has a beginning
  }

  /** A child goes on in its parent's trace, linked to its call; that of an event has the link from its opening. */
  #spawned({ parent, spawnedBy }: Event<'ThreadOpened'>): void {
    if (this.#cause === null || parent === undefined || spawnedBy?.kind !== 'call') return;
    const key = { tenant: this.#commit.key.tenant, thread: parent.threadId };
    this.#links.push(inTrace(this.#cause, spanIdOf('execute_tool', key, spawnedBy.toolCallId)));
  }

  #link(id: string): void {
    const cause = own(this.#open, id);
    if (cause !== undefined) this.#links.push(cause.context);
  }
}

const distinct = (links: readonly SpanContext[]): readonly SpanContext[] => [
  ...new Map(links.map((link) => [link.spanId, link])).values(),
];

const besideTurn: ReadonlySet<string> = new Set(['MessageQueued', 'MessageRefused', 'RequestRefused']);

const isOpen = (thread: Thread, id: string): boolean =>
  thread.calls.some((call) => call.toolCallId === id) ||
  thread.queue.some((message) => message.messageId === id) ||
  Object.hasOwn(thread.subscriptions, id) ||
  Object.hasOwn(thread.timers, id) ||
  Object.hasOwn(thread.children, id);
