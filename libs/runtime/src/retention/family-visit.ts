// One look at a family of threads that may have rested long enough: reads its rows, and takes the next step but the
// removal itself.
//
// Invariants:
//   V1. Rows are a hint: whether a thread still rests is decided by the thread, in the order of its inputs. A message
//       that comes first wakes it, and nothing is removed; one that comes later is refused by the closed thread.
//   V2. A thread that retention has closed rests since the commit before that. One that was closed by anything else
//       while it was marked has been used since, and keeps its family.
//   V3. No process takes anything for a marked and closed thread, once what it remembers is old (thread-lookup W4):
//       what was taken before is decided by then, as a refusal in the thread's log.
//   V4. Whether another family needs the history is asked after the mark is durable, and again before the removal: a
//       fork that has not seen the mark has its row by then. (threads T5)
//   V5. A thread that does not close has something open that its row does not show, or its input was lost: its row is
//       written anew from the log, and it is left alone for `aloneMs` or gets its input again.
import { createBoundedMap } from '@dormouse/collections';
import type { Stores, Clock, RestingThread, ThreadKey, TenantId } from '@dormouse/ports';
import { inputIds, restsSince, statusOf } from '@dormouse/thread';
import { everyItemAfter } from '../every-item.ts';
import { loadThread } from '../log/thread-reader.ts';
import { familyStep, type FamilyThread } from './family-step.ts';

export interface FamilyVisitPorts extends Pick<
  Stores,
  'restingThreads' | 'directory' | 'log' | 'snapshots' | 'inputs'
> {
  readonly clock: Pick<Clock, 'now'>;
}

/** Answers the threads of a family that is to be removed; none for any other. @throws Fault */
export type FamilyVisit = (tenant: TenantId, family: string, before: number) => Promise<readonly string[]>;

interface Visited {
  readonly tenant: TenantId;
  readonly family: string;
  readonly threads: readonly FamilyThread[];
  /** Rest begins before this time. */
  readonly before: number;
}

const namesOf = (threads: readonly FamilyThread[]): readonly string[] => threads.map(({ thread }) => thread);

const threadsPerPage = 500;
/** How long a thread may take to be closed, before its log is read; and before that is given up for now. */
const endMs = 120_000;
const endMsMax = 1_200_000;
const aloneMs = 21_600_000;
const aloneMax = 100_000;

export function createFamilyVisit(ports: FamilyVisitPorts): FamilyVisit {
  const { restingThreads, inputs, log, clock } = ports;
  /** Until when families are left alone, by their names. (V5) */
  const alone = createBoundedMap<number>(aloneMax);
  const nameOf = (tenant: TenantId, family: string): string => `${tenant} ${family}`;

  function isAlone(name: string): boolean {
    const until = alone.get(name);
    const now = clock.now();
    return until !== undefined && until > now && until <= now + aloneMs;
  }

  async function threadsOf(tenant: TenantId, family: string, before: number): Promise<readonly FamilyThread[]> {
    const threads: FamilyThread[] = [];
    const rows = everyItemAfter<RestingThread>(threadsPerPage, (after) =>
      restingThreads.family(tenant, family, after?.thread ?? null, threadsPerPage),
    );
    for await (const row of rows)
      threads.push({ ...row, restingSince: await restingSince({ tenant, thread: row.thread }, row, before) });
    return threads;
  }

  /** (V2) */
  async function restingSince(
    key: ThreadKey,
    { status, updatedAt, leavingAt }: Omit<FamilyThread, 'restingSince'>,
    before: number,
  ): Promise<number> {
    if (leavingAt === null || status !== 'closed' || updatedAt < before) return updatedAt;
    const [closing = null] = await log.findByInputs(key, [inputIds.retentionEnd(String(leavingAt))]);
    const last = closing === null ? null : await log.at(key, closing.version);
    return last?.at ?? updatedAt;
  }

  /** The root first: what a child says to a closed parent wakes nothing. */
  async function endAll({ tenant, family, threads, before }: Visited): Promise<void> {
    const open = threads.filter(({ status }) => status !== 'closed');
    for (const { thread, leavingAt } of open.toSorted(
      (one, other) => Number(other.thread === family) - Number(one.thread === family),
    )) {
      const id = inputIds.retentionEnd(String(leavingAt ?? clock.now()));
      await inputs.publish({ tenant, thread }, { kind: 'RetentionEnd', id, restingSince: before }); // (V1)
    }
  }

  /** Marks all threads of the family; null takes the marks back. */
  const leave = ({ tenant, threads }: Visited, at: number | null): Promise<void> =>
    restingThreads.leave(tenant, namesOf(threads), at);

  async function mark(visited: Visited): Promise<void> {
    const { tenant, family, threads } = visited;
    const leavingAt = clock.now();
    await leave(visited, leavingAt);
    if (await restingThreads.areForkedFrom(tenant, namesOf(threads), family)) return leave(visited, null); // (V4)
    await endAll({ ...visited, threads: threads.map((thread) => ({ ...thread, leavingAt })) });
  }

  /** (V5) */
  async function look(visited: Visited): Promise<void> {
    const { tenant, family, threads, before } = visited;
    const marked = (leavingAt: number | null): number => clock.now() - (leavingAt ?? 0);
    const late = threads.filter(({ status, leavingAt }) => status !== 'closed' && marked(leavingAt) >= endMs);
    let isUsed = late.some(({ leavingAt }) => marked(leavingAt) >= endMsMax);
    for (const { thread: name } of late) {
      const { thread } = await loadThread(ports, { tenant, thread: name });
      const { title, titledAt, updatedAt, position } = thread;
      const row = { tenant, thread: name, status: statusOf(thread), title, titledAt, updatedAt, position };
      await ports.directory.project([row]);
      isUsed ||= thread.status === 'open' && !restsSince(thread, before);
    }
    if (isUsed) {
      alone.set(nameOf(tenant, family), clock.now() + aloneMs);
      await leave(visited, null);
    } else if (late.length > 0) await endAll(visited);
  }

  return async (tenant, family, before) => {
    if (isAlone(nameOf(tenant, family))) return [];
    const threads = await threadsOf(tenant, family, before);
    const names = namesOf(threads);
    const visited = { tenant, family, threads, before };
    const isNeeded = names.length > 0 && (await restingThreads.areForkedFrom(tenant, names, family)); // (V4)
    const step = familyStep(threads, { before, now: clock.now(), isNeeded });
    switch (step) {
      case 'stay':
      case 'wait':
        return [];
      case 'unmark':
        await leave(visited, null);
        return [];
      case 'mark':
        await mark(visited);
        return [];
      case 'end':
        await look(visited);
        return [];
      case 'remove':
        return names;
    }
  };
}
