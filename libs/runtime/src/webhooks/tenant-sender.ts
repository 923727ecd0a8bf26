// What one process does for the webhooks of one tenant: it reads the log on, and sends what is due.
//
// Invariants:
//   D1. While the tenant is not active nothing is read and nothing is sent: its place stays, and what waits waits.
//   D2. An attempt never delays the reading, nor an attempt to another endpoint: each has a place of its own
//       (places.ts), and is not waited for.
//   D3. Of an endpoint the sender knows the earliest time at which a delivery may be due. Too early costs a reading; it
//       is never too late: a time is forgotten only when the store has said that nothing is due, and read again when
//       the last attempt that was under way has ended.
//   D4. A sender works as long as its holder holds the reader. One that goes on by mistake sends what another sends
//       too: receivers dedup, and one of the attempts is recorded. (webhooks W3)
//   D5. What was under way when a reading of the store began is not taken from that reading: it may have ended since.
//   D6. The log is read when something may have come (`news`), and every `unaskedReadMs` all the same: news may be late
//       (tenant-log G6). After news in vain, none is asked for during `pauseMsMax`.
//   D7. An endpoint whose attempt has thrown is not attempted again for `pauseMsMax`, whatever the store says is due.
import type {
  Clock,
  PageRequest,
  TenantLog,
  Webhook,
  WebhookDeliveries,
  WebhookDelivery,
  WebhookReader,
  WebhookReaders,
  Webhooks,
} from '@dormouse/ports';
import type { TenantRecords } from '../tenants/tenant-records.ts';
import type { Attempt } from './attempt.ts';
import { createEndpointIndex } from './endpoint-index.ts';
import type { TellCommits } from './log-reading.ts';
import type { Places } from './places.ts';

export interface TenantSenderDeps {
  readonly tenantLog: Pick<TenantLog, 'after'>;
  readonly webhooks: Pick<Webhooks, 'list'>;
  readonly deliveries: Pick<WebhookDeliveries, 'due' | 'waiting'>;
  readonly readers: Pick<WebhookReaders, 'get' | 'advance' | 'remove'>;
  readonly records: Pick<TenantRecords, 'isActive'>;
  readonly tell: TellCommits;
  readonly attempt: Attempt;
  readonly places: Places;
  readonly clock: Clock;
  /** Names this process in this life. */
  readonly holder: string;
  readonly report: (error: unknown) => void;
}

export interface TenantSender {
  /** As the reader was last seen. */
  seen(reader: WebhookReader): void;
  /** The place behind which it waits for news; null while it wants none. */
  readonly waitsAt: string | null;
  /** Something may be behind that place. */
  news(): void;
  /** Ends by itself when the tenant has no endpoint any more. */
  readonly isOver: boolean;
  /** Resolves when nothing is read any more; attempts may be under way. */
  close(): Promise<void>;
}

const readAtOnce = 200;
const endpointsAtOnce = 200;
/** A log that has no news is read so often. (D6) */
const unaskedReadMs = 60_000;
/** How long a sender that finds nothing waits before it looks at what is due again, at least and at most. */
const pauseMsMin = 500;
/** Readings of what is due that are under way at once. */
const asksAtOnceMax = 16;
const pauseMsMax = 2_000;
/** Factor of the pause after each look that has found nothing. */
const slower = 1.25;

export function openTenantSender(deps: TenantSenderDeps, first: WebhookReader): TenantSender {
  const { tenantLog, deliveries, readers, places, clock, holder } = deps;
  const { tenant } = first;
  const closed = new AbortController();
  let { place, changes: wanted } = first;
  /** The number of changes as of which `endpoints` is. */
  let known = -1;
  let endpoints = new Map<string, Webhook>();
  /** Of the same. */
  let index = createEndpointIndex([]);
  /** When something of an endpoint may be due. (D3) */
  const due = new Map<string, number>();
  /** Until when nothing of an endpoint is attempted. (D7) */
  const resting = new Map<string, number>();
  /** Deliveries under way, by endpoint. */
  const underWay = new Map<string, Set<string>>();
  const asking = new Set<string>();
  let isOver = false;
  let isAwake = false;
  let hasNews = true;
  /** When the log is read without news, and from when on news is asked for. (D6) */
  let [readAt, askAt] = [0, 0];
  let pausing = new AbortController();

  function dueAt(webhook: string, at: number): void {
    const from = Math.max(at, resting.get(webhook) ?? at);
    due.set(webhook, Math.min(from, due.get(webhook) ?? from));
  }

  /** (D7) */
  function restUntil(webhook: string, at: number): void {
    resting.set(webhook, at);
    due.set(webhook, Math.max(at, due.get(webhook) ?? at));
  }

  async function refresh(changes: number): Promise<void> {
    if (changes === known) return;
    const found = new Map<string, Webhook>();
    for (let page: PageRequest | null = { limit: endpointsAtOnce, cursor: null }; page !== null;) {
      const { data, nextCursor } = await deps.webhooks.list(tenant, page);
      for (const webhook of data) found.set(webhook.id, webhook);
      page = nextCursor === null ? null : { limit: endpointsAtOnce, cursor: nextCursor };
    }
    for (const { webhook, nextAt } of await deliveries.waiting(tenant)) dueAt(webhook, nextAt);
    endpoints = found;
    index = createEndpointIndex(found.values());
    known = changes;
  }

  /** True when there may be more. */
  async function read(): Promise<boolean> {
    const found = await tenantLog.after(tenant, place, readAtOnce);
    const last = found.at(-1);
    if (last === undefined) return false;
    const reader = await readers.get(tenant);
    if (reader === null) return false; // erased
    wanted = Math.max(wanted, reader.changes);
    await refresh(wanted); // (log-reading R3)
    const now = clock.now();
    const commits = found.map(({ commit }) => commit);
    for (const { webhook } of await deps.tell(commits, index, now)) dueAt(webhook, now);
    if (!(await readers.advance(tenant, holder, last.place))) return false; // (D4)
    ({ place } = last);
    return found.length === readAtOnce;
  }

  /** (D6) True when there may be more. */
  async function readNews(): Promise<boolean> {
    if (!hasNews && clock.now() < readAt) return false;
    const before = place;
    hasNews = false;
    try {
      hasNews = await read();
    } catch (error) {
      hasNews = true;
      throw error;
    }
    const now = clock.now();
    readAt = now + unaskedReadMs;
    if (place === before) askAt = now + pauseMsMax;
    return hasNews;
  }

  function sendDue(): void {
    const now = clock.now();
    for (const [id, at] of due) {
      if (asking.size >= asksAtOnceMax) return; // the end of each goes on
      if (at > now || asking.has(id)) continue;
      const webhook = endpoints.get(id);
      if (webhook === undefined || webhook.state !== 'active') {
        due.delete(id);
        resting.delete(id);
      } else if (freeFor(webhook) > 0) void begin(webhook).catch(deps.report);
    }
  }

  const freeFor = ({ id, failingSince }: Webhook): number => places.free(tenant, id, failingSince !== null);

  async function begin(webhook: Webhook): Promise<void> {
    const { id } = webhook;
    asking.add(id);
    try {
      const before = new Set(underWay.get(id)); // (D5)
      const limit = freeFor(webhook) + before.size;
      const now = clock.now();
      due.delete(id); // what comes from now on is noted again
      const found = await deliveries.due(tenant, id, now, limit).catch((error: unknown) => {
        dueAt(id, now + pauseMsMax);
        throw error;
      });
      if (found.length === limit) dueAt(id, now); // there may be more
      if (found.length === 0) await rest(id);
      for (const delivery of found) {
        if (before.has(delivery.id)) continue;
        if (closed.signal.aborted || freeFor(webhook) === 0) return dueAt(id, now);
        void send(webhook, delivery);
      }
    } finally {
      asking.delete(id);
      if (!closed.signal.aborted) sendDue();
    }
  }

  /** (D2) */
  async function send(webhook: Webhook, delivery: WebhookDelivery): Promise<void> {
    const { id } = webhook;
    const giveBack = places.take(tenant, id, webhook.failingSince !== null);
    const own = underWay.get(id) ?? new Set<string>();
    underWay.set(id, own.add(delivery.id));
    let nextAt: number | null = null;
    try {
      const attempted = await deps.attempt({ webhook, newest: () => endpoints.get(id) ?? webhook }, delivery);
      if (attempted === null) return;
      ({ nextAt } = attempted);
      resting.delete(id);
      const isNewest = endpoints.get(id) === attempted.seen; // else it was read meanwhile, before the change or after
      if (isNewest && attempted.webhook !== null) endpoints.set(id, attempted.webhook);
      if (!isNewest || attempted.webhook?.state !== webhook.state) known = -1; // all are read again, and the index is made
    } catch (error) {
      restUntil(id, clock.now() + pauseMsMax);
      deps.report(error);
    } finally {
      giveBack();
      own.delete(delivery.id);
      if (nextAt !== null) dueAt(id, nextAt);
      if (own.size === 0) {
        underWay.delete(id);
        await rest(id).catch(deps.report);
      }
      if (!closed.signal.aborted && isAwake) sendDue();
    }
  }

  /** What else waits for the endpoint. (D3) */
  async function rest(id: string): Promise<void> {
    if (closed.signal.aborted || !endpoints.has(id)) return;
    const [next] = await deliveries.due(tenant, id, Number.MAX_SAFE_INTEGER, 1);
    if (next?.nextAt !== undefined && next.nextAt !== null) dueAt(id, next.nextAt);
  }

  /** Without it, a step would only read what has not changed. (webhook-service W5) */
  const hasWork = (): boolean => {
    const now = clock.now();
    return hasNews || now >= readAt || known !== wanted || nearest() <= now;
  };

  async function step(): Promise<boolean> {
    if (!hasWork()) return false;
    isAwake = await deps.records.isActive(tenant);
    if (!isAwake) return false; // (D1)
    await refresh(wanted);
    if (endpoints.size === 0 && (await readers.remove({ tenant, changes: known }))) {
      isOver = true;
      closed.abort();
      return false;
    }
    const isMore = await readNews();
    sendDue();
    return isMore;
  }

  async function run(): Promise<void> {
    for (let pauseMs = pauseMsMin; !closed.signal.aborted;) {
      const before = place;
      const isMore = await step().catch((error: unknown) => {
        deps.report(error);
        return false;
      });
      if (isMore) continue;
      const isQuiet = place === before && nearest() > clock.now() + pauseMsMax;
      pauseMs = isQuiet ? Math.min(pauseMs * slower, pauseMsMax) : pauseMsMin;
      pausing = new AbortController();
      if (!closed.signal.aborted) await clock.sleep(pauseMs, pausing.signal);
    }
  }

  function nearest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const at of due.values()) earliest = Math.min(earliest, at);
    return earliest;
  }

  const running = run();
  return {
    seen: ({ changes }) => {
      wanted = Math.max(wanted, changes);
    },
    get waitsAt() {
      return hasNews || clock.now() < askAt ? null : place;
    },
    news: () => {
      hasNews = true;
      pausing.abort();
    },
    get isOver() {
      return isOver;
    },
    close: async () => {
      closed.abort();
      pausing.abort();
      await running;
    },
  };
}
