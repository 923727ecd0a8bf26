// Interrupts or closes all threads of a filter: the same request that a client may send to each, to all of them.
//
// Invariants:
//   B1. The request of a thread is a function of the batch's idempotency key and the thread: a batch that is sent again
//       with its key goes on where it was broken off, and asks no thread twice.
//   B2. At most `askedAtOnce` threads are at work for a batch, read in pages in the order of their creation: others'
//       threads wait for no more than their share.
//   B3. One request takes at most `batchThreadsMax` threads, and begins no page of them after `batchMsMax`: clients and
//       proxies wait for a minute. The cursor of its answer goes on behind them.
//   B4. A thread that the action changes nothing of is not asked: its history would have a refusal.
//   B5. A dry run asks no thread.
import type { Clock, Page, ThreadDirectory, ThreadFilter, ThreadRow, TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { shownFilter } from '../read/questions-below.ts';
import type { RequestOrigin } from '../access/client-id.ts';
import type { RequestApi, ThreadRequest } from './requests.ts';

export type BatchAction = 'interrupt' | 'close';

export interface ThreadBatch {
  readonly action: BatchAction;
  readonly filter: Omit<ThreadFilter, 'order'>;
  readonly dryRun: boolean;
  /** Of the answer before; null for the beginning. */
  readonly cursor: string | null;
}

export interface BatchOutcome {
  /** Threads that the action is for, of those behind the cursor. */
  readonly matched: number;
  /** Null when there are no more. (B3) */
  readonly nextCursor: string | null;
}

/** Resolves when the requests of all matched threads are durable. @throws Fault; what was asked stays asked. (B1) */
export type RunBatch = (tenant: TenantId, batch: ThreadBatch, origin: RequestOrigin) => Promise<BatchOutcome>;

export interface BatchPorts extends Pick<IngressParts, 'inbox'> {
  readonly directory: Pick<ThreadDirectory, 'list'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly requests: RequestApi;
  readonly batchThreadsMax?: number;
}

const threadsPerPage = 200;
const askedAtOnce = 16;
const defaultThreadsMax = 10_000;
const batchMsMax = 20_000;

export function createThreadBatches({
  directory,
  inbox,
  requests,
  clock,
  batchThreadsMax = defaultThreadsMax,
}: BatchPorts): RunBatch {
  async function ask(row: ThreadRow, action: BatchAction, origin: RequestOrigin): Promise<void> {
    const { tenant, thread } = row;
    await requests.post({ tenant, thread }, requestOf(action), { ...origin, path: `${origin.path}/${thread}` }); // (B1)
  }

  return async (tenant, { action, filter, dryRun, cursor }, origin) => {
    let matched = 0;
    let next = cursor;
    const until = clock.now() + batchMsMax;
    for (let seen = 0; seen < batchThreadsMax; seen += threadsPerPage) {
      const page: Page<ThreadRow> = await directory.list(
        tenant,
        { ...(await shownFilter(inbox, tenant, filter)), order: 'asc' },
        { limit: Math.min(threadsPerPage, batchThreadsMax - seen), cursor: next },
      );
      const rows = page.data.filter((row) => isFor(action, row));
      if (!dryRun) await eachOf(rows, (row) => ask(row, action, origin)); // (B5)
      matched += rows.length;
      next = page.nextCursor;
      if (next === null || clock.now() >= until) break;
    }
    return { matched, nextCursor: next }; // (B3)
  };
}

const requestOf = (action: BatchAction): ThreadRequest =>
  action === 'close' ? { ask: 'close' } : { ask: 'interrupt', includeHuman: false };

/** (B4) */
function isFor(action: BatchAction, { status }: ThreadRow): boolean {
  if (status === 'closed') return false;
  return action === 'close' || status === 'thinking' || status === 'waiting' || status === 'opening';
}

/** (B2) @throws the first failure, once nothing is under way any more. */
async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  let failure: { readonly error: unknown } | null = null;
  async function take(): Promise<void> {
    for (const item of left) {
      if (failure !== null) return;
      await work(item).catch((error: unknown) => void (failure ??= { error }));
    }
  }
  await Promise.all(Array.from({ length: askedAtOnce }, take));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
