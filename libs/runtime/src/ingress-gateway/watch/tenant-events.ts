// What happens in all threads of a tenant: thin rows, in pages and as a stream, each with the cursor after it.
//
// Invariants:
//   T1. A cursor names the place after a commit (tenant-log G1); that of an event which is not its commit's last also
//       names that event, and the rest of the commit comes first. A reader that follows cursors sees each event once.
//   T2. A thread that a row names is found from then on, its children too. (thread-lookup W3)
//   T3. Streams that wait at the end all look at the same moments, and those at the same place share one read: many
//       streams cost a store as much as one.
//   T4. A reader that sees some threads only passes over the others: its cursor is behind them.
import { createSharedReads } from '@dormouse/collections';
import {
  type Commit,
  decodeCursor,
  encodeCursor,
  invalidCursor,
  type PlacedCommit,
  type TenantId,
} from '@dormouse/ports';
import type { ThreadLookup } from '../write/thread-lookup.ts';
import type { IngressParts } from '../ingress-ports.ts';
import { apiType, rfc3339 } from '../read/api-json.ts';
import { placedEvents } from '../read/log-scan.ts';

export interface TenantEvent {
  /** To go on after this event. */
  readonly cursor: string;
  readonly threadId: string;
  readonly position: number;
  readonly type: string;
  /** RFC 3339. */
  readonly at: string;
}

export interface TenantEventPage {
  readonly data: readonly TenantEvent[];
  /** To go on from here, also when nothing is newer yet. */
  readonly nextCursor: string;
}

export interface TenantEventApi {
  /** `after` is a cursor, `latest`, or null for the beginning. @throws Fault CURSOR_INVALID */
  page(tenant: TenantId, after: string | null, limit: number, sees?: Sees): Promise<TenantEventPage>;
  /** Pages until the signal aborts; the first one, which may be empty, says where it begins. @throws the same. */
  follow(tenant: TenantId, after: string | null, signal: AbortSignal, sees?: Sees): AsyncGenerator<TenantEventPage>;
}

/** Whether the reader may see this thread of its tenant. (T4) @throws Fault */
export type Sees = (thread: string) => Promise<boolean>;

export interface TenantEventPorts extends Pick<IngressParts, 'log' | 'tenantLog' | 'clock'> {
  readonly threads: Pick<ThreadLookup, 'announce'>;
}

export const latest = 'latest';

/** The first part of every cursor of this list. */
const mark = 'events';
const streamedAtOnce = 200;
const pollMs = 500;
/** Commits of one page that are looked at; it may have fewer rows than it could. */
const lookedAtMax = 5_000;

/** What a cursor says. */
interface Stand {
  readonly place: string | null;
  /** The last event that was given, of a commit before the place that has more. */
  readonly within: { readonly thread: string; readonly position: number } | null;
}

export function createTenantEventApi(ports: TenantEventPorts): TenantEventApi {
  const { log, tenantLog, threads, clock } = ports;
  const reads = createSharedReads<readonly PlacedCommit[]>();

  async function begin(tenant: TenantId, after: string | null): Promise<Stand> {
    return after === latest ? { place: await tenantLog.end(tenant), within: null } : standOf(after);
  }

  async function restOf(tenant: TenantId, { place, within }: Stand): Promise<readonly TenantEvent[]> {
    if (within === null || place === null) return [];
    const commit = await log.at({ tenant, thread: within.thread }, within.position + 1);
    if (commit === null || commit.version >= within.position) throw invalidCursor();
    return rowsOf(commit, place, within.position);
  }

  async function page(tenant: TenantId, after: string | null, limit: number, sees?: Sees): Promise<TenantEventPage> {
    const stand = await begin(tenant, after);
    const isSeen = async (thread: string): Promise<boolean> => sees === undefined || sees(thread);
    const goesOn = stand.within === null || (await isSeen(stand.within.thread));
    const data = goesOn ? [...(await restOf(tenant, stand))] : []; // (T1)
    let passed: string | null = null;
    let looked = 0;
    for (let { place } = stand; data.length < limit && looked < lookedAtMax;) {
      const wanted = limit - data.length; // a commit has an event or more
      const from = place;
      const found = await reads(JSON.stringify([tenant, from, wanted]), () => tenantLog.after(tenant, from, wanted));
      for (const { commit, place: next } of found) {
        if (data.length >= limit) break;
        place = next;
        passed = next;
        looked += 1;
        if (!(await isSeen(commit.thread))) continue; // (T4)
        await threads.announce(commit); // (T2)
        data.push(...rowsOf(commit, next));
      }
      if (found.length === 0) break;
    }
    const isCut = data.splice(limit).length > 0 || data.length >= limit;
    const behind = isCut || passed === null ? null : cursorOf({ place: passed, within: null });
    return { data, nextCursor: behind ?? data.at(-1)?.cursor ?? cursorOf(stand) };
  }

  return {
    page,
    async *follow(tenant, after, signal, sees) {
      let next = after;
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        const found = await page(tenant, next, streamedAtOnce, sees);
        next = found.nextCursor;
        if (isFirst || found.data.length > 0) yield found;
        if (found.data.length === 0) await clock.sleep(pollMs - (clock.now() % pollMs), signal); // (T3)
      }
    },
  };
}

function rowsOf(commit: Commit, place: string, after = 0): readonly TenantEvent[] {
  const placed = placedEvents(commit, after);
  return placed.map(({ position, at, event }, nth) => ({
    cursor: cursorOf({ place, within: nth < placed.length - 1 ? { thread: commit.thread, position } : null }), // (T1)
    threadId: commit.thread,
    position,
    type: apiType(event.type),
    at: rfc3339(at),
  }));
}

const cursorOf = ({ place, within }: Stand): string =>
  encodeCursor([
    mark,
    ...(place === null ? [] : [place]),
    ...(within === null ? [] : [within.thread, within.position]),
  ]);

/** @throws Fault CURSOR_INVALID */
function standOf(cursor: string | null): Stand {
  if (cursor === null) return { place: null, within: null };
  const [kind, place = null, thread, position, ...more] = decodeCursor(cursor);
  const isPlace = place === null || typeof place === 'string';
  if (kind !== mark || !isPlace || more.length > 0) throw invalidCursor();
  if (thread === undefined && position === undefined) return { place, within: null };
  if (place === null || typeof thread !== 'string' || !isPosition(position)) throw invalidCursor();
  return { place, within: { thread, position } };
}

const isPosition = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
