// Keeps the rows of the thread directory up to date, off the path: coalesced per thread, in batches.
//
// Invariants:
//   J1. A row is a hint: losing one costs a stale list until the thread's next commit. Only the newest is written.
//   J2. Nothing sleeps while nothing has changed.
//   J3. A row is written when its thread has rested for a moment, or has changed for as long as lists may lag: in a
//       store whose rows stand in many indexes, those of threads at work would cost a fifth of a turn.
//   J4. One batch at a time. A row that differs from its state (`parked`) is written after the thread's pending update.
import { ThreadMap } from '@dormouse/collections';
import {
  type Clock,
  type Logger,
  type OpenCall,
  type ThreadDirectory,
  type ThreadKey,
  type ThreadProjection,
  type ThreadWaitKind,
  waitingOnMax,
  type TenantId,
} from '@dormouse/ports';
import { dailyUsage, statusOf, type Thread, waitingOn } from '@dormouse/thread';
import { faultCode } from '../../fault-code.ts';

export interface Projections {
  changed(key: ThreadKey, thread: Thread): void;
  /** Writes all pending rows; one attempt. */
  flush(): Promise<void>;
  /** Writes the pending row of one thread, after the batch that is being written; one attempt. */
  flushOf(key: ThreadKey): Promise<void>;
  readonly waiting: number;
}

/** The pending row of a thread. Times in milliseconds since the epoch. */
interface Changed {
  readonly projection: ThreadProjection;
  /** Time of the newest change, and of the first that was not written. */
  readonly at: number;
  readonly since: number;
}

type Entry = readonly [ThreadKey, Changed];

export function createProjections(deps: {
  readonly directory: ThreadDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: {
    readonly projectionDelayMs: number;
    readonly projectionDelayMsMax: number;
    readonly projectionsPerBatchMax: number;
    readonly retryDelayMsMax: number;
  };
}): Projections {
  const { projectionDelayMs, projectionDelayMsMax, projectionsPerBatchMax, retryDelayMsMax } = deps.settings;
  const changed = new ThreadMap<Changed, TenantId>();
  let writing = false;
  let underWay: Promise<boolean> = Promise.resolve(true);

  async function writeAll(): Promise<void> {
    while (changed.size > 0) {
      await deps.clock.sleep(projectionDelayMs);
      if (!(await writeBatch(due()))) await deps.clock.sleep(retryDelayMsMax);
    }
    writing = false;
  }

  /** (J3) */
  function due(): readonly Entry[] {
    const now = deps.clock.now();
    const isDue = ({ at, since }: Changed): boolean =>
      now - at >= projectionDelayMs || now - since >= projectionDelayMsMax || now < at; // a clock may jump
    const ready = [...changed.entries()].filter(([, change]) => isDue(change));
    // Oldest change first: no tenant is preferred because of its place in the map.
    return ready.length > projectionsPerBatchMax
      ? ready.toSorted(([, one], [, other]) => one.since - other.since)
      : ready;
  }

  /** (J4) */
  function writeBatch(ready: readonly Entry[]): Promise<boolean> {
    underWay = underWay.then(() => write(ready));
    return underWay;
  }

  async function write(ready: readonly Entry[]): Promise<boolean> {
    const batch = ready.slice(0, projectionsPerBatchMax);
    if (batch.length === 0) return true;
    try {
      await deps.directory.project(batch.map(([, { projection }]) => projection));
    } catch (error) {
      deps.logger.warn('projection_failed', {
        rows: batch.length,
        code: faultCode(error),
      });
      return false;
    }
    // A newer change may have come meanwhile: only what was written is done.
    for (const [key, written] of batch) {
      const newest = changed.get(key);
      if (newest === written) changed.delete(key);
      else if (newest !== undefined) changed.set(key, { ...newest, since: newest.at });
    }
    return true;
  }

  return {
    changed: (key, thread) => {
      const { title, titledAt, updatedAt, position, firstWords } = thread;
      const at = deps.clock.now();
      const projection = {
        ...key,
        status: statusOf(thread),
        title,
        titledAt,
        updatedAt,
        position,
        firstWords,
        ...openIn(thread),
        ...(thread.usageDays.length === 0 ? {} : { usage: { agent: thread.agent.name, days: dailyUsage(thread) } }),
      };
      changed.set(key, { projection, at, since: changed.get(key)?.since ?? at });
      if (writing) return;
      writing = true;
      void writeAll();
    },
    flush: async () => {
      while (changed.size > 0) if (!(await writeBatch([...changed.entries()]))) return;
    },
    flushOf: async (key) => {
      await underWay;
      const left = changed.get(key);
      if (left !== undefined) await writeBatch([[key, left]]);
    },
    get waiting() {
      return changed.size;
    },
  };
}

const nothingOpen = { waits: { oldest: {}, subscriptions: 0 }, waitingOn: [] } as const;

/** What the thread waits for, since when by kind and at each tool server, and how many subscriptions it has. */
function openIn(thread: Thread): Required<Pick<ThreadProjection, 'waits' | 'waitingOn'>> {
  const subscriptions = Object.keys(thread.subscriptions).length;
  const waits = waitingOn(thread);
  if (subscriptions === 0 && waits.length === 0) return nothingOpen;
  const oldest: Partial<Record<ThreadWaitKind, number>> = {};
  for (const { kind, since } of waits) if (kind !== 'slot') oldest[kind] = Math.min(since, oldest[kind] ?? since); // a thread does not know of slots
  const calls = oldestCalls(thread);
  const open = { oldest, subscriptions, ...(calls.length === 0 ? {} : { calls }) };
  return { waits: open, waitingOn: waits.slice(0, waitingOnMax) };
}

/** The oldest call at each tool server; one that waits for a person is not with its tool server. */
function oldestCalls({ calls }: Thread): readonly OpenCall[] {
  const oldest = new Map<string, OpenCall>();
  for (const { toolServer, toolCallId, since: requestedAt, resumedAt, waiting } of calls) {
    if (toolServer === null || waiting.for !== 'result') continue;
    const since = resumedAt ?? requestedAt;
    if (since < (oldest.get(toolServer)?.since ?? Infinity)) oldest.set(toolServer, { toolServer, toolCallId, since });
  }
  return [...oldest.values()];
}
