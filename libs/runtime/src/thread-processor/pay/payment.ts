// Step 4: pays what a list of commits owes. Hands every debt to the port that carries it out, under ids that their
// receivers dedup on. Owns the order of hand-over; the heart judges what is still owed, `Hold` counts holding.
//
// Invariants:
//   P1. Debts are filtered by the state at the end of exactly the list that is paid, on the first payment too: in a
//       commit of several inputs a later one may cancel an earlier one's effect. (V5)
//   P2. Paying again is harmless: same ids, same content. A failure leaves everything owed, and the slice is retried.
//   P3. A completion that the list ended hands its deliveries over only after the payment, never before. (V1)
//   P4. The next completion starts last, when nothing else can fail.
//   P5. A call that can never be handed over is settled: its thread gets that as an input; the debt is held until then.
//   P6. Debts of a tenant that is not active are not paid: their thread is marked first. (holding H1) Of a paused agent
//       that holds for calls and completions alone. (holding H5)
import {
  type DueTimer,
  Fault,
  type Logger,
  type Owed,
  type Receipt,
  type Stores,
  type ThreadKey,
  traceparentOf,
} from '@dormouse/ports';
import { inputIds, type InvokeTool, type isOwed, own, unreachable } from '@dormouse/thread';
import { type CompletionEnd, CompletionRun } from '../completion/completion-run.ts';
import type { CompletionOrder } from '../completion/completion-request.ts';
import type { CompletionRunner } from '../completion/completion-runner.ts';
import type { Holding } from '../../tenants/holding.ts';
import type { FamilyMail, MailEffect } from './family-mail.ts';
import type { ListsQuestions } from './question-list.ts';
import type { Hold } from './held-deliveries.ts';
import type { Debt, ThreadState } from '../state/thread-state.ts';

/** The part of a thread's state that payment looks at. */
export type BilledState = Pick<ThreadState, 'thread' | 'tail' | 'messages' | 'trace'>;

export interface PaymentDeps extends Pick<Stores, 'work' | 'timers' | 'logins'> {
  readonly mail: FamilyMail;
  readonly listQuestions: ListsQuestions;
  readonly completions: CompletionRunner;
  readonly holding: Holding | null;
  /** The thread as it is now: cached, or read. @throws Fault */
  readonly readState: (debtor: Pick<Debtor, 'key' | 'cacheKey'>) => Promise<BilledState>;
  readonly clock: { now(): number };
  readonly logger: Logger;
  readonly protocol: { readonly isOwed: typeof isOwed };
  /** A timer was set that may be the nearest: the timer loop may have to wake earlier. */
  readonly timerSet: (due: number) => void;
}

/** The part of a lane that payment touches. */
export interface Debtor {
  readonly key: ThreadKey;
  /** Names the thread within this assignment. */
  readonly cacheKey: string;
  /** The completion that runs here for this thread. */
  run: CompletionRun | null;
  /** Closing lanes start no completions: what they owe stays owed. */
  readonly isClosing: boolean;
  answered(run: CompletionRun, answer: CompletionEnd): void;
  /** Something held by this lane may have been released. */
  settled(): void;
}

export interface Debts {
  readonly debts: readonly Debt[];
  /** The state at the end of exactly these commits. (P1) */
  readonly state: BilledState;
}

export interface Bill extends Debts {
  /** Held until everything here is handed over and handled. */
  readonly hold: Hold;
}

/** @throws Fault when something could not be handed over: all of it stays owed. */
export async function pay(deps: PaymentDeps, debtor: Debtor, bill: Bill): Promise<void> {
  const { protocol, holding } = deps;
  const ended = endedRun(debtor, bill.state);
  ended?.abort();
  const isHeld = holding !== null && bill.debts.length > 0 && (await holding.holds(debtor.key)); // (P6)
  const { name: agent } = bill.state.thread.agent;
  const isPaused =
    !isHeld && holding !== null && bill.debts.some(isDone) && (await holding.holdsAgent(debtor.key, agent));
  if (!isHeld) await handOver(deps, debtor, bill, isPaused);
  if (ended !== null) bill.hold.absorb(ended.hold); // (P3)
  if (ended !== null && debtor.run === ended) debtor.run = null;
  const requested = isHeld || isPaused ? null : owedCompletion(protocol, bill);
  if (requested !== null) startCompletion(deps, debtor, bill, requested); // (P4)
}

/** Whether the agent does something with it: asks the model, or calls a tool. */
const isDone = ({ effects }: Debt): boolean =>
  effects.some((effect) => effect.do === 'RequestCompletion' || effect.do === 'InvokeTool');

/** The lane's completion, when the state no longer requests it. */
function endedRun(debtor: Debtor, state: BilledState): CompletionRun | null {
  const { run } = debtor;
  return run !== null && run.completionId !== state.thread.completion?.completionId ? run : null;
}

async function handOver(deps: PaymentDeps, debtor: Debtor, bill: Bill, isPaused: boolean): Promise<void> {
  const orders: Promise<void>[] = [];
  const timers: DueTimer[] = [];
  for (const debt of bill.debts) {
    for (const effect of debt.effects) {
      if (!deps.protocol.isOwed(bill.state.thread, effect)) continue; // (P1)
      const owed = { ...debtor.key, at: debt.at, trace: debt.trace };
      switch (effect.do) {
        case 'InvokeTool':
          if (isPaused) break; // (P6)
          orders.push(invoked(deps, debtor, bill.hold, { ...owed, ...traceOfCall(bill.state, effect), effect }));
          break;
        case 'WithdrawCall':
        case 'LoadToolsets':
        case 'MigrateToolServers':
          orders.push(published(deps, debtor, bill.hold, deps.work.publish('dispatches', { ...owed, effect })));
          break;
        case 'SendCancelNotices':
        case 'SendCloseNotices':
        case 'AnswerChoice':
          orders.push(published(deps, debtor, bill.hold, deps.work.publish('notices', { ...owed, effect })));
          break;
        case 'SetTimer':
          timers.push({ ...debtor.key, timerId: effect.timerId, due: effect.due });
          break;
        case 'SpawnChild':
        case 'ReportToParent':
        case 'SendToChild':
          deps.mail.send(
            {
              ...{ key: debtor.key, at: debt.at, trace: traceOfMail(bill.state, debt) },
              ...linkOfMail(bill.state, effect),
              settled: () => debtor.settled(),
            },
            effect,
            bill.hold,
          );
          break;
        case 'ForgetLogin':
          orders.push(deps.logins.forget(debtor.key, effect.toolCallId));
          break;
        case 'ListQuestions':
          orders.push(deps.listQuestions(debtor.key, effect));
          break;
        case 'RequestCompletion':
          break;
        default:
          unreachable(effect);
      }
    }
  }
  if (timers.length > 0) orders.push(setTimers(deps, timers));
  await everyOne(orders);
}

/**
 * A call that no record of the bus can carry fails, as one that its server refuses: no later attempt would change it.
 * (P5)
 */
async function invoked(deps: PaymentDeps, debtor: Debtor, hold: Hold, owed: Owed<InvokeTool>): Promise<void> {
  try {
    await published(deps, debtor, hold, deps.work.publish('dispatches', owed));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'RECORD_TOO_LARGE') throw error;
    const { toolCallId } = owed.effect;
    const { key } = debtor;
    deps.logger.error('call_too_large', { ...key, call: toolCallId });
    const from = { key, at: owed.at, trace: owed.trace, settled: () => debtor.settled() };
    const id = inputIds.dispatchFailure(toolCallId);
    const why = { code: error.code, detail: 'the call is too large to be sent' };
    deps.mail.sendBack(from, { kind: 'DispatchFailure', id, toolCallId, outcome: 'error', ...why }, hold);
  }
}

/** What was published is held until it is handled. */
async function published(deps: PaymentDeps, debtor: Debtor, hold: Hold, given: Promise<Receipt>): Promise<void> {
  const { handled } = await given;
  if (handled === null) return;
  hold.retain();
  const drop = (): void => {
    hold.drop();
    debtor.settled();
  };
  const keep = (error: unknown): void => deps.logger.warn('receipt_lost', { ...debtor.key, error: String(error) }); // stays owed
  handled.then(drop, keep);
}

/** What another thread does because of this one goes on beside it, in the turn's trace. */
const traceOfMail = ({ trace: { turn } }: BilledState, debt: Debt): string | null =>
  turn === null ? debt.trace : traceparentOf(turn.request);

/** Of a child: the call or the subscription that caused it, maybe of an earlier turn; nothing without tracing. */
function linkOfMail({ trace }: BilledState, effect: MailEffect): { readonly link?: string } {
  const cause = effect.do === 'SpawnChild' ? own(trace.open, effect.childId) : undefined;
  return cause === undefined ? {} : { link: traceparentOf(cause.context) };
}

/** The context of the call's `execute_tool`, and that of its parent; nothing without tracing. */
function traceOfCall({ trace }: BilledState, { toolCallId }: InvokeTool): Partial<Owed<InvokeTool>> {
  const call = own(trace.open, toolCallId);
  if (call?.agent === undefined) return {};
  return { trace: traceparentOf(call.context), agent: traceparentOf(call.agent) };
}

async function setTimers(deps: PaymentDeps, timers: readonly DueTimer[]): Promise<void> {
  await deps.timers.set(timers);
  for (const timer of timers) deps.timerSet(timer.due);
}

/** Waits for all of them, then throws the first failure: nothing is still under way when a slice is retried. */
async function everyOne(orders: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(orders)) if (outcome.status === 'rejected') throw outcome.reason;
}

interface OwedCompletion extends CompletionOrder {
  readonly trace: string | null;
}

function owedCompletion(protocol: PaymentDeps['protocol'], { debts, state }: Debts): OwedCompletion | null {
  const { thread, messages, tail } = state;
  const { wake } = state.trace;
  for (const debt of debts) {
    const trace = wake === null ? debt.trace : traceparentOf(wake.context);
    for (const effect of debt.effects)
      if (effect.do === 'RequestCompletion' && protocol.isOwed(thread, effect))
        return { completionId: effect.completionId, trace, thread, messages, promptLength: tail.length };
  }
  return null;
}

function startCompletion(deps: PaymentDeps, debtor: Debtor, bill: Bill, requested: OwedCompletion): void {
  const { completionId } = requested;
  if (debtor.isClosing) {
    bill.hold.retain(); // never dropped: the next owner gets these deliveries
    return;
  }
  if (debtor.run?.completionId === completionId) {
    debtor.run.hold.absorb(bill.hold.retain()); // asked for again: it runs, and holds this too
    return;
  }
  const adopted = deps.completions.adopt(debtor.key, completionId, (run, answer) => debtor.answered(run, answer));
  const run = adopted ?? new CompletionRun(debtor.key, completionId, requested.trace, deps.clock.now());
  run.hold.absorb(bill.hold.retain());
  debtor.run = run;
  if (adopted !== null) return;
  const read = reading(deps, debtor, completionId, requested.promptLength);
  deps.completions.start(run, { atHand: requested, read }, (answer) => debtor.answered(run, answer));
}

/** How to read the order again; keeps nothing of it alive. */
const reading =
  (deps: PaymentDeps, debtor: Debtor, completionId: string, promptLength: number) =>
  async (): Promise<CompletionOrder> => {
    const { thread, messages } = await deps.readState(debtor);
    if (thread.completion?.completionId !== completionId)
      throw new Fault('STATE_UNAVAILABLE', `${completionId} is not what the thread waits for`); // not yet, or no more
    return { completionId, thread, messages, promptLength };
  };
