// What a thread has besides its conversation: subscriptions, children, views, schedules. Read from its state, its row
// and the store of views.
import type { PageRequest, ThreadKey, View, Page } from '@dormouse/ports';
import type { Schedule, Thread } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { loadThread } from '../../log/thread-reader.ts';
import { inputIdOf, publicId, type RequestOrigin } from '../access/client-id.ts';
import { answered, type Answered } from '../refusal.ts';
import { questionsOfRows } from './questions-below.ts';
import { cutPage } from './whole-list.ts';
import { type SubscriptionView, subscriptionsOf, threadSummary, type ThreadSummary } from './thread-view.ts';

export interface ScheduleView extends Schedule {
  readonly id: string;
  readonly since: number;
  /** Milliseconds since the epoch; null when it never comes again. */
  readonly nextAt: number | null;
}

export interface ThreadPartsApi {
  subscriptions(key: ThreadKey, page: PageRequest): Promise<Answered<Page<SubscriptionView>>>;
  children(key: ThreadKey, page: PageRequest): Promise<Answered<Page<ThreadSummary>>>;
  views(key: ThreadKey, page: PageRequest): Promise<Answered<Page<View>>>;
  schedules(key: ThreadKey, page: PageRequest): Promise<Answered<Page<ScheduleView>>>;
  /** The schedule's id; whether it was taken is recorded by the thread. */
  schedule(key: ThreadKey, schedule: Schedule, origin: RequestOrigin): Promise<Answered<{ readonly id: string }>>;
}

export type ThreadPartsPorts = Pick<
  IngressParts,
  'log' | 'snapshots' | 'directory' | 'inbox' | 'views' | 'bus' | 'threads' | 'mintName'
>;

export function createThreadPartsApi(ports: ThreadPartsPorts): ThreadPartsApi {
  const { threads, directory, bus, mintName } = ports;

  /** For a thread that exists. */
  async function read<T>(key: ThreadKey, part: (thread: Thread) => T): Promise<Answered<T>> {
    const found = await threads.find(key);
    if (!found.ok) return found;
    return answered(part((await loadThread(ports, key)).thread));
  }

  return {
    subscriptions: (key, page) =>
      read(key, (thread) => cutPage(subscriptionsOf(thread), page, ({ since, toolCallId }) => [since, toolCallId])),
    async children(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const rows = await directory.list(key.tenant, { parent: key.thread }, page);
      const asked = await questionsOfRows(ports.inbox, key.tenant, rows.data);
      return answered({ data: rows.data.map((row) => threadSummary(row, asked)), nextCursor: rows.nextCursor });
    },
    async views(key, page) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      return answered(cutPage(await ports.views.list(key), page, ({ viewType }) => [viewType]));
    },
    schedules: (key, page) => read(key, (thread) => cutPage(schedulesOf(thread), page, ({ since, id }) => [since, id])),
    async schedule(key, schedule, origin) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      const name = mintName(origin);
      const scheduleId = publicId('sch', name); // the answered id is the cause of what happens
      const request = { requestId: scheduleId, scheduleId, schedule } as const;
      await bus.publish(key, { kind: 'ScheduleRequest', id: inputIdOf(name), ...request });
      return answered({ id: scheduleId });
    },
  };
}

const schedulesOf = ({ schedules, timers }: Thread): readonly ScheduleView[] =>
  Object.values(schedules).map(({ scheduleId, cron, timeZone, message, missed, since, timerId }) => ({
    id: scheduleId,
    ...{ cron, timeZone, message, missed, since },
    nextAt: timerId === null ? null : (timers[timerId]?.due ?? null),
  }));
