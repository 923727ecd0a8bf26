// Tells customers what happens in their threads: signed POSTs to their endpoints, retried for a day.
//
// Each tenant that has endpoints has a reader of its log with a stored place. One process holds it, reads on from
// there, stores a delivery for each endpoint that asks for an event, and sends what is due (tenant-sender.ts).
// Nothing is added to the commit for it, and a tenant without endpoints costs nothing.
//
// Invariants:
//   W1. Of what a commit tells an endpoint, exactly one delivery is stored, whichever process ends when.
//       (log-reading R1, R2)
//   W2. A delivery is attempted until it is delivered, given up or aborted, by one process at a time, as far as clocks
//       agree; its receiver may get it twice, under one id. (attempt A1, tenant-sender D4)
//   W3. A reader that its holder does not hold longer in time is taken over by any other process.
//   W4. Trouble of one endpoint or tenant delays no other beyond its places. (places P1, P2, P3; tenant-sender D2)
//   W5. What thousands of quiet tenants cost does not grow with the readings of each: one holder says in one write that
//       it still holds all, and asks for news of `placesAtOnceMax` at once. (tenant-sender D6)
import {
  type Clock,
  type Entropy,
  type Logger,
  type Metrics,
  noMetrics,
  placesAtOnceMax,
  type Sealer,
  type Stores,
  type WebhookReader,
  type WebhookTransport,
  type TenantId,
} from '@dormouse/ports';
import type { Auditor } from '../audit/auditor.ts';
import { faultCode } from '../fault-code.ts';
import { createRepeatedService } from '../repeated-service.ts';
import type { Service } from '../service.ts';
import { createTenantRecords } from '../tenants/tenant-records.ts';
import { createAttempt } from './attempt.ts';
import { type TenantSender, openTenantSender } from './tenant-sender.ts';
import { createTellCommits } from './log-reading.ts';
import { createPlaces, defaultPlaceLimits } from './places.ts';
import { createThreadStatuses } from './thread-statuses.ts';

export interface WebhookServiceDeps extends Pick<
  Stores,
  ('log' | 'tenantLog' | 'snapshots' | 'directory' | 'tenants') | ('webhooks' | 'webhookDeliveries' | 'webhookReaders')
> {
  readonly webhookTransport: WebhookTransport;
  readonly sealer: Sealer;
  readonly audit: Auditor;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics;
  readonly settings?: Partial<typeof defaultSettings>;
}

/** `heldMs`: how long a process holds a reader without saying so again. */
const defaultSettings = { ...defaultPlaceLimits, timeoutMs: 15_000, heldMs: 15_000 };

const lookEveryMs = 500;
const readersAtOnce = 500;
/** Readers that one look takes: several processes that start together share them. */
const takenAtOnceMax = 100;

interface HeldSender {
  readonly sender: TenantSender;
  heldUntil: number;
}

export function createWebhookService(deps: WebhookServiceDeps): Service {
  const { webhookReaders: readers, webhookDeliveries: deliveries, clock, logger } = deps;
  const settings = { ...defaultSettings, ...deps.settings };
  const holder = deps.entropy.nonce();
  const stopping = new AbortController();
  const ended = new AbortController();
  const senders = new Map<TenantId, HeldSender>();
  const attempts = new Set<Promise<unknown>>();
  let failing = false;

  function report(error: unknown): void {
    if (!failing && !stopping.signal.aborted) logger.warn('webhooks_failing', { code: faultCode(error) });
    failing = true;
  }

  const { webhookTransport: transport, metrics = noMetrics } = deps;
  const { timeoutMs } = settings;
  const attempt = createAttempt({ ...deps, deliveries, transport, metrics, timeoutMs, signal: ended.signal });
  const senderDeps = {
    ...deps,
    deliveries,
    readers,
    holder,
    report,
    records: createTenantRecords(deps),
    tell: createTellCommits({ directory: deps.directory, deliveries, statuses: createThreadStatuses(deps) }),
    places: createPlaces(settings),
    attempt: (...given: Parameters<typeof attempt>) => {
      const made = attempt(...given);
      const settled: Promise<unknown> = made.catch(() => {}).finally(() => attempts.delete(settled));
      attempts.add(settled);
      return made;
    },
  };

  async function all(): Promise<readonly WebhookReader[]> {
    const found: WebhookReader[] = [];
    for (let after: TenantId | null = null; ;) {
      const part: readonly WebhookReader[] = await readers.list(after, readersAtOnce);
      found.push(...part);
      after = part.at(-1)?.tenant ?? null;
      if (part.length < readersAtOnce) return found;
    }
  }

  /** (W3, W5) */
  async function renew(): Promise<void> {
    const now = clock.now();
    if (
      senders.size === 0 ||
      [...senders.values()].every(({ heldUntil }) => heldUntil - now >= (settings.heldMs * 2) / 3)
    )
      return;
    const heldUntil = now + settings.heldMs;
    await readers.renew(holder, heldUntil);
    for (const own of senders.values()) own.heldUntil = heldUntil;
  }

  /** Another process has taken the reader, or a renewal was stored whose answer was lost. (W3) */
  async function holdStill(own: HeldSender, tenant: TenantId): Promise<void> {
    const now = clock.now();
    const heldUntil = now + settings.heldMs;
    if (await readers.hold(tenant, holder, now, heldUntil)) own.heldUntil = heldUntil;
    else await closeSender(tenant);
  }

  /** (W5) */
  async function askForNews(): Promise<void> {
    const waiting = [...senders].flatMap(([tenant, { sender }]) => {
      const { waitsAt: place } = sender;
      return place === null ? [] : [{ tenant, place }];
    });
    for (let from = 0; from < waiting.length && !stopping.signal.aborted; from += placesAtOnceMax) {
      const grown = await deps.tenantLog.grown(waiting.slice(from, from + placesAtOnceMax));
      for (const tenant of grown) senders.get(tenant)?.sender.news();
    }
  }

  async function look(): Promise<void> {
    await renew();
    const found = await all();
    const there = new Set(found.map(({ tenant }) => tenant));
    for (const [tenant, { sender }] of senders) if (sender.isOver || !there.has(tenant)) await closeSender(tenant);
    let taken = 0;
    for (const reader of found) {
      if (stopping.signal.aborted) return;
      const own = senders.get(reader.tenant);
      const now = clock.now();
      if (own !== undefined) {
        own.sender.seen(reader);
        if (reader.heldUntil !== own.heldUntil) await holdStill(own, reader.tenant);
        continue;
      }
      if (reader.heldUntil > now || taken >= takenAtOnceMax) continue;
      const heldUntil = now + settings.heldMs;
      if (!(await readers.hold(reader.tenant, holder, now, heldUntil))) continue;
      taken += 1;
      const current = (await readers.get(reader.tenant)) ?? reader; // it may have moved since it was listed
      senders.set(reader.tenant, { sender: openTenantSender(senderDeps, current), heldUntil });
    }
    await askForNews();
    failing = false;
  }

  async function closeSender(tenant: TenantId): Promise<void> {
    const own = senders.get(tenant);
    senders.delete(tenant);
    await own?.sender.close();
  }

  const looking = createRepeatedService({ clock, stopped: stopping, everyMs: lookEveryMs }, () => look().catch(report));

  return {
    start: () => looking.start(),
    async stop(withinMs) {
      await looking.stop();
      await Promise.all([...senders.keys()].map(closeSender));
      const late = new AbortController();
      await Promise.race([Promise.all(attempts), clock.sleep(withinMs, late.signal)]);
      late.abort();
      ended.abort();
      await Promise.all(attempts);
      await readers.release(holder).catch(report);
    },
  };
}
