// A call whose tool waits for a person, to log in or to choose. The call stays pending and is never invoked again; its
// result may come at any time. RAP oauth, user-choice
//
// Invariants:
//   Q1. A choice is settled once: by an answer, a dismissal, an interruption, its deadline, or its tool's own result or
//       next question; unless the tool itself settles it, an index is posted to the tool. R91, R92
//   Q2. The URL of a login is never here; when its call is settled the sealed one is forgotten. R88
//   Q3. A question without a message id is a repetition while the same question of its call is open, and is a new
//       question after that. The repetition is recorded, so that it stays one when its input comes again later. R94, V3
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { ChoiceAnswerFailure, LoginPrompt, ChoicePrompt } from '../input.ts';
import { type Call, callOf, type Choice, own, waitsForPerson } from '../thread.ts';
import { timeoutOf } from '../tools.ts';
import { abandon, sentCall, setTimer, settle } from './call.ts';
import { wake } from './wake.ts';

export function takeLogin(draft: Draft, input: LoginPrompt): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  if (call?.toolServer !== input.toolServer) return 'NOT_PENDING';
  if (isOpen(call, 'login', input.question)) return recordRepetition(draft, call);
  replaceQuestion(draft, call);
  const { toolCallId } = call;
  draft.emit({ type: 'OauthRequested', toolCallId, ...named(input), expiresAt: input.expiresAt });
  setTimer(draft, call, 'login_deadline', input.expiresAt);
}

export function takeUserChoice(draft: Draft, input: ChoicePrompt): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  if (call?.toolServer !== input.toolServer) return 'NOT_PENDING';
  if (isOpen(call, 'choice', input.question)) return recordRepetition(draft, call);
  replaceQuestion(draft, call);
  const { prompt, choices, answerTo, expiresAt } = input;
  draft.emit({
    type: 'ChoiceRequested',
    choiceId: draft.mint('chc'),
    kind: 'tool',
    toolCallId: call.toolCallId,
    prompt,
    choices,
    default: input.default,
    answerTo,
    ...named(input),
    expiresAt,
  });
  setTimer(draft, call, 'choice_deadline', expiresAt);
}

const named = ({ question }: LoginPrompt | ChoicePrompt): { readonly question?: string } =>
  question === null ? {} : { question };

/** (Q3) */
const isOpen = ({ waiting }: Call, kind: 'login' | 'choice', question: string | null): boolean =>
  question !== null && waiting.for === kind && waiting.question === question;

/** (Q3) */
function recordRepetition(draft: Draft, { toolCallId }: Call): void {
  const reason = 'the same question again, while it is open';
  draft.emit({ type: 'CallbackRejected', toolCallId, reason, code: 'REPEATED' });
}

/** A tool that sends a new question has given up its earlier one, and waits for no answer to it. */
function replaceQuestion(draft: Draft, call: Call): void {
  settleByTool(draft, call);
  const timerId = callOf(draft.thread, call.toolCallId)?.personTimerId ?? null;
  if (timerId !== null) draft.emit({ type: 'TimerCancelled', timerId });
}

/** Settles a tool's choice and owes the tool its index. (Q1) */
export function settleChoice(draft: Draft, choice: Choice, selected: number, by: string, reason: string | null): void {
  const { choiceId, toolCallId, answerTo } = choice;
  const call = callOf(draft.thread, toolCallId);
  draft.emit({ type: 'ChoiceSettled', choiceId, selected, by, ...(reason === null ? {} : { reason }) });
  const toolServer = call?.toolServer ?? null;
  if (toolServer === null || answerTo === null) return;
  draft.owe({ do: 'AnswerChoice', id: `answer:${choiceId}`, choiceId, toolCallId, toolServer, answerTo, selected });
}

/** Withdraws what a person was asked: an approval counts as nothing, a choice takes its default. R92 */
export function withdrawQuestion(draft: Draft, call: Call, by: string): void {
  if (!('choiceId' in call.waiting)) return;
  const choice = own(draft.thread.choices, call.waiting.choiceId);
  if (choice === undefined) return;
  if (choice.kind === 'tool') settleChoice(draft, choice, choice.default, by, null);
  else draft.emit({ type: 'ChoiceSettled', choiceId: choice.choiceId, decision: 'withdrawn', by });
}

/** The tool answered without waiting for the person. */
export function settleByTool(draft: Draft, call: Call): void {
  if (call.waiting.for !== 'choice') return;
  const choice = own(draft.thread.choices, call.waiting.choiceId);
  if (choice !== undefined)
    draft.emit({ type: 'ChoiceSettled', choiceId: choice.choiceId, selected: choice.default, by: 'tool' });
}

/** The deadline has passed without an answer. */
export function expireQuestion(draft: Draft, call: Call): void {
  if (call.waiting.for === 'choice') {
    withdrawQuestion(draft, call, 'deadline');
    return restartTimeout(draft, call);
  }
  settle(draft, call, 'timed_out', 'TOOL_TIMED_OUT', 'nobody logged in in time');
  abandon(draft, call, { notify: true });
}

/** From now on the call waits for its tool again, and its timeout starts again. R58 */
export function restartTimeout(draft: Draft, call: Call): void {
  const timeoutMs = timeoutOf(draft.thread, call.operation);
  if (call.timerId === null || timeoutMs === null) return;
  draft.emit({ type: 'TimerCancelled', timerId: call.timerId });
  setTimer(draft, call, 'tool_timeout', draft.moment.now + timeoutMs);
}

/** The choice cannot reach the tool, so the tool never answers; unless it has asked something else meanwhile. */
export function takeAnswerFailure(draft: Draft, input: ChoiceAnswerFailure): StableRefusal | void {
  const call = callOf(draft.thread, input.toolCallId);
  if (call === undefined) return 'NOT_PENDING';
  const { toolCallId } = call;
  if (waitsForPerson(call))
    draft.emit({ type: 'CallbackRejected', toolCallId, reason: input.detail, code: 'DISPATCH_FAILED' });
  else settle(draft, call, 'error', 'DISPATCH_FAILED', input.detail);
  wake(draft);
}
