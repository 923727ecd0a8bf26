// Pays `RequestCompletion`: runs the model off the lanes, thousands at a time, and turns the result into an input. Owns
// attempts, timeouts and slots. What the answer means is decided by the heart, in the thread's own lane.
//
// Invariants:
//   A1. A run that is not aborted ends in exactly one answer, result or failure, under the id `m:<completion>`. (V2)
//   A2. It ends within `completionMsMax`, whatever model, stores or the provider's clock do: it holds deliveries.
//   A3. No timer per completion: one loop checks all of them, and only while there are any.
//   A4. A run that waits for a slot holds only the names of its thread and completion: state and prompt are read when
//       it has a slot. People see that it waits. No slot is held between attempts.
//   A5. An orphaned run publishes nothing: another run may publish for its thread. Adopted, it publishes all again.
//   A6. A run of a tenant that is not active, or of a paused agent, ends without an answer, when its turn has come.
//       (holding H1)
//   A7. An attempt whose agent is paused meanwhile is broken off at the next check, and its run ends without an answer:
//       the completion is asked for again once the agent goes on. (holding H5)
import { TransientSet, backoffMs } from '@dormouse/collections';
import {
  type Clock,
  type Entropy,
  Fault,
  type LiveFeed,
  type Logger,
  type Model,
  ModelFault,
  type ModelRequest,
  type ThreadKey,
  traceFieldsOf,
} from '@dormouse/ports';
import type { CompletionFailure } from '@dormouse/thread';
import type { Holding } from '../../tenants/holding.ts';
import { unlimited } from '../../tenants/tenant-limits.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { chatSpan } from '../../tracing/chat-span.ts';
import { messagesMax } from '../../tracing/recorded-content.ts';
import type { ProcessorSettings } from '../settings.ts';
import type { BuildRequest, CompletionOrder, RequestBuilder } from './completion-request.ts';
import { type CompletionEnd, type CompletionRun, heldBack } from './completion-run.ts';
import { resultOf, type ResultRules } from './completion-result.ts';
import { createCompletionSlots, type SlotGroup, type SlotLimits } from './completion-slots.ts';
import { LeftCompletions } from './left-completions.ts';
import type { PartialAnswer } from './partial-answer.ts';

export interface CompletionRunnerDeps extends ResultRules {
  readonly model: Model;
  readonly tracing: Tracing;
  readonly feed: LiveFeed;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings: ProcessorSettings;
  readonly buildRequest: BuildRequest;
  readonly endpointOf: RequestBuilder['endpointOf'];
  /** Default: null. */
  readonly holding?: Holding | null;
  /** Default: no tenant has a quota, and all have the same weight. */
  readonly limits?: SlotLimits;
  /** Default: the sound ones. */
  readonly createSlots?: typeof createCompletionSlots;
}

/** Where the order of a completion comes from. */
export interface OrderSource {
  /** Null once it had to wait. (A4) */
  atHand: CompletionOrder | null;
  /** @throws Fault */
  readonly read: () => Promise<CompletionOrder>;
}

export interface CompletionRunner {
  /** `answered` is called once, unless the run is aborted. */
  start(run: CompletionRun, source: OrderSource, answered: (answer: CompletionEnd) => void): void;
  /** Its lane is gone; the run lingers for a while, for the lane that may come. */
  leave(run: CompletionRun): void;
  /** The orphaned completion that this thread owes again, or null; `answered` is called as by `start`. */
  adopt(
    key: ThreadKey,
    completionId: string,
    answered: (run: CompletionRun, answer: CompletionEnd) => void,
  ): CompletionRun | null;
  /** Ends the orphaned runs, and stops checking timeouts: every other run has been aborted. */
  close(): void;
  /** Completions that wait for a slot. */
  readonly waiting: number;
  /** Since when the oldest of them waits, milliseconds since the epoch; null for none. */
  oldestWait(): number | null;
  readonly inFlight: number;
}

/** A stream that gave its last part. */
type Ended = Pick<ModelRequest, 'tools'>;

type Failure = Omit<CompletionFailure, 'kind' | 'id' | 'completionId'> & Pick<ModelFault, 'retryAfterMs'>;

/** Longest `detail` of a failure; providers like to send pages. */
const detailCharactersMax = 500;

export function createCompletionRunner(deps: CompletionRunnerDeps): CompletionRunner {
  const { clock, entropy, settings, holding = null, limits = unlimited, createSlots = createCompletionSlots } = deps;
  const slots = createSlots(settings.completionsInFlightMax, settings.completionsWaitingMax, limits);
  const runs = new TransientSet<CompletionRun>();
  const left = new LeftCompletions();
  const closed = new AbortController();
  let checking = false;

  async function drive(run: CompletionRun, source: OrderSource): Promise<CompletionEnd> {
    const group = await groupOf(run, source);
    for (let attempt = 1; run.state === 'running'; attempt++) {
      const slot = slots.take(group) ? 'taken' : await waitForSlot(run, source, group);
      if (slot === 'none') return failed(run, tooManyWait);
      if (slot === 'left') break;
      if (run.state !== 'running') {
        slots.give(group); // it ended between its place and its request
        break;
      }
      const end = await stream(run, source).finally(() => slots.give(group));
      if (run.state !== 'running') break;
      if (end === held) return heldBack; // (A6)
      if ('tools' in end) return await resultOf(deps, run.completionId, run.answer, end.tools);
      const waitMs =
        end.retryAfterMs ?? backoffMs(attempt, settings.modelRetryDelayMsFirst, settings.modelRetryDelayMsMax, entropy);
      const triedMs = clock.now() - run.askedAt + waitMs;
      if (!end.retryable || triedMs > settings.modelRetryTotalMs) return failed(run, end);
      retry(run, attempt, end, waitMs);
      source.atHand = null; // (A4)
      await clock.sleep(waitMs, run.signal);
    }
    return failed(run, modelFailed(`no answer within ${settings.completionMsMax} ms`, true));
  }

  async function groupOf({ key }: CompletionRun, { atHand }: OrderSource): Promise<SlotGroup> {
    return { tenant: key.tenant, endpoint: atHand === null ? '' : await deps.endpointOf(atHand.thread) };
  }

  /** (A4) */
  async function waitForSlot(
    run: CompletionRun,
    source: OrderSource,
    group: SlotGroup,
  ): Promise<'taken' | 'left' | 'none'> {
    source.atHand = null;
    const waiter = { ...group, serve: noOne };
    if (!slots.wait(waiter)) return 'none';
    showWaiting(run, String(clock.now()));
    return new Promise((resolve) => {
      waiter.serve = () => {
        run.waits(noOne);
        showWaiting(run, '');
        resolve('taken');
      };
      run.waits(() => {
        if (slots.leave(waiter)) resolve('left');
      });
    });
  }

  /** Replaces what the attempt before had shown; `since` is empty when the run no longer waits. */
  function showWaiting(run: CompletionRun, since: string): void {
    const { completionId, answer, isLeft } = run;
    if (isLeft) return; // (A5)
    const place = { completionId, attempt: answer.attempt + 1, offset: 0, index: 0 };
    deps.feed.publish(run.key, { hint: 'delta', delta: { ...place, kind: 'slot', text: since } });
  }

  /** Publishes why the completion waits, and for what. */
  function retry(run: CompletionRun, attempt: number, { code, detail }: Failure, waitMs: number): void {
    const { key, completionId, host } = run;
    const reason = detail.slice(0, detailCharactersMax);
    const failedAt = clock.now();
    const since = run.retrying?.since ?? failedAt;
    run.retrying = { completionId, attempt, code, detail: reason, host, nextAt: failedAt + waitMs, failedAt, since };
    const about = { completion: completionId, attempt, code, host, reason, waitMs };
    deps.logger.warn('completion_retry', { ...key, ...about, ...traceFieldsOf(run.trace) });
    if (!run.isLeft) deps.feed.publish(key, { hint: 'retrying', retrying: run.retrying }); // (A5)
  }

  /** One attempt. Settles when the stream ends or when the run is broken off, whichever is first. */
  function stream(run: CompletionRun, source: OrderSource): Promise<Ended | Failure> {
    return new Promise((resolve) => {
      let isOver = false;
      const end = (as: Ended | Failure): void => {
        if (isOver) return; // by now another attempt may have begun
        isOver = true;
        run.end();
        resolve(as);
      };
      const fail = (error: unknown): void => {
        if (!isOver) end(run.state === 'running' ? failureOf(error) : brokenOff);
      };
      run.begin(clock.now(), fail);
      consume(run, source, run.answer).then(end, fail);
    });
  }

  async function consume(run: CompletionRun, source: OrderSource, answer: PartialAnswer): Promise<Ended> {
    run.host = null;
    if (holding !== null && (await holding.holds(run.key))) throw new HeldBack();
    const order = source.atHand ?? (await source.read());
    run.agent = order.thread.agent.name;
    if (holding !== null && (await holding.holdsAgent(run.key, run.agent))) throw new HeldBack();
    const request = await deps.buildRequest(order, run.signal);
    if (!deps.tracing.tracer.isOn) return await ask(run, request, answer);
    const mayHaveContent = deps.tracing.mayHaveContent?.(run.key.tenant) === true;
    const input = mayHaveContent ? await request.prompt.last(messagesMax) : null;
    const startedAt = deps.tracing.wallNow();
    let error: unknown = null;
    try {
      return await ask(run, request, answer);
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      const times = { startedAt, endedAt: deps.tracing.wallNow(), at: clock.now() };
      const span = chatSpan({ run, request, answer, input, error, ...times });
      if (span !== null) deps.tracing.tracer.record(span);
    }
  }

  async function ask(run: CompletionRun, request: ModelRequest, answer: PartialAnswer): Promise<Ended> {
    run.host = URL.parse(request.model.baseUrl ?? '')?.host ?? null;
    for await (const part of deps.model.complete(request)) {
      if (run.answer !== answer || run.state !== 'running' || !run.isStreaming) return request; // broken off: not used
      run.lastPartAt = clock.now();
      answer.firstPartAt ??= deps.tracing.wallNow();
      const delta = answer.add(run.completionId, part);
      const excess = answer.excess(settings.completionBytesMax);
      if (excess !== null) throw excess;
      if (delta !== null && !run.isLeft) deps.feed.publish(run.key, { hint: 'delta', delta }); // (A5)
      if (answer.finish !== null) return request;
    }
    throw new ModelFault({ code: 'MODEL_FAILED', detail: 'the stream ended without an end', retryable: true });
  }

  /** (A5) */
  function sayAgain(run: CompletionRun): void {
    if (run.state !== 'running') return;
    for (const delta of run.answer.sayAgain(run.completionId)) deps.feed.publish(run.key, { hint: 'delta', delta });
    const { retrying, answer } = run;
    const hasSpoken = run.isStreaming ? answer.parts > 0 : answer.finish !== null;
    if (retrying !== null && !hasSpoken) deps.feed.publish(run.key, { hint: 'retrying', retrying });
  }

  function failed({ completionId }: CompletionRun, { code, detail: whole, retryable }: Failure): CompletionFailure {
    const id = deps.answerId(completionId, 'CompletionFailure');
    const detail = whole.slice(0, detailCharactersMax);
    return { kind: 'CompletionFailure', id, completionId, code, detail, retryable };
  }

  function failureOf(error: unknown): Failure {
    if (error instanceof HeldBack) return held;
    if (error instanceof ModelFault)
      return { code: error.code, detail: error.message, retryable: error.retryable, retryAfterMs: error.retryAfterMs };
    if (error instanceof Fault) return { ...modelFailed(error.message, true), retryAfterMs: error.retryAfterMs };
    deps.logger.error('completion_broken', { error: String(error) });
    return modelFailed('the model could not be called', false);
  }

  /** A2, A3: sleeps while nothing runs; else looks at every run once per `completionCheckMs`. */
  async function checkRuns(): Promise<void> {
    while (runs.size + left.size > 0 && !closed.signal.aborted) {
      await clock.sleep(settings.completionCheckMs, closed.signal);
      const now = clock.now();
      for (const run of runs.values()) checkRun(run, now);
      await Promise.all([...runs.values()].filter((run) => run.isStreaming).map(breakOffPaused));
      slots.look();
      left.breakOff(now - settings.leftCompletionMsMax);
    }
    checking = false;
  }

  /** (A7) A store that does not answer leaves it to the next check. */
  async function breakOffPaused(run: CompletionRun): Promise<void> {
    const { key, agent, answer } = run;
    if (holding === null || agent === null) return;
    const isPaused = await holding.holdsAgent(key, agent).catch(() => false);
    if (isPaused && run.answer === answer && run.state === 'running') run.breakOff(new HeldBack());
  }

  function lookAfter(): void {
    if (checking) return;
    checking = true;
    void checkRuns();
  }

  function checkRun(run: CompletionRun, now: number): void {
    if (now - run.startedAt >= settings.completionMsMax) run.expire();
    else if (run.isStreaming) {
      const limitMs = run.answer.parts === 0 ? settings.modelStartTimeoutMs : settings.modelStallTimeoutMs;
      if (now - run.lastPartAt >= limitMs) run.breakOff(stalled(limitMs));
    }
  }

  return {
    start: (run, source, answered) => {
      const ticket = runs.add(run);
      run.listen(answered);
      lookAfter();
      const end = (answer: CompletionEnd): void => {
        runs.delete(ticket);
        run.answered(answer); // (A1)
      };
      void drive(run, source).then(end, (error: unknown) => end(failed(run, failureOf(error))));
    },
    leave: (run) => {
      run.listen(null);
      if (run.isWaiting) run.abort(); // (B3 of left-completions.ts)
      left.add(run, clock.now());
      lookAfter();
    },
    adopt: (key, completionId, answered) => {
      const run = left.take(key, completionId);
      if (run === null) return null;
      run.takeOver();
      // Not before the lane has set it as its run.
      queueMicrotask(() => {
        run.listen((answer) => answered(run, answer));
        sayAgain(run);
      });
      deps.logger.info('completion_adopted', { ...key, completion: completionId });
      return run;
    },
    close: () => {
      left.breakOff(Number.POSITIVE_INFINITY);
      closed.abort();
    },
    oldestWait: () => {
      let oldest: number | null = null;
      for (const run of runs.values()) if (run.isWaiting) oldest = Math.min(run.askedAt, oldest ?? run.askedAt);
      return oldest;
    },
    get waiting() {
      return slots.waiting;
    },
    get inFlight() {
      return slots.taken;
    },
  };
}

const noOne = (): void => {};

/** (A6) */
class HeldBack extends Error {}
const held: Failure = { code: 'HELD', detail: 'held back', retryable: false, retryAfterMs: null };

const modelFailed = (detail: string, retryable: boolean): Failure => ({
  code: 'MODEL_FAILED',
  detail,
  retryable,
  retryAfterMs: null,
});

const tooManyWait = modelFailed('more completions wait for their turn than this process keeps', true);

/** Ended from outside, by us: there is nothing to report. */
const brokenOff = modelFailed('broken off', false);

const stalled = (limitMs: number): ModelFault =>
  new ModelFault({ code: 'MODEL_FAILED', detail: `the model said nothing for ${limitMs} ms`, retryable: true });
