// The turns of a log and their steps, as a fold of its commits. Pure: what a fold that begins in the middle of a log
// cannot know is handed to it. Not here: attempts (attempt-steps.ts), and which commits are read (turn-list.ts).
//
// Invariants:
//   P1. A turn begins with the first event that has its id and brings something: a message, an event, a report, a
//       message of the parent, a sleep that is over, a time of a schedule; or a completion in a thread without a turn.
//       What came before the first turn, such as the opening, belongs to it.
//   P2. A step of a call (a callback, a choice, a deadline, a child) is in the call's turn, whenever it happens.
//   P3. A deadline that never fires is no step: it is part of every call that has one.
//   P4. A turn has ended when its final answer, its failure or its interruption is recorded and nothing followed; or
//       else when the next one begins, or the thread is closed.
//   P5. A fold that is full keeps no new step; what is open in it still ends, and its calls still get their callbacks.
//   P6. Its size does not grow with the log: `stepsPerTurnMax` steps in each turn, as many turns as its caller wants.
import { type Commit, parseTraceparent, type SpanContext, type ThreadKey } from '@dormouse/ports';
import { type Cause, type CauseKind, type Event, inputIds, type RecordedEvent } from '@dormouse/thread';
import { openCommit } from '../../../log/envelope.ts';
import { callbackSpan } from '../../../tracing/callback-span.ts';
import { spanIdOf } from '../../../tracing/span-ids.ts';
import type { SpanLink, Step, StepKind, Turn } from './turn.ts';

export const stepsPerTurnMax = 2_000;

/** What earlier commits say about a commit that begins a turn. */
export interface Origins {
  /** Traces of the requests that brought queued messages, by message id. */
  readonly queued?: ReadonlyMap<string, string | null>;
  /** Spans that caused a timer, a child or a subscription, by its id. */
  readonly causes?: ReadonlyMap<string, SpanLink>;
}

type Changing<T> = { -readonly [Name in keyof T]: T[Name] };

interface FoldedStep extends Changing<Step> {
  readonly turn: FoldedTurn;
  /** The span that caused it, for links of what follows from it. */
  cause?: SpanLink;
  /** Set while it is a deadline that has not fired. (P3) */
  isDeadline?: boolean;
  callId?: string;
  scheduleId?: string;
}

interface FoldedTurn extends Changing<Omit<Turn, 'steps'>> {
  /** Of the event that began it. */
  readonly position: number;
  readonly steps: FoldedStep[];
  omitted: number;
}

/** A turn of a fold, and where it begins. */
export interface PlacedTurn {
  readonly position: number;
  readonly turn: Turn;
}

export class TurnFold {
  readonly #key: ThreadKey;
  readonly #turns: FoldedTurn[] = [];
  /** By id: the steps that may still change, and those that others are caused by. */
  readonly #steps = new Map<string, FoldedStep>();
  readonly #open = new Set<FoldedStep>();
  #turnId: string | null;
  /** Before the first turn: timers that were set. (P1) */
  #early: FoldedStep[] = [];
  #isFull = false;
  /** Trace that the thread goes on in. */
  #trace: string | null = null;
  readonly #queued = new Map<string, string | null>();
  #origins: Origins = {};
  /** Steps that the commit's causes stand for. */
  #byCause = new Map<string, string>();

  /** `before`: the turn that the first commit is in, by the event before it; null when no turn has begun. */
  constructor(key: ThreadKey, before: string | null = null) {
    this.#key = key;
    this.#turnId = before;
  }

  get size(): number {
    return this.#turns.length;
  }

  /** All steps that are kept. */
  get steps(): number {
    return this.#turns.reduce((sum, { steps }) => sum + steps.length, 0);
  }

  /** Ids of steps that have not ended; deadlines are not among them. */
  get openIds(): readonly string[] {
    return [...this.#open].filter(({ isDeadline }) => isDeadline !== true).map(({ id }) => id);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** A commit of this fold has it: a step, or a message that is queued. */
  knows(id: string): boolean {
    return this.#queued.has(id) || this.#steps.has(id);
  }

  /** Keeps the first turns and takes no further step. (P5) */
  fill(turns: number): void {
    this.#isFull = true;
    this.#turns.splice(turns);
    const kept = new Set(this.#turns);
    for (const [id, step] of this.#steps) {
      if (kept.has(step.turn)) continue;
      this.#steps.delete(id);
      this.#open.delete(step);
    }
  }

  /** These stay open to the end of the log. */
  leaveOpen(ids: readonly string[]): void {
    const left = new Set(ids);
    for (const step of this.#open) if (left.has(step.id)) this.#open.delete(step);
  }

  turns(): readonly PlacedTurn[] {
    return this.#turns.map((turn) => ({ position: turn.position, turn: shownTurn(turn) }));
  }

  /** Events up to the position `after` are passed over. */
  take(commit: Commit, origins: Origins = {}, after = 0): void {
    const { events } = openCommit(commit);
    const cause = parseTraceparent(commit.trace);
    if (cause !== null && events.some(({ type }) => !besideTurn.has(type))) this.#trace = cause.traceId;
    this.#origins = origins;
    this.#byCause = new Map();
    for (const [index, event] of events.entries()) {
      const position = commit.version + index + 1;
      if (position > after) this.#add(event, { commit, cause, at: commit.at, position });
    }
  }

  #begins(event: RecordedEvent): boolean {
    if (event.turnId === this.#turnId) return false;
    return bringsSomething(event) || (event.type === 'TimerFired' && this.#turnId !== null); // a schedule's may be skipped
  }

  #add(event: RecordedEvent, place: Place): void {
    if (this.#begins(event)) this.#begin(event, place);
    switch (event.type) {
      case 'MessageQueued':
        if (!this.#isFull) this.#queued.set(event.messageId, place.cause?.traceId ?? null);
        break;
      case 'MessageAccepted':
        this.#accept(event);
        break;
      case 'CompletionRequested':
        this.#ask(event, place);
        break;
      case 'CompletionRecorded':
        this.#answer(event, place);
        break;
      case 'CompletionFailed':
        this.#end(event.completionId, place.at, event.code);
        this.#inTraceOf(event.completionId, place.cause);
        this.#named(event.completionId, !event.retryable);
        this.#over(place.at);
        break;
      case 'ToolCallRequested':
        this.#request(event, place);
        break;
      case 'ToolCallSettled':
        this.#settle(event, place);
        break;
      case 'CallbackRejected':
        this.#refused(event);
        break;
      case 'ChoiceRequested':
        this.#choose(event, place);
        break;
      case 'ChoiceSettled':
        this.#end(event.choiceId, place.at, event.decision ?? `selected ${event.selected ?? ''}`.trim());
        this.#byCause.set(event.cause.id, event.choiceId);
        break;
      case 'TimerSet':
        this.#setTimer(event, place);
        break;
      case 'TimerFired':
        this.#fire(event, place.at);
        break;
      case 'TimerCancelled':
        this.#end(event.timerId, place.at, 'cancelled');
        break;
      case 'ScheduleRemoved':
        this.#endAll(place.at, 'cancelled', ({ scheduleId }) => scheduleId === event.scheduleId);
        break;
      case 'SubscriptionEventReceived':
        this.#arrive('event', this.#eventId(event, place), event, place, {
          ...(this.#steps.has(event.toolCallId) || event.cause.kind !== 'parent' ? { parentId: event.toolCallId } : {}),
          outcome: event.into,
          span: event.cause.kind === 'event' ? this.#spanOf(event.cause.id, place) : {},
        });
        break;
      case 'ParentMessageReceived':
        this.#arrive('event', event.cause.id, event, place, { name: 'message of the parent' });
        break;
      case 'ExternalEventReceived':
        this.#arrive('event', event.cause.id, event, place, { name: event.source });
        break;
      case 'ChildSpawned':
        this.#spawn(event, place);
        break;
      case 'ChildReported':
        this.#arrive('report', event.cause.id, event, place, {
          parentId: event.childId,
          outcome: event.closed ? 'closed' : 'reported',
        });
        if (event.closed) this.#end(event.childId, place.at, 'closed');
        break;
      case 'BudgetExceeded':
        if (event.budget !== 'repeated_call') this.#over(place.at);
        break;
      case 'TurnInterrupted':
        this.#over(place.at);
        break;
      case 'ThreadClosed':
        this.#endAll(place.at, 'closed', ({ kind }) => kind !== 'child');
        if (this.#current !== undefined) this.#current.endedAt ??= place.at;
        break;
      case 'ThreadOpened':
      case 'ThreadForked':
      case 'ContentErased':
      case 'ToolsetsRequested':
      case 'ToolsetsLoaded':
      case 'ToolsetRejected':
      case 'ToolsetChanged':
      case 'MessageRefused':
      case 'RequestRefused':
      case 'ChoiceAssigned':
      case 'ApprovalCounted':
      case 'ToolCallDetached':
      case 'ToolCallLateResult':
      case 'SubscriptionOpened':
      case 'SubscriptionEventHeld':
      case 'SubscriptionClosed':
      case 'TitleSet':
      case 'OauthRequested':
      case 'CredentialRefreshFailed':
      case 'MigrationStarted':
      case 'MigrationEnded':
      case 'ScheduleSet':
      case 'ScheduleCame':
        break;
    }
  }

  get #current(): FoldedTurn | undefined {
    const last = this.#turns.at(-1);
    return last?.turnId === this.#turnId ? last : undefined;
  }

  #begin(event: RecordedEvent, { at, position }: Place): void {
    const last = this.#current;
    if (last !== undefined) last.endedAt ??= at; // (P4)
    this.#turnId = event.turnId;
    if (this.#isFull) return;
    const { turnId, cause } = event;
    const turn: FoldedTurn = {
      ...{ turnId, cause: { kind: cause.kind, id: cause.id }, traceId: this.#trace, startedAt: at, endedAt: null },
      ...{ position, steps: [], omitted: 0 },
    };
    this.#turns.push(turn);
    for (const early of this.#early) this.#keep({ ...early, turn }, early.endedAt !== null); // (P1)
    this.#early = [];
  }

  /** A message that was queued goes on in the trace of its own request. */
  #accept({ messageId }: Event<'MessageAccepted'>): void {
    const queued = this.#queued.get(messageId) ?? this.#origins.queued?.get(messageId) ?? null;
    this.#queued.delete(messageId);
    if (queued === null) return;
    this.#trace = queued;
    if (this.#current !== undefined) this.#current.traceId = queued;
  }

  #ask({ completionId, model, cause }: Event<'CompletionRequested'>, { at }: Place): void {
    if (this.#current !== undefined) this.#current.endedAt = null;
    const parentId = this.#stepOf(cause);
    const step = this.#start('completion', completionId, parentId, at, { name: model, ...inTrace(this.#trace) });
    if (step?.traceId === undefined || parentId === null) return;
    const link = this.#causeOf(parentId);
    if (link !== undefined && (link.traceId !== step.traceId || areLinked.has(cause.kind))) step.links = [link];
  }

  #answer({ completionId, ...event }: Event<'CompletionRecorded'>, { cause, at }: Place): void {
    const { interrupted, message } = event;
    this.#end(completionId, at, interrupted ? 'interrupted' : event.finishReason);
    if (!interrupted) this.#inTraceOf(completionId, cause);
    this.#named(completionId, !interrupted || message.text !== '' || message.reasoning !== undefined);
    if (event.final) this.#over(at);
  }

  /** The turn has its end, unless a completion follows. (P4) */
  #over(at: number): void {
    if (this.#current !== undefined) this.#current.endedAt = at;
  }

  #request({ toolCallId, operation, cause }: Event<'ToolCallRequested'>, place: Place): void {
    const parentId = cause.kind === 'completion' ? cause.id : null;
    const traceId = place.cause?.traceId ?? null;
    const step = this.#start('call', toolCallId, parentId, place.at, {
      ...{ name: operation, duplicates: 0, refused: 0 },
      ...inTrace(traceId),
    });
    if (step === undefined || traceId === null) return;
    step.spanId = spanIdOf('execute_tool', this.#key, toolCallId);
    step.cause = { traceId, spanId: step.spanId };
  }

  #settle({ toolCallId, outcome, cause }: Event<'ToolCallSettled'>, place: Place): void {
    const { commit, at } = place;
    const call = this.#steps.get(toolCallId);
    if (call !== undefined && cause.kind === 'result' && cause.id === toolCallId) {
      const accepted = [inputIds.result(toolCallId), inputIds.confirmation(toolCallId)];
      const id = accepted.find((inputId) => commit.inputs.includes(inputId));
      if (id !== undefined) {
        const about = { id, parentId: toolCallId, startedAt: at, endedAt: at, outcome: 'accepted' };
        this.#keep({ kind: 'callback', ...about, ...this.#spanOf(id, place), turn: call.turn }, true);
      }
    }
    this.#end(toolCallId, at, outcome);
    this.#endAll(at, 'withdrawn', ({ callId, kind }) => callId === toolCallId && kind !== 'child');
  }

  #refused({ toolCallId, code }: Event<'CallbackRejected'>): void {
    const call = this.#steps.get(toolCallId);
    if (call === undefined) return;
    if (code === 'REPEATED') call.duplicates = (call.duplicates ?? 0) + 1;
    else call.refused = (call.refused ?? 0) + 1;
  }

  #choose({ choiceId, toolCallId, kind }: Event<'ChoiceRequested'>, { at }: Place): void {
    const call = this.#steps.get(toolCallId);
    const step = call && this.#start('choice', choiceId, toolCallId, at, { name: kind }, call.turn);
    if (step === undefined) return;
    step.callId = toolCallId;
    if (call?.cause !== undefined) step.cause = call.cause;
  }

  #setTimer({ timerId, reason, toolCallId, scheduleId, cause }: Event<'TimerSet'>, place: Place): void {
    const call = toolCallId === undefined ? undefined : this.#steps.get(toolCallId);
    if (toolCallId !== undefined && call === undefined) return; // (P2) of a turn that is not here
    const parentId = toolCallId ?? this.#stepOf(cause);
    const step = this.#start('timer', timerId, parentId, place.at, { name: reason }, call?.turn);
    if (step === undefined) return;
    if (reason !== 'sleep' && reason !== 'schedule') step.isDeadline = true;
    if (toolCallId !== undefined) step.callId = toolCallId;
    if (scheduleId !== undefined) step.scheduleId = scheduleId;
    const { cause: agent } = place;
    if (call?.cause !== undefined) step.cause = call.cause;
    else if (agent !== null) step.cause = { traceId: agent.traceId, spanId: agent.spanId };
  }

  #fire({ timerId, cause }: Event<'TimerFired'>, at: number): void {
    const step = this.#steps.get(timerId);
    if (step?.isDeadline === true) delete step.isDeadline; // (P3)
    this.#end(timerId, at, 'fired');
    this.#byCause.set(cause.id, timerId);
  }

  #spawn({ childId, reason, toolCallId, cause }: Event<'ChildSpawned'>, { at }: Place): void {
    const parentId = reason === 'call' ? toolCallId : (this.#byCause.get(cause.id) ?? toolCallId);
    const step = this.#start('child', childId, parentId, at, { name: reason });
    const origin = this.#causeOf(toolCallId);
    if (step !== undefined && origin !== undefined) step.cause = origin;
  }

  /** Something that came from outside, at one moment. */
  #arrive(
    kind: StepKind,
    id: string,
    { cause }: RecordedEvent,
    { at }: Place,
    more: { readonly parentId?: string; readonly span?: Partial<Step> } & Pick<Step, 'outcome' | 'name'>,
  ): void {
    const { parentId = null, span, ...shown } = more;
    this.#byCause.set(cause.id, id);
    const turn = this.#current;
    if (turn === undefined || this.#isFull) return;
    const step: FoldedStep = { kind, id, parentId, startedAt: at, endedAt: at, turn, ...span, ...shown };
    const origin = parentId === null ? undefined : this.#causeOf(parentId);
    if (origin !== undefined) step.cause = origin;
    this.#keep(step, true);
  }

  /** One event of several that one input brought has an id of its own. (turn T2) */
  #eventId({ cause, toolCallId }: Event<'SubscriptionEventReceived'>, { position }: Place): string {
    return cause.kind === 'event' ? cause.id : `e:${toolCallId}:${position}`;
  }

  /** The SERVER span of the callback that brought an input. */
  #spanOf(inputId: string, { cause }: Pick<Place, 'cause'>): Partial<Step> {
    return cause === null ? {} : callbackSpan(this.#key, inputId);
  }

  #start(
    kind: StepKind,
    id: string,
    parentId: string | null,
    startedAt: number,
    more: Partial<Step>,
    ofTurn?: FoldedTurn,
  ): FoldedStep | undefined {
    const turn = ofTurn ?? (this.#isFull ? undefined : this.#current);
    const fields = { ...{ kind, id, parentId, startedAt, endedAt: null }, ...more };
    if (turn !== undefined) return this.#keep({ ...fields, turn }, false);
    if (this.#turnId !== null || this.#isFull) return undefined; // of a turn that is not here
    if (kind !== 'timer' || this.#early.length === stepsPerTurnMax) return undefined;
    const early: FoldedStep = { ...fields, turn: noTurn };
    this.#early.push(early);
    this.#steps.set(id, early);
    return early;
  }

  #keep(step: FoldedStep, isOver: boolean): FoldedStep | undefined {
    const { turn } = step;
    if (turn.steps.length >= stepsPerTurnMax) {
      turn.omitted += 1;
      return undefined;
    }
    turn.steps.push(step);
    this.#steps.set(step.id, step);
    if (!isOver) this.#open.add(step);
    return step;
  }

  #end(id: string, at: number, outcome: string): void {
    const step = this.#steps.get(id);
    if (step === undefined || step.endedAt !== null) return;
    step.endedAt = at;
    step.outcome = outcome;
    if (waits.has(step.kind)) step.waitedMs = at - step.startedAt;
    this.#open.delete(step);
  }

  #endAll(at: number, outcome: string, isMeant: (step: FoldedStep) => boolean): void {
    for (const step of [...this.#early, ...this.#open]) if (isMeant(step)) this.#end(step.id, at, outcome);
  }

  /** The commit of an answer is caused by the span that asked. */
  #inTraceOf(completionId: string, cause: SpanContext | null): void {
    const step = this.#steps.get(completionId);
    if (step !== undefined && cause !== null) step.traceId = cause.traceId;
  }

  /** `isRecorded`: an attempt that was the last one has the completion's own id, see chat-span.ts. */
  #named(completionId: string, isRecorded: boolean): void {
    const step = this.#steps.get(completionId);
    if (step?.traceId !== undefined && isRecorded) step.spanId = spanIdOf('chat', this.#key, completionId);
  }

  /** The span that caused a call's results, a timer, a child. */
  #causeOf(id: string): SpanLink | undefined {
    return this.#steps.get(id)?.cause ?? this.#origins.causes?.get(id);
  }

  /** The step that an event's cause stands for. (turn T3) */
  #stepOf({ kind, id }: Cause): string | null {
    const known = this.#byCause.get(id);
    if (known !== undefined) return known;
    return kind === 'result' || kind === 'dispatch' || kind === 'completion' ? id : null;
  }
}

/** Whether the event begins a turn, if it has another turn's id than what was before it. (P1) */
export function bringsSomething(event: RecordedEvent): boolean {
  switch (event.type) {
    case 'MessageAccepted':
    case 'ChildReported':
    case 'ParentMessageReceived':
    case 'CompletionRequested':
      return true;
    case 'SubscriptionEventReceived':
      return event.into === 'thread';
    case 'ScheduleCame':
      return !event.skipped;
    case 'ExternalEventReceived':
      return event.childId === null;
    default:
      return false;
  }
}

interface Place {
  readonly commit: Commit;
  readonly cause: SpanContext | null;
  readonly at: number;
  readonly position: number;
}

const besideTurn: ReadonlySet<string> = new Set(['MessageQueued', 'MessageRefused', 'RequestRefused']);

/** A completion that these caused has a link to what caused them, also inside one trace: no span of it is above. */
const areLinked: ReadonlySet<CauseKind> = new Set(['timer', 'event', 'child']);

/** Kinds that are nothing but waiting; that of a call depends on its attempts. */
const waits: ReadonlySet<StepKind> = new Set(['choice', 'timer', 'child']);

const noTurn: FoldedTurn = {
  ...{ turnId: '', cause: { kind: '', id: '' }, traceId: null, startedAt: 0, endedAt: null },
  ...{ position: 0, steps: [], omitted: 0 },
};

const inTrace = (traceId: string | null): Partial<Step> => (traceId === null ? {} : { traceId });

function shownTurn({ turnId, cause, traceId, startedAt, endedAt, steps, omitted }: FoldedTurn): Turn {
  const shown = steps.filter(({ isDeadline }) => isDeadline !== true).map(shownStep);
  return {
    ...{ turnId, cause, traceId, startedAt, endedAt, steps: shown },
    ...(omitted === 0 ? {} : { stepsOmitted: omitted }),
  };
}

function shownStep(step: FoldedStep): Step {
  const { turn: _turn, cause: _cause, isDeadline: _deadline, callId: _call, scheduleId: _schedule, ...shown } = step;
  return shown;
}
