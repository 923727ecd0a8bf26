// A thread as the API shows it: names and labels from its row, everything else from its log.
import type { Question, Retrying, ThreadRow, ThreadStatus } from '@dormouse/ports';
import {
  type AgentReference,
  type LoadedToolset,
  type Subscription,
  type SlotWait,
  statusOf,
  type Thread,
  type UsageTotals,
  type WaitingOn,
  waitingOn,
} from '@dormouse/thread';
import { rfc3339 } from './api-json.ts';
import { below, statusWith, waitingWith } from './questions-below.ts';

/** What lists show: the row, which may be a moment behind the log. */
export interface ThreadSummary extends Pick<
  ThreadRow,
  'status' | 'parent' | 'family' | 'userId' | 'externalId' | 'metadata' | 'createdAt' | 'updatedAt' | 'position'
> {
  readonly id: string;
  readonly agent: AgentReference;
  /** Its first message's first words where it has none. */
  readonly title: string | null;
  readonly waitingOn: readonly WaitingOn[];
}

export interface ThreadView extends ThreadSummary {
  /** What it waits for, in a sentence for people; null when it waits for nothing, and for a past position. */
  readonly waiting: string | null;
  readonly subscriptions: readonly SubscriptionView[];
  readonly usage: UsageTotals;
  readonly lastError: Thread['lastError'];
  readonly problems: Thread['problems'];
  /** The tools that it has, by tool server. */
  readonly toolsets: readonly ToolsetView[];
}

export type ToolsetView = Pick<LoadedToolset, 'toolServer' | 'sha256' | 'tools' | 'stale'>;

export type SubscriptionView = Pick<Subscription, 'toolCallId' | 'operation' | 'since' | 'events' | 'lastEventAt'>;

/** R69 */
export const subscriptionsOf = (thread: Thread): readonly SubscriptionView[] =>
  Object.values(thread.subscriptions).map(({ toolCallId, operation, since, events, lastEventAt }) => ({
    ...{ toolCallId, operation, since, events, lastEventAt },
  }));

/** `questions`: those of its family. */
export function threadSummary(row: ThreadRow, questions: readonly Question[]): ThreadSummary {
  const {
    thread,
    agent,
    agentVersion,
    title,
    firstWords,
    waitingOn: waits = [],
    opening: _,
    tenant: __,
    ...rest
  } = row;
  const asked = below(questions, thread);
  return {
    ...rest,
    id: thread,
    status: statusWith(row.status, asked),
    agent: { name: agent, version: agentVersion },
    title: title ?? firstWords ?? null,
    waitingOn: waitingWith(row.status, waits, asked),
  };
}

/** State of the running completion that only the process running it has: it is not in the log. */
export interface LiveCompletion {
  readonly slot: SlotWait | null;
  readonly retrying: Retrying | null;
}

export const unknownLive: LiveCompletion = { slot: null, retrying: null };

/** `questions`: those of the threads below. */
export function threadView(
  row: ThreadRow,
  thread: Thread,
  { slot, retrying }: LiveCompletion,
  waiting: string | null,
  questions: readonly Question[] = [],
): ThreadView {
  const status = shownStatus(row, thread);
  return {
    ...threadSummary(row, []),
    status: statusWith(status, questions),
    waiting,
    // the row may not have it yet
    title: (row.position < thread.titledAt ? thread.title : row.title) ?? row.firstWords ?? thread.firstWords,
    updatedAt: Math.max(thread.updatedAt, row.createdAt),
    position: thread.position,
    waitingOn: waitingWith(status, waitingOn(thread, slot), questions),
    subscriptions: subscriptionsOf(thread),
    usage: thread.usage,
    lastError: retrying === null ? thread.lastError : failureOf(retrying),
    problems: retrying === null ? thread.problems : [...thread.problems, problemOf(retrying)],
    toolsets: thread.toolsets.map(({ toolServer, sha256, tools, stale }) => ({ toolServer, sha256, tools, stale })),
  };
}

/** That a thread is parked is in its row alone. */
export const shownStatus = (row: ThreadRow, thread: Thread): ThreadStatus =>
  row.status === 'parked' ? 'parked' : statusOf(thread);

const failureOf = ({ code, detail, failedAt }: Retrying): Thread['lastError'] => ({ code, detail, at: failedAt });

const problemOf = ({ code, detail, host, attempt, nextAt, since }: Retrying): Thread['problems'][number] => ({
  code: 'MODEL_RETRYING',
  detail: `${code}${host === null ? '' : ` at ${host}`}: ${detail}; attempt ${attempt} failed, the next one is due ${rfc3339(nextAt)}`,
  since,
});
