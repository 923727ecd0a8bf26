// The rows of threads for lists, in memory. The order of insertion is the order of the list, newest first.
import type {
  OldestWaits,
  OpenCall,
  OpenOfTenant,
  ThreadCensus,
  ThreadDirectory,
  ThreadFilter,
  ThreadKey,
  ThreadProjection,
  ThreadRow,
  ThreadStatus,
  ThreadWaitKind,
  ThreadWaits,
  TenantId,
} from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { pageOf, rowsOf } from '../stores/rows.ts';
import { nameOf } from './thread-log.ts';
import { projectUsage, usageOf, type UsageStore, usageTotalOf } from './thread-usage.ts';

export type DirectoryStore = Map<string, ThreadRow>;

/** What is open in the threads of each store, by the name of the thread. */
const waitsOf = new WeakMap<DirectoryStore, Map<string, ThreadWaits>>();

export const subscriptionsOf = (rows: DirectoryStore, key: ThreadKey): number =>
  waitsOf.get(rows)?.get(nameOf(key))?.subscriptions ?? 0;

/** The thread's row is gone. */
export const forgetWaits = (rows: DirectoryStore, key: ThreadKey): void => void waitsOf.get(rows)?.delete(nameOf(key));

/** Usage of the threads of each store. */
const usageIn = new WeakMap<DirectoryStore, UsageStore>();

function daysOf(rows: DirectoryStore): UsageStore {
  const known = usageIn.get(rows) ?? new Map();
  usageIn.set(rows, known);
  return known;
}

export function createThreadDirectory(rows: DirectoryStore, passage: Passage): ThreadDirectory {
  return {
    insert: (row) =>
      passage.write('directory.insert', nameOf(row), () => {
        const existing = rows.get(nameOf(row)) ?? byExternalId(rows, row);
        if (existing !== undefined) return { inserted: false, existing } as const;
        rows.set(nameOf(row), row);
        return { inserted: true } as const;
      }),
    get: (key) => passage.read('directory.get', nameOf(key), () => rows.get(nameOf(key)) ?? null),
    list: (tenant, filter, page) =>
      passage.read('directory.list', tenant, () => {
        const found = rowsOf(rows, tenant).filter((row) => matches(row, filter));
        found.sort(newestFirst);
        return pageOf(filter.order === 'asc' ? found.toReversed() : found, page, (row) => row.thread);
      }),
    releaseExternalId: (key, externalId) =>
      passage.write('directory.releaseExternalId', nameOf(key), () => {
        const row = rows.get(nameOf(key));
        if (row?.externalId === externalId) rows.set(nameOf(key), { ...row, externalId: null });
      }),
    patch: (key, patch) =>
      passage.write('directory.patch', nameOf(key), () => {
        const row = rows.get(nameOf(key));
        if (row === undefined) return null;
        const { firstWords, ...rest } = row;
        const patched = {
          ...rest,
          ...(firstWords === undefined || patch.firstWords === null ? {} : { firstWords }),
          ...(patch.title === undefined ? {} : { title: patch.title }),
          metadata: patch.metadata ?? row.metadata,
        };
        rows.set(nameOf(key), patched);
        return patched;
      }),
    project: (projections) =>
      passage.write('directory.project', projections.map((row) => row.thread).join(','), () => {
        for (const projection of projections) {
          project(rows, projection);
          projectUsage(daysOf(rows), projection);
        }
      }),
    stuckOpenings: (before, limit) =>
      passage.read('directory.stuckOpenings', '', () =>
        [...rows.values()].filter((row) => row.opening !== null && row.createdAt < before).slice(0, limit),
      ),
    usesAgent: (tenant, agent) =>
      passage.read('directory.usesAgent', `${tenant}:${agent}`, () =>
        rowsOf(rows, tenant).some((row) => row.agent === agent && row.status !== 'closed'),
      ),
    usage: (tenant, query, page) =>
      passage.read('directory.usage', tenant, () => usageOf(daysOf(rows), tenant, query, page)),
    usageTotal: (tenant, range) =>
      passage.read('directory.usageTotal', tenant, () => usageTotalOf(daysOf(rows), tenant, range)),
    census: () => passage.read('directory.census', '', () => censusOf(rows)),
    openOf: (tenant) => passage.read('directory.openOf', tenant, () => openOf(rows, tenant)),
    oldestCall: (tenant, toolServer) =>
      passage.read('directory.oldestCall', `${tenant}:${toolServer}`, () => oldestCallOf(rows, tenant, toolServer)),
  };
}

const newestFirst = (left: ThreadRow, right: ThreadRow): number =>
  right.createdAt - left.createdAt || (left.thread < right.thread ? 1 : -1);

function byExternalId(rows: DirectoryStore, row: ThreadRow): ThreadRow | undefined {
  if (row.externalId === null) return undefined;
  return rowsOf(rows, row.tenant).find((other) => other.externalId === row.externalId);
}

/** An older position never overwrites a newer one; a thread that has commits no longer needs its opening. */
function project(
  rows: DirectoryStore,
  { status, title, titledAt = Infinity, updatedAt, position, waits, waitingOn, firstWords, ...key }: ThreadProjection,
): void {
  const row = rows.get(nameOf(key));
  if (row === undefined || position < row.position) return;
  if (waits !== undefined) waitsOf.set(rows, (waitsOf.get(rows) ?? new Map()).set(nameOf(key), waits));
  const { waitingOn: waitedOn, ...rest } = row;
  const shown = waits === undefined ? waitedOn : waitingOn;
  const words = row.firstWords ?? firstWords ?? undefined;
  rows.set(nameOf(key), {
    ...rest,
    ...(shown === undefined || shown.length === 0 ? {} : { waitingOn: shown }),
    ...(words === undefined ? {} : { firstWords: words }),
    status,
    title: row.position < titledAt ? (title ?? row.title) : row.title,
    updatedAt,
    position,
    opening: position > 0 ? null : row.opening,
  });
}

function oldestCallOf(rows: DirectoryStore, tenant: TenantId, toolServer: string): OpenCall | null {
  const known = waitsOf.get(rows) ?? new Map<string, ThreadWaits>();
  const open = rowsOf(rows, tenant)
    .flatMap((row) => known.get(nameOf(row))?.calls ?? [])
    .filter((call) => call.toolServer === toolServer);
  return open.toSorted((one, other) => one.since - other.since)[0] ?? null;
}

function openOf(rows: DirectoryStore, tenant: TenantId): OpenOfTenant {
  const open = rowsOf(rows, tenant).filter((row) => row.status !== 'closed');
  const waits = waitsOf.get(rows);
  const subscriptions = open.reduce((sum, row) => sum + (waits?.get(nameOf(row))?.subscriptions ?? 0), 0);
  return { threads: open.length, subscriptions };
}

function censusOf(rows: DirectoryStore): ThreadCensus {
  const threads: Record<ThreadStatus, number> = { opening: 0, parked: 0, closed: 0, thinking: 0, waiting: 0, idle: 0 };
  for (const { status } of rows.values()) threads[status] += 1;
  let oldest: OldestWaits = {};
  let subscriptions = 0;
  const calls = new Map<string, number>();
  for (const waits of waitsOf.get(rows)?.values() ?? []) {
    subscriptions += waits.subscriptions;
    for (const [kind, since] of Object.entries(waits.oldest) as [ThreadWaitKind, number][])
      oldest = { ...oldest, [kind]: Math.min(since, oldest[kind] ?? since) };
    for (const { toolServer, since } of waits.calls ?? [])
      calls.set(toolServer, Math.min(since, calls.get(toolServer) ?? since));
  }
  return { threads, oldest, subscriptions, calls: [...calls].map(([toolServer, since]) => ({ toolServer, since })) };
}

const shownStatus = ({ status, thread }: ThreadRow, { waitingBelow = [] }: ThreadFilter): ThreadStatus =>
  status === 'idle' && waitingBelow.includes(thread) ? 'waiting' : status;

function matches(row: ThreadRow, filter: ThreadFilter): boolean {
  const metadata = Object.entries(filter.metadata ?? {});
  return (
    (filter.status === undefined || filter.status === shownStatus(row, filter)) &&
    (filter.agent === undefined || row.agent === filter.agent) &&
    (filter.agents === undefined || filter.agents.includes(row.agent)) &&
    (filter.parent === undefined || row.parent === filter.parent) &&
    (filter.userId === undefined || row.userId === filter.userId) &&
    (filter.externalId === undefined || row.externalId === filter.externalId) &&
    (filter.updatedAfter === undefined || row.updatedAt > filter.updatedAfter) &&
    (filter.createdAfter === undefined || row.createdAt > filter.createdAfter) &&
    metadata.every(([name, value]) => row.metadata[name] === value)
  );
}
