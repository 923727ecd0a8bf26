// What the door writes into the audit: credentials that were refused something, and keys that are used after their end.
//
// Invariants:
//   A1. A refusal stays a refusal where the audit cannot be written.
//   A2. The use of a key that has ended is recorded once in `notedMs`, and so is that of a subject's token that is
//       refused; a credential that was never a key leaves no row, because it has no tenant.
//   A3. What a credential is forbidden is recorded `forbiddenMax` times in `notedMs`: rows are never removed by a
//       request, and an end user who holds a token could write them without end.
import type { TenantId } from '@dormouse/ports';
import type { AuditEntry, EndedKey, Ingress, RefusedIdentity, Requester } from '@dormouse/runtime';

const notedMs = 60_000;
const notesMax = 1_000;
const forbiddenMax = 60;

/** Where a request came from. */
export interface RequestSource {
  /** Address of the client. */
  readonly ip?: string;
  readonly id?: string;
}

export interface DoorAudit {
  forbidden(tenant: TenantId, by: Requester, why: string): Promise<void>;
  ended(key: EndedKey, source: RequestSource): Promise<void>;
  /** A token of the identity provider, signed by it and not accepted. */
  refused(identity: RefusedIdentity, source: RequestSource): Promise<void>;
}

/** How the audit names a subject of the identity provider. */
export const subjectName = (subject: string): string => `oidc:${subject}`;

export function createDoorAudit({ audit }: Pick<Ingress, 'audit'>): DoorAudit {
  const noted = new Map<string, number>();
  const counts = new Map<string, { readonly since: number; count: number }>();

  const record = (entry: AuditEntry): Promise<void> => audit.record(entry).catch(() => {}); // (A1)

  /** (A2) */
  function isNew(key: string): boolean {
    const now = performance.now();
    if (now - (noted.get(key) ?? -notedMs) < notedMs) return false;
    if (noted.size >= notesMax) noted.clear();
    noted.set(key, now);
    return true;
  }

  /** (A3) */
  function isFew(key: string): boolean {
    const now = performance.now();
    const known = counts.get(key);
    if (known !== undefined && now - known.since < notedMs) return (known.count += 1) <= forbiddenMax;
    if (counts.size >= notesMax) counts.clear();
    counts.set(key, { since: now, count: 1 });
    return true;
  }

  return {
    async forbidden(tenant, by, why) {
      if (isFew(JSON.stringify([tenant, by.actor])))
        await record({ ...by, tenant, action: 'auth.forbidden', target: null, outcome: why });
    },
    async ended({ tenant, id, outcome }, source) {
      if (!isNew(id)) return;
      await record({ ...requesterOf(id, source), tenant, action: 'auth.failed', target: null, outcome });
    },
    async refused({ tenant, subject, why }, source) {
      const actor = subjectName(subject);
      if (!isNew(JSON.stringify([tenant, actor, why]))) return;
      await record({ ...requesterOf(actor, source), tenant, action: 'auth.failed', target: null, outcome: why });
    },
  };
}

export const requesterOf = (actor: string, { ip, id }: RequestSource): Requester => ({
  ...{ actor, from: ip ?? null, requestId: id ?? null },
});
