// Open questions of the threads below a thread, of any depth: a person who watches the thread answers them too.
//
// Invariants:
//   B1. They are read from the rows of the inbox, which are written a moment after the commits that ask.
//   B2. A thread waits while a thread below it waits for a person; nothing else of those threads is its status. Lists
//       and their filter by status say the same, for the oldest `familyQuestionsMax` questions of a page's families, or
//       of the tenant.
import {
  familyQuestionsMax,
  type Inbox,
  type Question,
  type ThreadFilter,
  type ThreadKey,
  type ThreadRow,
  type TenantId,
} from '@dormouse/ports';
import type { OpenStatus, Thread, WaitingOn } from '@dormouse/thread';

/** The root of a thread's family. */
export const familyOf = ({ id, ancestors }: Pick<Thread, 'id' | 'ancestors'>): string => ancestors[0] ?? id;

/** Oldest first. */
export async function questionsBelow(
  inbox: Inbox,
  { tenant, thread }: ThreadKey,
  family: string,
): Promise<readonly Question[]> {
  return below(await inbox.openOf(tenant, [family]), thread);
}

/** The open questions of all families of these rows, in one read. */
export const questionsOfRows = (
  inbox: Inbox,
  tenant: TenantId,
  rows: readonly Pick<ThreadRow, 'family'>[],
): Promise<readonly Question[]> => inbox.openOf(tenant, [...new Set(rows.map(({ family }) => family))]);

/** The filter of a list, by the status that its rows are shown with. (B2) */
export async function shownFilter(inbox: Inbox, tenant: TenantId, filter: ThreadFilter): Promise<ThreadFilter> {
  if (filter.status !== 'idle' && filter.status !== 'waiting') return filter;
  const asked = await inbox.list(tenant, { status: 'open' }, { limit: familyQuestionsMax, cursor: null });
  return { ...filter, waitingBelow: [...new Set(asked.data.flatMap(({ ancestors }) => ancestors))] };
}

export const below = (questions: readonly Question[], thread: string): readonly Question[] =>
  questions.filter(({ ancestors }) => ancestors.includes(thread));

export function waitingBelow({ thread, id, kind, operation, toolServer, since, expiresAt }: Question): WaitingOn {
  return {
    ...{ kind: kind === 'tool' ? 'choice' : kind, id, threadId: thread, operation, since, deadline: expiresAt },
    ...(toolServer === null ? {} : { toolServer }),
  };
}

/** (B2) */
export const statusWith = <Status extends OpenStatus | 'parked'>(
  status: Status,
  questions: readonly Question[],
): Status | 'waiting' => (status === 'idle' && questions.length > 0 ? 'waiting' : status);

/** What the thread waits for, and the people that threads below it wait for; nothing below a closed one. (B2) */
export const waitingWith = (
  status: OpenStatus | 'parked',
  own: readonly WaitingOn[],
  questions: readonly Question[],
): readonly WaitingOn[] => (status === 'closed' ? own : [...own, ...questions.map(waitingBelow)]);
