// The sentence that says to people what a thread waits for. Pure: the thread and what is known beside it in, words out.
// Not here: which reads bring those facts (waiting.ts).
//
// Invariants:
//   W1. It is null exactly for a thread that is closed, or idle without an open question below it. Subscriptions,
//       schedules and open child threads may wake such a thread, but no turn of it waits for them.
//   W2. Every number was measured. A fact that is not known is left out.
//   W3. It holds no message, no argument and no secret. Of the reason of a parked thread, which is for operators, it
//       has the code and the attempts alone. Names and errors from elsewhere lose their control characters and are
//       bounded.
//   W4. It names the oldest wait and counts the others. A detached call blocks no turn, so it comes after those that
//       do; questions of threads below come last.
import type { Attempt, ParkedThread, Question, Retrying, ThreadStatus } from '@dormouse/ports';
import { type Call, type Completion, own, type SlotWait, type Thread, type Timer, unreachable } from '@dormouse/thread';

/** What is known beside the thread itself; null and [] are unknown. */
export interface WaitFacts {
  /** Milliseconds since the epoch, as every time here. */
  readonly now: number;
  readonly status: ThreadStatus;
  readonly createdAt: number;
  readonly slot: SlotWait | null;
  readonly retrying: Retrying | null;
  readonly parked: Pick<ParkedThread, 'mark' | 'reason' | 'parkedAt'> | null;
  /** Of the call that `firstWait` names; null when they were not read. */
  readonly attempts: readonly Attempt[] | null;
  /** Whether an operator has paused the thread's agent, and the tool server of that call. */
  readonly isAgentPaused: boolean;
  readonly isServerPaused: boolean;
  /** Of the operation of that call. */
  readonly usual: UsualTime | null;
  /** Open questions of the threads below, oldest first. */
  readonly questions: readonly Question[];
  /** Time zone in which the end of a sleep was named, by its name or as `+01:00`. */
  readonly zone: string | null;
}

/** The median of some calls that ended with a result. */
export interface UsualTime {
  readonly ms: number;
  /** How many calls, at least one. */
  readonly calls: number;
}

export type Wait =
  | { readonly kind: 'completion'; readonly since: number; readonly completion: Completion }
  | { readonly kind: 'call'; readonly since: number; readonly call: Call }
  | { readonly kind: 'sleep'; readonly since: number; readonly timer: Timer };

export function waitingSentence(thread: Thread, facts: WaitFacts): string | null {
  const { status, parked } = facts;
  switch (status) {
    case 'closed':
      return null; // (W1)
    case 'parked':
      return parkedWords(thread, parked, facts.now);
    case 'opening':
      return openingWords(thread, facts);
    case 'idle':
    case 'thinking':
    case 'waiting':
      return waitWords(thread, facts);
    default:
      return unreachable(status);
  }
}

/** The wait that the sentence names, and how many there are beside it. (W4) */
export function firstWait(thread: Thread): { readonly wait: Wait; readonly others: number } | null {
  const { completion, calls, timers } = thread;
  const waits: readonly Wait[] = [
    ...(completion === null ? [] : [{ kind: 'completion' as const, since: completion.since, completion }]),
    ...calls.map((call) => ({ kind: 'call' as const, since: call.since, call })),
    ...Object.values(timers)
      .filter(({ reason }) => reason === 'sleep')
      .map((timer) => ({ kind: 'sleep' as const, since: timer.since, timer })),
  ];
  const [wait] = waits.toSorted((a, b) => Number(isDetached(a)) - Number(isDetached(b)) || a.since - b.since);
  return wait === undefined ? null : { wait, others: waits.length - 1 };
}

const isDetached = (wait: Wait): boolean => wait.kind === 'call' && wait.call.detached;

function waitWords(thread: Thread, facts: WaitFacts): string | null {
  const { questions, now } = facts;
  const first = firstWait(thread);
  const [below] = questions;
  if (first !== null) return counting(wordsOf(thread, first.wait, facts), first.others + questions.length);
  return below === undefined ? null : counting(belowWords(below, now), questions.length - 1); // (W1)
}

const counting = (words: string, others: number): string => (others === 0 ? words : `${words}; and ${others} more`);

const asks = 'answer a question of';
const logsIn = 'log in for';
/** What a person is to do, by what a call waits for and by the kind of a question. */
const tasks = { approval: 'allow', choice: asks, tool: asks, login: logsIn, oauth: logsIn } as const;

/** (W4) */
function belowWords(question: Question, now: number): string {
  const { kind, thread, toolCallId, operation, toolServer, since, expiresAt } = question;
  const at = toolServer === null ? '' : ` at ${cleaned(toolServer)}`;
  const call = `\`${toolCallId}\` (${cleaned(operation)})${at}`;
  const person = `waiting ${span(now - since)} for a person to ${tasks[kind]} ${call}`;
  return `${person}, of \`${thread}\` below; it expires ${until(expiresAt, now)}`;
}

function wordsOf(thread: Thread, wait: Wait, facts: WaitFacts): string {
  switch (wait.kind) {
    case 'completion':
      return completionWords(thread, wait.completion, facts);
    case 'call':
      return callWords(thread, wait.call, facts);
    case 'sleep':
      return sleepWords(wait.timer, facts);
    default:
      return unreachable(wait);
  }
}

function parkedWords(thread: Thread, parked: WaitFacts['parked'], now: number): string {
  const next = `next: \`dormouse parked show ${thread.id}\``;
  if (parked === null) return `parked; ${next}`;
  if (parked.mark === 'replay') return `parked, and its replay has begun; ${next}`;
  const [, attempts, code] = /^(?:after (\d+) attempts?: )?([A-Z]+(?:_[A-Z]+)*(?=$|, ))?/.exec(parked.reason) ?? []; // (W3)
  const after = attempts === undefined ? '' : ` after ${counted(Number(attempts), 'attempt')}`;
  const cause = code === undefined ? 'an input that fails every time' : `an input that fails with ${code}`;
  return `parked${after}, ${span(now - parked.parkedAt)} ago: ${cause}; ${next}`;
}

function openingWords(thread: Thread, { now, createdAt }: WaitFacts): string {
  const opening = `opening for ${span(now - createdAt)}`;
  if (thread.loading === null) return `${opening}: its first commit is not stored yet`;
  const [server, ...others] = thread.toolServers;
  if (server === undefined) return `${opening}: loading its tools`;
  return `${opening}: loading the tools of ${cleaned(server)}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

function completionWords(thread: Thread, { completionId, since }: Completion, facts: WaitFacts): string {
  const { now, slot, retrying } = facts;
  if (facts.isAgentPaused)
    return `waiting ${span(now - since)}, and the model is not asked: ${pausedWords('agent', thread.agent.name)}`;
  if (slot?.completionId === completionId)
    return `waiting ${span(now - slot.since)} for a free slot, before the model is asked`;
  const model = thread.model === '' ? '' : ` (${cleaned(thread.model)})`;
  const asking = `waiting ${span(now - since)} for the answer of the model${model}`;
  if (retrying?.completionId !== completionId) return asking;
  const { host, attempt, code, detail, failedAt, nextAt } = retrying;
  const at = host === null ? '' : ` at ${cleaned(host)}`;
  const failed = `attempt ${attempt} failed ${span(now - failedAt)} ago (${code}: ${cleaned(detail, errorCharactersMax)})`;
  return `${asking}${at}: ${failed}, the next one is due ${until(nextAt, now)}`;
}

function callWords(thread: Thread, call: Call, facts: WaitFacts): string {
  const { waiting, operation, toolCallId } = call;
  const since = `waiting ${span(facts.now - call.since)} for`;
  const at = call.toolServer === null ? '' : ` at ${cleaned(call.toolServer)}`;
  const ends = endWords(thread, call, facts.now);
  if (waiting.for !== 'result')
    return `${since} a person to ${tasks[waiting.for]} \`${toolCallId}\` (${cleaned(operation)})${at}${ends}`;
  const details = [
    heldWords(thread, call, facts),
    sentWords(facts),
    rejectedWords(thread, call),
    usualWords(facts.usual),
  ].filter((one) => one !== '');
  const about = `${since} \`${toolCallId}\` (${cleaned(operation)}${call.detached ? ', detached' : ''})${at}`;
  return details.length === 0 ? about : `${about}: ${details.join('; ')}`;
}

/** When the question is settled without the person. */
function endWords(thread: Thread, { personTimerId, timerId }: Call, now: number): string {
  const timer = personTimerId ?? timerId;
  const due = timer === null ? undefined : own(thread.timers, timer)?.due;
  return due === undefined ? '' : `; it expires ${until(due, now)}`;
}

/** Why nothing of the call is sent, where it was not acknowledged. */
function heldWords(
  thread: Thread,
  { toolServer }: Call,
  { attempts, isAgentPaused, isServerPaused }: WaitFacts,
): string {
  if (attempts === null || attempts.some(({ status }) => isAcknowledgement(status))) return '';
  if (isServerPaused && toolServer !== null) return pausedWords('tool server', toolServer);
  return isAgentPaused ? pausedWords('agent', thread.agent.name) : '';
}

function pausedWords(what: 'agent' | 'tool server', name: string): string {
  const command = what === 'agent' ? 'agents' : 'tools';
  return `${what} ${cleaned(name)} is paused, until \`dormouse ${command} resume ${cleaned(name)}\``;
}

/** How far the call is on its way, from the attempts at its POST. */
function sentWords({ attempts, now }: WaitFacts): string {
  if (attempts === null) return '';
  const made = attempts.toSorted((a, b) => a.number - b.number || a.at - b.at);
  const taken = made.find(({ status }) => isAcknowledgement(status));
  if (taken !== undefined) {
    const which = taken.number === 1 ? '' : ` by attempt ${taken.number}`;
    return `acknowledged${which} in ${span(taken.durationMs)}, no result since`;
  }
  const last = made.at(-1);
  if (last === undefined) return 'not acknowledged yet';
  const end =
    typeof last.status === 'number' ? `was answered with ${last.status}` : `failed with ${cleaned(last.status)}`;
  const tried = counted(last.number, 'attempt');
  return `not acknowledged after ${tried}, the last one ${end} ${span(now - last.at)} ago`;
}

/** RAP transport, Delivery: any 2xx is the acknowledgement. R4 */
export const isAcknowledgement = (status: number | string): boolean =>
  typeof status === 'number' && status >= 200 && status < 300;

/** A callback came that could not be used. */
function rejectedWords({ problems }: Thread, { toolCallId, rejectedCallbacks }: Call): string {
  if (rejectedCallbacks === 0) return '';
  const code = problems.findLast((problem) => problem.toolCallId === toolCallId)?.code;
  const why = code === undefined ? '' : ` with ${code}`;
  return rejectedCallbacks === 1 ? `a callback was refused${why}` : `${rejectedCallbacks} callbacks were refused${why}`;
}

function usualWords(usual: UsualTime | null): string {
  if (usual === null) return '';
  return usual.calls === 1 ? `the last such call took ${span(usual.ms)}` : `usual time ${span(usual.ms)}`;
}

function sleepWords({ due }: Timer, { now, zone }: WaitFacts): string {
  return `sleeping until ${localTime(due, now, zone ?? 'UTC')} (${until(due, now)})`;
}

/** Within a week the weekday names the day; beyond that there is a date, too. */
function localTime(time: number, now: number, zone: string): string {
  const date = time - now < 6 * dayMs ? {} : ({ day: 'numeric', month: 'long', year: 'numeric' } as const);
  const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', ...date, timeZone: zone }).format(time);
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone } as const;
  return `${day.replace(',', '')} ${new Intl.DateTimeFormat('en-GB', clock).format(time)} ${zone}`;
}

const until = (time: number, now: number): string => (time > now ? `in ${span(time - now)}` : 'now');

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * A span of time as people say it: 12 ms, 4 s, 3 h 12 min, 3 days; the nearest one that has such words. Negative, where
 * two clocks differ, is none.
 */
function span(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < 1_000) return `${ms} ms`;
  const step = smallestUnitOf(ms);
  const said = Math.round(ms / step) * step;
  if (said >= 2 * dayMs) return `${Math.round(said / dayMs)} days`;
  const parts: readonly (readonly [amount: number, unit: string])[] = [
    [Math.floor(said / dayMs), 'day'],
    [Math.floor(said / hourMs) % 24, 'h'],
    [Math.floor(said / minuteMs) % 60, 'min'],
    [Math.floor(said / 1_000) % 60, 's'],
  ];
  const named = parts.filter(([amount]) => amount > 0);
  return named.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

/** Two units are said, days alone from two of them on. */
function smallestUnitOf(ms: number): number {
  if (ms < hourMs) return 1_000;
  if (ms < dayMs) return minuteMs;
  return ms < 2 * dayMs ? hourMs : dayMs;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const nameCharactersMax = 60;
const errorCharactersMax = 120;
/** Controls, what has no glyph or changes the direction of the line, and the mark that ids stand between. R100 */
const unfit = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}`]/gu;

/** (W3) */
function cleaned(text: string, charactersMax: number = nameCharactersMax): string {
  const fit = (part: string): string => part.replaceAll(/\s+/g, ' ').replaceAll(unfit, '').trim();
  const whole = fit(text.slice(0, 4 * charactersMax));
  return whole.length <= charactersMax ? whole : `${fit(whole.slice(0, charactersMax - 1))}…`;
}
