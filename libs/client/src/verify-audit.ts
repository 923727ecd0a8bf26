// Checks an exported audit offline: an independent implementation of its chain and its signature, written from their
// description, so that an audit is not judged by the code that wrote it.
//
// The export: one JSON object per line. Rows first: `hash` is the SHA-256, in lower-case hex, of the RFC 8785 JSON of
// the row without `hash`; `prev` is the hash of the row before, 64 zeros in the first; `seq` counts from 1. The last
// line is `{"root": {"seq","hash","at","kid"}, "signature"}`: Ed25519, base64url, over the RFC 8785 JSON of `root`.
// Where the oldest rows were removed, such a line stands first, too: it is their root, and the next row follows it.
//
// Invariants:
//   A1. Any changed, missing, repeated or reordered row is found, and an export that is cut off.
//   A2. A signature counts only with a key from elsewhere: without keys it is reported as not checked.
import type { components } from './generated/openapi.ts';
import { hexDigest } from './hex-digest.ts';
import { type AuditKey, canonical, isSigned } from './signed-text.ts';

export type AuditRow = components['schemas']['AuditRow'];

export type AuditVerdict =
  | {
      readonly ok: true;
      /** In the export. */
      readonly rows: number;
      /** Rows before them that were removed: the signed root at the beginning stands for these. */
      readonly removed: number;
      readonly head: string;
      readonly signature: 'checked' | 'not checked';
    }
  /** `line` counts from 1. */
  | { readonly ok: false; readonly line: number; readonly reason: string };

interface Root {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  readonly kid: string;
}

/** `keys`: null when there are none to check the signature with. (A2) */
export async function verifyAudit(
  lines: AsyncIterable<string> | Iterable<string>,
  keys: readonly AuditKey[] | null,
): Promise<AuditVerdict> {
  let seq = 0;
  let removed = 0;
  let head = '0'.repeat(64);
  let line = 0;
  let signed = false;
  for await (const text of lines) {
    if (text === '') continue;
    line += 1;
    const broken = (reason: string): AuditVerdict => ({ ok: false, line, reason });
    if (signed) return broken('stands behind the signed root');
    const found = objectOf(text);
    if (found === null) return broken('is no JSON object');
    if ('root' in found && line === 1 && seqOf(found) > 0) {
      removed = seqOf(found);
      [seq, head] = [removed, String((found['root'] as Root).hash)];
      const reason = await rootComplaint(found, { seq, head }, keys);
      if (reason !== null) return broken(reason);
      continue;
    }
    if ('root' in found) {
      const reason = await rootComplaint(found, { seq, head }, keys);
      if (reason !== null) return broken(reason);
      signed = true;
      continue;
    }
    const { hash, ...row } = found;
    if (row['seq'] !== seq + 1) return broken(`is row ${String(row['seq'])}, expected ${seq + 1}`);
    if (row['prev'] !== head) return broken('does not follow the row before it: `prev` is another hash');
    if (typeof hash !== 'string' || (await sha256(canonical(row))) !== hash)
      return broken('was changed: its hash does not fit its contents');
    seq += 1;
    head = hash;
  }
  if (!signed) return { ok: false, line: line + 1, reason: 'is missing: the export ends without its signed root' };
  return { ok: true, rows: seq - removed, removed, head, signature: keys === null ? 'not checked' : 'checked' };
}

/** Of a root; 0 where it has none. */
function seqOf({ root }: Readonly<Record<string, unknown>>): number {
  const { seq } = (root ?? {}) as Partial<Root>;
  return typeof seq === 'number' && Number.isInteger(seq) ? seq : 0;
}

async function rootComplaint(
  found: Readonly<Record<string, unknown>>,
  { seq, head }: { readonly seq: number; readonly head: string },
  keys: readonly AuditKey[] | null,
): Promise<string | null> {
  const root = found['root'] as Root | null;
  if (root?.seq !== seq || root.hash !== head) return 'is a root of other rows: rows are missing at the end';
  if (keys === null) return null; // (A2)
  const key = keys.find(({ kid }) => kid === root.kid);
  if (key === undefined) return `was signed with the key ${String(root.kid)}, which is not among the given ones`;
  return (await isSigned(canonical({ ...root }), found['signature'], key)) ? null : 'has a signature that is not valid';
}

function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const sha256 = (text: string): Promise<string> => hexDigest(new TextEncoder().encode(text));
