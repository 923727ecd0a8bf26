// Removes what tenants keep no longer: families of threads that have rested for the days of their tenant, and rows of
// audits that are older than the installation keeps them.
//
// Invariants:
//   R1. A pass takes a bounded part of each tenant: one with many old threads takes more passes and no other's time.
//   R2. What is to be done follows from the rows alone: a pass that was broken off is repeated, and several processes
//       may do it at once. A claim lets one of them do it at a time.
//   R3. Nothing is removed of a tenant that is not active, nor of one whose forks are not all known: rows of releases
//       before do not say what they were forked from, and are completed from their logs first.
//   R4. A tenant that keeps threads for ever again, or longer, takes back the marks of those that were to go.
//   R5. What was removed is in the log, in the metrics, and in the audit of its tenant.
import {
  type Clock,
  type Logger,
  type Metrics,
  type RestingRoot,
  type RootsWanted,
  type Stores,
  type TenantRecord,
  type TenantId,
  noTenant,
} from '@dormouse/ports';
import { createBoundedMap } from '@dormouse/collections';
import { everyItem } from '../every-item.ts';
import { faultCode } from '../fault-code.ts';
import type { Auditor } from '../audit/auditor.ts';
import { beginningOf } from '../ingress-gateway/read/thread-beginning.ts';
import { createRepeatedService } from '../repeated-service.ts';
import type { Service } from '../service.ts';
import type { TenantLimits } from '../tenants/tenant-limits.ts';
import { auditedRemoval, trimAudit } from './audit-trimming.ts';
import { createFamilyVisit, type FamilyVisitPorts } from './family-visit.ts';

export interface RetentionDeps
  extends FamilyVisitPorts, Pick<Stores, 'tenants' | 'remover' | 'idempotency' | 'auditLog'> {
  readonly audit: Auditor;
  readonly limits: Pick<TenantLimits, 'stored'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly settings: {
    /** Of tenants that have no days of their own; null keeps their threads. */
    readonly days: number | null;
    /** Null keeps audits. */
    readonly auditDays: number | null;
  };
}

const passEveryMs = 60_000;
/** Longer than a pass may take, but for a dying process. */
const claimMs = 600_000;
const auditEveryMs = 3_600_000;
const dayMs = 86_400_000;
const tenantsPerPage = 100;
const familiesPerPass = 500;
const threadsPerPass = 1_000;
const unplacedPerPass = 500;
const placesMax = 10_000;

export function createRetention(deps: RetentionDeps): Service {
  const { tenants, restingThreads, remover, clock, logger, metrics, settings } = deps;
  const visit = createFamilyVisit(deps);
  const stopped = new AbortController();
  const removedThreads = metrics.counter('dormouse_retention_threads_total');
  const removedBytes = metrics.counter('dormouse_retention_bytes_total');
  /** Where the next pass goes on, by tenant and list. (R1) */
  const places = createBoundedMap<RestingRoot | null>(placesMax);
  let auditsAt: number | null = null;

  async function pass(): Promise<void> {
    const isAuditTime = isDue(auditsAt, clock.now());
    if (isAuditTime) auditsAt = clock.now();
    for await (const tenant of everyItem(tenantsPerPage, (page) => tenants.list(page))) {
      if (stopped.signal.aborted) return;
      await keepOnly(tenant, isAuditTime).catch((error: unknown) => failing(tenant.id, error));
    }
  }

  async function keepOnly(tenant: TenantRecord, isAuditTime: boolean): Promise<void> {
    if (tenant.state !== 'active') return; // (R3)
    if (isAuditTime && settings.auditDays !== null) await trim(tenant.id, clock.now() - settings.auditDays * dayMs);
    const days = tenant.retentionDays ?? settings.days;
    const before = days === null ? Number.NEGATIVE_INFINITY : clock.now() - days * dayMs;
    const leaving = await nextRoots(tenant.id, 'leaving');
    if ((days === null && leaving.length === 0) || (await hasUnplaced(tenant.id))) return; // (R3)
    const resting = days === null ? [] : await nextRoots(tenant.id, { before });
    const roots: string[] = [];
    const others: string[] = [];
    for (const family of new Set([...leaving, ...resting])) {
      if (stopped.signal.aborted || roots.length + others.length >= threadsPerPass) break;
      for (const thread of await visit(tenant.id, family, before)) (thread === family ? roots : others).push(thread); // (R4)
    }
    await remove(tenant.id, others, roots);
  }

  /** A part of a list, behind that of the last pass; after its end, it begins anew. */
  async function nextRoots(tenant: TenantId, wanted: RootsWanted): Promise<readonly string[]> {
    const name = `${wanted === 'leaving' ? wanted : 'resting'} ${tenant}`;
    const found = await restingThreads.roots(tenant, wanted, places.get(name) ?? null, familiesPerPass);
    places.set(name, found.length < familiesPerPass ? null : (found.at(-1) ?? null));
    return found.map(({ thread }) => thread);
  }

  /** Whether there are rows that do not say what their thread was forked from, after some of them were completed. */
  async function hasUnplaced(tenant: TenantId): Promise<boolean> {
    const unplaced = await restingThreads.unplaced(tenant, unplacedPerPass);
    let left = unplaced.length === unplacedPerPass;
    for (const thread of unplaced) {
      const [first] = await deps.log.read({ tenant, thread }, 0, 1);
      if (first === undefined) left = true;
      else await restingThreads.place(tenant, thread, beginningOf(first).forkedFrom?.threadId ?? null);
    }
    return left;
  }

  /** Roots go last: a family is found by its root. (R2, R5) */
  async function remove(tenant: TenantId, others: readonly string[], roots: readonly string[]): Promise<void> {
    const below = await remover.remove(tenant, others, 'everything');
    const above = await remover.remove(tenant, roots, 'everything');
    const rows = below.rows + above.rows;
    const bytes = below.bytes + above.bytes;
    if (rows === 0) return; // there was nothing, or another process was faster
    const threads = others.length + roots.length;
    deps.limits.stored(tenant, -bytes);
    removedThreads.add(threads);
    removedBytes.add(bytes);
    logger.info('retention_removed', { tenant, threads, rows, bytes });
    await deps.audit.record(auditedRemoval(tenant, 'threads.removed', `${threads} threads, ${bytes} bytes`));
  }

  async function trim(tenant: TenantId, before: number): Promise<void> {
    const rows = await trimAudit(deps, tenant, before);
    if (rows > 0) logger.info('audit_trimmed', { tenant, rows });
  }

  function failing(tenant: TenantId, error: unknown): void {
    logger.warn('retention_failing', { tenant, code: faultCode(error) }); // (R2)
  }

  /** (R2) */
  async function claimedPass(): Promise<void> {
    const claim = [noTenant, 'retention', 'pass'] as const;
    const { claim: answer } = await deps.idempotency.claim(...claim, '', clock.now(), claimMs);
    if (answer !== 'new') return;
    try {
      await pass();
    } finally {
      await deps.idempotency.abandon(...claim);
    }
  }

  async function look(): Promise<void> {
    await claimedPass().catch((error: unknown) => failing(noTenant, error));
  }

  return createRepeatedService({ clock, stopped, everyMs: passEveryMs }, look);
}

/** Also after a clock was set back. */
const isDue = (last: number | null, now: number): boolean => last === null || now - last >= auditEveryMs || now < last;
