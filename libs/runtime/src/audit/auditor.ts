// Writes the audit: entries of all tenants, each at the end of its tenant's chain.
//
// Invariants:
//   D1. An entry is durable when its call resolves. A call that rejects may have stored it.
//   D2. One write of a tenant is on its way in a process; entries that come meanwhile go with the next one, in order.
//   D3. A write that another process preceded, or whose outcome is unknown, begins again behind the last row of the
//       store. Rows that a write of unknown outcome has stored are known by their hash and not written twice.
//   D4. Text that is no well-formed Unicode, or longer than a field may be, is mended and never refused: what happened
//       is in the audit.
import { type AuditLog, type AuditRow, auditRowsAtOnceMax, type Clock, Fault, type TenantId } from '@dormouse/ports';
import { chainedTo, type TimedEntry } from './audit-chain.ts';
import type { AuditEntry } from './audit-entry.ts';

export interface Auditor {
  /** (D1) @throws Fault UNAVAILABLE. */
  record(entry: AuditEntry): Promise<void>;
}

interface Waiting extends TimedEntry {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly waiting: Waiting[];
  /** The last row of the chain as far as this process knows; undefined while it must be read. */
  last: AuditRow | null | undefined;
  writes: boolean;
}

const characterMax = 1_000;
const triesMax = 50;
/** Lanes that have nothing to write are forgotten from here on. */
const lanesMax = 1_000;

export function createAuditor({ auditLog, clock }: { readonly auditLog: AuditLog; readonly clock: Clock }): Auditor {
  const lanes = new Map<string, Lane>();

  function laneOf(tenant: TenantId): Lane {
    const known = lanes.get(tenant);
    if (known !== undefined) return known;
    if (lanes.size >= lanesMax) for (const [name, { writes }] of lanes) if (!writes) lanes.delete(name);
    const lane: Lane = { waiting: [], last: undefined, writes: false };
    lanes.set(tenant, lane);
    return lane;
  }

  /** (D2) */
  async function write(tenant: TenantId, lane: Lane): Promise<void> {
    if (lane.writes) return;
    lane.writes = true;
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, auditRowsAtOnceMax);
      try {
        await append(tenant, lane, batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        lane.last = undefined; // (D3)
        for (const { reject } of batch) reject(error);
      }
    }
    lane.writes = false;
  }

  async function append(tenant: TenantId, lane: Lane, batch: readonly Waiting[]): Promise<void> {
    let left: readonly Waiting[] = batch;
    for (let tries = 0; left.length > 0; tries += 1) {
      if (tries === triesMax) throw new Fault('UNAVAILABLE', 'Too many processes write the audit of this tenant.');
      lane.last ??= await auditLog.last(tenant);
      const rows = chainedTo(lane.last, left);
      const before = lane.last?.seq ?? 0;
      const outcome = await auditLog.append(tenant, rows).catch((error: unknown) => ({ error }));
      if (outcome === true) {
        lane.last = rows.at(-1) ?? null;
        return;
      }
      lane.last = undefined;
      if (outcome !== false && tries > 0) throw outcome.error;
      left = left.slice(await storedOf(tenant, before, rows));
    }
  }

  /** How many of the rows are stored: a beginning of them, or none. (D3) */
  async function storedOf(tenant: TenantId, beyond: number, rows: readonly AuditRow[]): Promise<number> {
    const stored = await auditLog.page(tenant, {}, { beyond, order: 'asc', limit: rows.length });
    const foreign = rows.findIndex(({ hash }, place) => stored[place]?.hash !== hash);
    return foreign < 0 ? rows.length : foreign;
  }

  return {
    record(entry) {
      const lane = laneOf(entry.tenant);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      lane.waiting.push({ entry: mended(entry), at: clock.now(), resolve, reject });
      void write(entry.tenant, lane);
      return promise;
    },
  };
}

/** (D4) */
function mended(entry: AuditEntry): AuditEntry {
  const text = (given: string): string => given.slice(0, characterMax).toWellFormed();
  const { actor, target, from, outcome, requestId } = entry;
  return {
    ...entry,
    ...{ actor: text(actor), outcome: text(outcome), target: target && text(target), from: from && text(from) },
    requestId: requestId && text(requestId),
  };
}
