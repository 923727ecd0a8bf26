/**
 * Owns: running the calls that were taken, and how each ends.
 * Not here: what is stored of a call (`call-ledger.ts`), what its handler can do (`call-context.ts`).
 *
 * K1. A call that was taken ends in exactly one result, whatever its handler does: it returns, throws, hangs, or the
 *     process ends. The exception is a call that the runtime has cancelled: no caller waits for it. T11 T36 T40
 * K2. Operation and arguments are checked after the acknowledgement; a refusal is a result. T7 T9 T10
 * K3. Calls share nothing: each has its own address, signal, deadline and secrets. T24
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { nameOf, type TakenCall } from './call-address.ts';
import { type ContextParts, createContext } from './call-context.ts';
import type { LeftCall } from './call-ledger.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { errorTextPrefix } from '@dormouse/protocol';
import { beginRun } from '../trace/call-trace.ts';
import { describeError } from '../outbox/describe-error.ts';
import { createRedactor, type Redactor } from '../outbox/redactor.ts';
import type { Subscription } from './subscription.ts';
import type { Tool } from '../define/tool.ts';
import { failed, type HandlerOutput, outputOfThrown, ToolOutput, toOutput } from '../define/tool-output.ts';

const lateAnswerMsMax = 5_000;
const rerunsMax = 3;
/** Of an error's class, in a span. */
const nameCharactersMax = 40;
/** The length of an unknown tool's name in the error that quotes it. */
const operationCharactersMax = 200;

/** Why a call is stopped from outside. */
type Stop = 'cancelled' | 'deadline' | 'shutdown';

type Ending = { readonly output: HandlerOutput } | { readonly thrown: unknown } | { readonly stop: Stop };

interface Running {
  readonly call: TakenCall;
  readonly abort: AbortController;
  stop: Stop | null;
  subscription: Subscription | null;
  deadline: Deadline | null;
  done: Promise<void>;
}

export interface Calls {
  /** How many handlers run now. */
  readonly count: () => number;
  /** Resolves when the call has ended; never rejects. */
  readonly run: (call: TakenCall) => Promise<void>;
  readonly cancel: (threadId: string, callId: string) => void;
  readonly closeThread: (threadId: string) => void;
  /** Ends calls left over from an earlier process with an error result, or runs them again. T26 */
  readonly recover: () => void;
  /** Ends calls whose request has ended, and their timers with it, once their time is over. (K1) */
  readonly endLost: () => void;
  /** Stops everything; calls that can run again after a restart are left for it. */
  readonly close: () => Promise<void>;
}

export function createCalls(
  parts: ContextParts & {
    readonly tools: ReadonlyMap<string, Tool>;
    readonly redactor: Redactor;
    readonly isDurable: boolean;
  },
): Calls {
  const { tools, ledger, subscriptions, log, isDurable } = parts;
  const running = new Map<string, Running>();

  function run(call: TakenCall): Promise<void> {
    const entry: Running = {
      call,
      abort: new AbortController(),
      stop: null,
      subscription: null,
      deadline: null,
      done: Promise.resolve(),
    };
    running.set(call.key, entry);
    const redactor = createRedactor(parts.redactor);
    redactor.protect(call.callbackUrl);
    entry.done = work(entry, redactor)
      .catch((error: unknown) => abandon(call, error, redactor))
      .finally(() => running.delete(call.key));
    return entry.done;
  }

  /** A call whose end has failed, perhaps because nothing can be stored: it affects no other call. (K1) */
  function abandon(call: TakenCall, failure: unknown, redactor: Redactor): void {
    log(redactor.record(`${nameOf(call)}: ${describeError(failure)}`));
    try {
      ledger.settle(call, outputOfThrown(failure), redactor.clean);
      ledger.end(call);
    } catch (error) {
      log(`${nameOf(call)} cannot be ended: ${describeError(error)}`); // left for the next process
    }
  }

  async function work(entry: Running, redactor: Redactor): Promise<void> {
    const { call } = entry;
    const end = (output: ToolOutput): void => void ledger.settle(call, output, redactor.clean);
    if (call.problem !== undefined) return end(failed(call.problem)); // (K2)
    if (ledger.wasCancelled(call)) return end(failed('the call was cancelled before it began.'));
    const tool = tools.get(call.operation);
    if (tool === undefined)
      return end(failed(`there is no tool "${call.operation.slice(0, operationCharactersMax)}" here.`));
    if (tool.requiresUser === true && call.userId === undefined)
      return end(failed('this tool acts for a user, and the call names none (user_id).')); // T33
    const deadline = createDeadline(tool.deadlineMs, () => stop(entry, 'deadline'));
    entry.deadline = deadline;
    const subscribed = (subscription: Subscription): void => {
      entry.subscription = subscription;
      deadline.stop(); // the caller has its result
      subscription.signal.addEventListener('abort', () => stop(entry, 'cancelled'), { once: true });
    };
    const context = createContext(parts, call, tool, { signal: entry.abort.signal, deadline, redactor, subscribed });
    const handle = async (): Promise<HandlerOutput> => {
      const parsed = await tool.parse(call.arguments); // may be slow, and hang (K1)
      if (!parsed.ok) return failed(parsed.complaint);
      return entry.stop === null ? parsed.work(context) : failed('the call was stopped before it began.');
    };
    const span = beginRun(call, tool.name);
    const handler = span === null ? handle() : span.run(handle);
    const ending = await endingOf(entry, handler);
    deadline.stop();
    const last = await lateAnswer(tool, ending, handler);
    const settle = (): void => conclude(entry, tool, last, redactor);
    try {
      if (span === null) settle();
      else span.run(settle);
    } finally {
      span?.end(errorOf(last, entry.subscription !== null));
    }
  }

  /** The handler's outcome, or the stop, whichever is first. */
  async function endingOf(entry: Running, handler: Promise<HandlerOutput>): Promise<Ending> {
    const { signal } = entry.abort;
    const stopped = new Promise<null>((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const ended = handler.then(
      (output): Ending => ({ output }),
      (thrown: unknown): Ending => ({ thrown }),
    );
    const first = await Promise.race([ended, stopped]);
    if (entry.stop !== null) return { stop: entry.stop };
    return first ?? { stop: 'cancelled' };
  }

  function conclude(entry: Running, tool: Tool, ending: Ending, redactor: Redactor): void {
    const { call, subscription } = entry;
    if (subscription !== null) return concludeSubscribed(call, subscription, ending);
    const settle = (output: ToolOutput): void => void ledger.settle(call, output, redactor.clean);
    if ('output' in ending) return settle(toOutput(ending.output));
    if ('thrown' in ending) {
      log(redactor.record(`${nameOf(call)} threw: ${describeError(ending.thrown)}`)); // T19: for the operator only
      return settle(outputOfThrown(ending.thrown));
    }
    switch (ending.stop) {
      case 'cancelled':
        return ledger.end(call);
      case 'deadline':
        return settle(failed(deadlineText(tool)));
      case 'shutdown':
        if (isDurable && beginsAgain(tool, ledger.isAsking(call))) return undefined; // left to `recover`
        return settle(failed(stoppedText));
    }
  }

  function concludeSubscribed(call: TakenCall, subscription: Subscription, ending: Ending): void {
    if ('stop' in ending && ending.stop === 'shutdown' && isDurable) return; // left to `recover`
    if ('thrown' in ending) {
      log(`${nameOf(call)} threw after it had subscribed: ${describeError(ending.thrown)}`);
      subscription.emit(outputOfThrown(ending.thrown).text ?? '', { associative: true, final: true });
    }
    ledger.end(call);
  }

  function stop(entry: Running, reason: Stop): void {
    if (running.get(entry.call.key) !== entry) return; // its handler has ended before its subscription
    entry.stop ??= reason;
    entry.abort.abort(new Error(`the call was stopped: ${reason}`));
  }

  function recover({ call, state, restarts, wasAsking }: LeftCall): void {
    const tool = tools.get(call.operation);
    if (state === 'subscribed') {
      ledger.end(call);
      if (tool?.resume !== undefined) return;
      subscriptions.of(call)?.emit(`Error: ${stoppedText}`, { associative: true, final: true });
    } else if (tool !== undefined && restarts <= rerunsMax && beginsAgain(tool, wasAsking)) void run(call);
    else ledger.settle(call, failed(wasAsking ? askingText : restartedText), parts.redactor.clean);
  }

  return {
    count: () => running.size,
    run,
    cancel(threadId, callId) {
      const entries = [...running.values()].filter(({ call }) => call.groupId === threadId && call.id === callId);
      if (entries.length === 0) ledger.rememberCancelled(threadId, callId); // the notice may overtake its call T36
      for (const entry of entries) stop(entry, 'cancelled');
    },
    closeThread(threadId) {
      for (const entry of running.values()) if (entry.call.groupId === threadId) stop(entry, 'cancelled');
    },
    recover() {
      for (const left of ledger.left()) {
        try {
          recover(left);
        } catch (error) {
          abandon(left.call, error, parts.redactor);
        }
      }
    },
    endLost() {
      for (const { call, deadline, ...entry } of running.values()) {
        const tool = tools.get(call.operation);
        if (tool === undefined || deadline?.isLost() !== true) continue;
        entry.abort.abort(new Error('the call was stopped: deadline'));
        running.delete(call.key);
        ledger.settle(call, failed(deadlineText(tool)), parts.redactor.clean);
      }
    },
    async close() {
      for (const entry of running.values()) stop(entry, 'shutdown');
      await Promise.all([...running.values()].map((entry) => entry.done));
    },
  };
}

/** Whether a call of this tool may run from its beginning after a restart. T26 */
const beginsAgain = ({ onRestart }: Tool, wasAsking: boolean): boolean =>
  onRestart === 'rerun' || (onRestart === 'rerun_if_asking' && wasAsking);

const deadlineText = ({ deadlineMs }: Tool): string =>
  `the tool did not finish within ${deadlineMs / 1_000} s and was stopped.`;
const askingText =
  'the tool server was restarted while this call waited for a person, whose answer cannot reach it any more. Call again to ask again.';
const restartedText =
  'the tool server was restarted while this call was running. It is not known how far it came; look before calling it again.';
const stoppedText =
  'the tool server was stopped while this was running. It is not known how far it came; look before trying it again.';

/** A cancelled handler may still return a result, if its tool wants that, within a short time. T40 */
async function lateAnswer(tool: Tool, ending: Ending, handler: Promise<HandlerOutput>): Promise<Ending> {
  if (!('stop' in ending) || ending.stop !== 'cancelled' || tool.onCancel !== 'answer') return ending;
  const cancelled = failed('the call was cancelled.');
  const late = await Promise.race([handler.catch(() => cancelled), sleep(lateAnswerMsMax, cancelled, { ref: false })]);
  return { output: late };
}

/** Of a span: the class of what was thrown, or how the call was stopped. A subscription that is cancelled has ended. */
function errorOf(ending: Ending, isSubscribed: boolean): string | null {
  if ('stop' in ending) return isSubscribed && ending.stop === 'cancelled' ? null : ending.stop;
  if ('thrown' in ending)
    return ending.thrown instanceof Error ? ending.thrown.name.slice(0, nameCharactersMax) : '_OTHER';
  const { output } = ending;
  return output instanceof ToolOutput && output.text?.startsWith(errorTextPrefix) === true ? 'ToolError' : null;
}
