// The audit as its tenant reads it: pages, and an export that can be checked offline.
//
// Invariants:
//   Q1. An export holds every row up to the last one at its beginning, in order, and ends with that row's number and
//       hash, signed.
//   Q2. Where the oldest rows were removed, the export begins with the number and the hash of the last of these, signed
//       likewise: the chain goes on from there.
import { canonicalJson } from '@dormouse/json';
import {
  type AuditFilter,
  type AuditLog,
  type AuditRow,
  type Clock,
  decodeCursor,
  encodeCursor,
  Fault,
  invalidCursor,
  type PageRequest,
  type TenantId,
  type Page,
} from '@dormouse/ports';
import { noHash } from './audit-chain.ts';
import { type Auditor, createAuditor } from './auditor.ts';

export interface AuditSigner {
  /** The name of the key. */
  readonly kid: string;
  /** Ed25519 over the UTF-8 bytes; base64url. */
  sign(text: string): string;
  /** Every public key that has signed a root, as a JSON Web Key Set. */
  readonly keys: { readonly keys: readonly Readonly<Record<string, string>>[] };
}

/** The last line of an export, and the first one where rows were removed. (Q1, Q2) */
export interface SignedRoot {
  readonly root: {
    /** Of the last row before; 0 for none. */
    readonly seq: number;
    readonly hash: string;
    /** When it was signed: RFC 3339. */
    readonly at: string;
    readonly kid: string;
  };
  /** Over the RFC 8785 JSON of `root`. */
  readonly signature: string;
}

export interface AuditOrder extends PageRequest {
  readonly order: 'asc' | 'desc';
}

export interface AuditApi extends Auditor {
  list(tenant: TenantId, filter: AuditFilter, page: AuditOrder): Promise<Page<AuditRow>>;
  /** Lines of JSON without their line feeds: the rows, then the signed root. (Q1, Q2) @throws Fault UNAVAILABLE */
  export(tenant: TenantId): AsyncIterable<AuditRow | SignedRoot>;
  readonly keys: AuditSigner['keys'];
}

interface Ports {
  readonly auditLog: AuditLog;
  readonly clock: Clock;
  readonly auditSigner: AuditSigner;
}

const exportedAtOnce = 500;

export function createAuditApi({ auditLog, clock, auditSigner }: Ports): AuditApi {
  function signed({ seq, hash }: Pick<AuditRow, 'seq' | 'hash'>): SignedRoot {
    const root = { seq, hash, at: new Date(clock.now()).toISOString(), kid: auditSigner.kid };
    return { root, signature: auditSigner.sign(canonicalJson(root)) };
  }
  return {
    ...createAuditor({ auditLog, clock }),
    async list(tenant, filter, { order, limit, cursor }) {
      const beyond = cursor === null ? null : placeOf(cursor);
      const rows = await auditLog.page(tenant, filter, { beyond, order, limit: limit + 1 });
      const data = rows.slice(0, limit);
      const last = data.at(-1);
      return { data, nextCursor: rows.length > limit && last ? encodeCursor([last.seq]) : null };
    },
    async *export(tenant) {
      const last = await auditLog.last(tenant);
      const [first] = await auditLog.page(tenant, {}, { beyond: null, order: 'asc', limit: 1 });
      let beyond = (first?.seq ?? 1) - 1;
      if (first !== undefined && beyond > 0) yield signed({ seq: beyond, hash: first.prev }); // (Q2)
      while (beyond < (last?.seq ?? 0)) {
        const limit = Math.min(exportedAtOnce, (last?.seq ?? 0) - beyond);
        const rows = await auditLog.page(tenant, {}, { beyond, order: 'asc', limit });
        if (rows[0]?.seq !== beyond + 1)
          throw new Fault('UNAVAILABLE', 'Rows were removed meanwhile: export it again.');
        yield* rows;
        beyond += rows.length;
      }
      yield signed(last ?? { seq: 0, hash: noHash });
    },
    keys: auditSigner.keys,
  };
}

function placeOf(cursor: string): number {
  const [seq] = decodeCursor(cursor);
  if (typeof seq !== 'number') throw invalidCursor();
  return seq;
}
