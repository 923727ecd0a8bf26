// The tools that the runtime itself offers: each is settled inside the decision that requests it. design §2
import type { Draft } from '../draft.ts';
import { text } from '../content.ts';
import { inputIds } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { type Call, own } from '../thread.ts';
import { offeredBuiltIns } from '../built-in-tools.ts';
import { setThreadTimer, settle } from './call.ts';
import { reportToParent, spawnThread } from './child.ts';
import { cancelSubscription } from './subscription.ts';

/** What a call asks for when the whole answer has been read. */
export type AfterAnswer =
  { readonly wish: 'sleep'; readonly until: number } | { readonly wish: 'close'; readonly report: string | null };

/** Runs one call of ours; its result is in the same commit. */
export function runBuiltIn(draft: Draft, call: Call): AfterAnswer | null {
  const { thread } = draft;
  if (!offeredBuiltIns(thread).some((tool) => tool.name === call.operation)) {
    settle(draft, call, 'error', 'TOOL_UNKNOWN', `"${call.operation}" is offered to child threads only`);
    return null;
  }
  const words = Object.values(call.arguments).filter((value) => typeof value === 'string');
  if (words.some((value) => value.length > threadLimits.familyCharactersMax))
    return fail(draft, call, `at most ${threadLimits.familyCharactersMax} characters`);
  switch (call.operation) {
    case 'cancel_subscription':
      return cancel(draft, call);
    case 'spawn_thread':
      return spawn(draft, call);
    case 'send_message_to_child':
      return sendToChild(draft, call);
    case 'report_to_parent':
      return report(draft, call);
    case 'close_thread':
      answer(draft, call, 'This thread closes now.');
      return { wish: 'close', report: optionalWord(call, 'report') };
    case 'set_title':
      return setTitle(draft, call);
    case 'sleep':
      return sleepUntil(draft, call, draft.moment.now + Number(call.arguments['seconds']) * 1_000);
    default:
      return sleepUntil(draft, call, instantOf(word(call, 'at')));
  }
}

function cancel(draft: Draft, call: Call): null {
  const toolCallId = word(call, 'tool_call_id');
  if (cancelSubscription(draft, toolCallId)) return answer(draft, call, `The subscription ${toolCallId} is cancelled.`);
  return fail(draft, call, `this thread has no subscription "${toolCallId}"`); // R77
}

function spawn(draft: Draft, call: Call): null {
  const instructions = word(call, 'instructions');
  if (instructions === '') return fail(draft, call, 'instructions must not be empty');
  const spawned = spawnThread(draft, call.toolCallId, instructions);
  return 'problem' in spawned
    ? fail(draft, call, spawned.problem)
    : answer(draft, call, JSON.stringify({ child_id: spawned.childId }));
}

function sendToChild(draft: Draft, call: Call): null {
  const childId = word(call, 'child_id');
  if (own(draft.thread.children, childId) === undefined)
    return fail(draft, call, `this thread has no open child "${childId}"`);
  const content = [text(word(call, 'text'))];
  draft.owe({ do: 'SendToChild', id: inputIds.parentMessage(call.toolCallId), childId, content });
  return answer(draft, call, `Sent to ${childId}.`);
}

function report(draft: Draft, call: Call): null {
  reportToParent(draft, call.toolCallId, [text(word(call, 'report'))], false);
  return answer(draft, call, 'Reported.');
}

function setTitle(draft: Draft, call: Call): null {
  const title = word(call, 'title').trim();
  if (title === '' || title.length > threadLimits.titleCharactersMax)
    return fail(draft, call, `a title has 1 to ${threadLimits.titleCharactersMax} characters`);
  draft.emit({ type: 'TitleSet', title });
  return answer(draft, call, 'The title is set.');
}

function sleepUntil(draft: Draft, call: Call, until: number): AfterAnswer | null {
  const { now } = draft.moment;
  if (Number.isNaN(until)) return fail(draft, call, 'at is not a time like 2027-01-31T08:00:00Z, with its offset');
  if (until <= now) return fail(draft, call, 'the time must lie in the future');
  if (until - now > threadLimits.sleepMsMax) return fail(draft, call, 'five years is the longest sleep');
  answer(draft, call, `Timer set for ${new Date(until).toISOString()}.`);
  return { wish: 'sleep', until };
}

/** The turn ends with it: nothing of the round is news any more. */
export function fallAsleep(draft: Draft, until: number): void {
  setThreadTimer(draft, 'sleep', Math.ceil(until));
}

/** An offset is required: a local time would mean another moment on another machine. */
function instantOf(at: string): number {
  return /(?:Z|[+-]\d\d:?\d\d)$/i.test(at) ? Date.parse(at) : Number.NaN;
}

function answer(draft: Draft, call: Call, words: string): null {
  draft.emit({ type: 'ToolCallSettled', toolCallId: call.toolCallId, outcome: 'result', content: [text(words)] });
  return null;
}

function fail(draft: Draft, call: Call, why: string): null {
  settle(draft, call, 'error', 'ARGUMENTS_INVALID', why);
  return null;
}

function word(call: Call, name: string): string {
  const value = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
  return typeof value === 'string' ? value : '';
}

const optionalWord = (call: Call, name: string): string | null => word(call, name) || null;
