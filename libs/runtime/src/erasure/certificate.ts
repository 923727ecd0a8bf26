// What is handed over when an erasure is done: what was erased, when, and what is left where, signed.
import { canonicalJson } from '@dormouse/json';
import type { ErasureRecord } from '@dormouse/ports';
import type { AuditSigner } from '../audit/audit-api.ts';

export interface Certificate {
  readonly id: string;
  readonly scope: ErasureRecord['scope'];
  /** A thread's id, or the name of a user. (user-name.ts) */
  readonly subject: string;
  readonly families: readonly string[];
  /** When it was done: RFC 3339. */
  readonly at: string;
  /** What was done in each kind of store, and what is left elsewhere until when. */
  readonly stores: Readonly<Record<string, string>>;
  /** The audit's key that has signed. */
  readonly kid: string;
  /** Ed25519 over the RFC 8785 JSON of the other members; base64url. */
  readonly signature: string;
}

export function certificateOf(
  { id, scope, subject, families }: ErasureRecord,
  now: number,
  stores: Certificate['stores'],
  signer: AuditSigner,
): Certificate {
  const unsigned = { id, scope, subject, families, at: new Date(now).toISOString(), stores, kid: signer.kid };
  return { ...unsigned, signature: signer.sign(canonicalJson(unsigned)) };
}
