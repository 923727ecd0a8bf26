import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AuditKey } from './signed-text.ts';
import { verifyAudit } from './verify-audit.ts';

type Row = Record<string, unknown>;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key: AuditKey = { kid: 'k1', x: publicKey.export({ format: 'jwk' }).x ?? '' };

/** Members in the order of RFC 8785, by hand. */
const sealed = (row: Row): Row => {
  const { action, actor, at, from, outcome, prev, request_id, seq, target } = row;
  const text = JSON.stringify({ action, actor, at, from, outcome, prev, request_id, seq, target });
  return { ...row, hash: createHash('sha256').update(text).digest('hex') };
};

function rowsOf(count: number): Row[] {
  const rows: Row[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const prev = rows.at(-1)?.['hash'] ?? '0'.repeat(64);
    const who = { actor: 'key_1', action: 'secret.set', target: 'Zürich ✓ "\n', from: null };
    rows.push(sealed({ seq, at: '2026-01-01T00:00:00.000Z', ...who, outcome: 'done', request_id: null, prev }));
  }
  return rows;
}

function rootOf({ hash = '0'.repeat(64), seq = 0 }: Row): Row {
  const root = { at: '2026-01-02T00:00:00.000Z', hash, kid: 'k1', seq };
  const signature = sign(null, Buffer.from(JSON.stringify(root)), privateKey).toString('base64url');
  return { root, signature };
}

const exported = (rows: readonly Row[]): string[] =>
  [...rows, rootOf(rows.at(-1) ?? {})].map((line) => JSON.stringify(line));

/** As it is exported when the oldest of the rows were removed. */
const trimmed = (rows: readonly Row[], removed: number): string[] => [
  JSON.stringify(rootOf(rows[removed - 1] ?? {})),
  ...exported(rows.slice(removed)),
];

describe('an exported audit', () => {
  it('holds, with and without keys, also when it has no row', async () => {
    const rows = rowsOf(3);
    const head = rows[2]?.['hash'];
    expect(await verifyAudit(exported(rows), [key])).toEqual({
      ...{ ok: true, rows: 3, removed: 0, head, signature: 'checked' },
    });
    expect(await verifyAudit(exported(rows), null)).toEqual({
      ...{ ok: true, rows: 3, removed: 0, head, signature: 'not checked' },
    });
    expect(await verifyAudit(exported([]), [key])).toMatchObject({ ok: true, rows: 0 });
  });

  it('(A1) is broken by every change of one row, also one that is hashed again', async () => {
    const other = { seq: 9, at: '2026-01-03T00:00:00.000Z', actor: 'key_2', action: 'x', target: 't', from: 'f' };
    for (const [member, value] of Object.entries({ ...other, outcome: 'o', request_id: 'r', prev: '1'.repeat(64) })) {
      for (const mend of [(row: Row): Row => row, sealed]) {
        const rows = rowsOf(3);
        const lines = exported(rows);
        lines[1] = JSON.stringify(mend({ ...rows[1], [member]: value }));
        expect(await verifyAudit(lines, null)).toMatchObject({ ok: false });
      }
    }
  });

  it('(A1) is broken by a row that is missing, repeated or elsewhere, and by a cut', async () => {
    const [one = '', two = '', three = '', root = ''] = exported(rowsOf(3));
    const brokenAt = { missing: [one, three, root], repeated: [one, two, two, three, root], turned: [two, one, three] };
    for (const lines of Object.values(brokenAt)) expect(await verifyAudit(lines, null)).toMatchObject({ ok: false });
    expect(await verifyAudit([one, two, root], null)).toEqual({
      ...{ ok: false, line: 3, reason: 'is a root of other rows: rows are missing at the end' },
    });
    expect(await verifyAudit([one, two, three], null)).toMatchObject({ ok: false, line: 4 });
    expect(await verifyAudit([one, two, three, root, three], null)).toMatchObject({ ok: false, line: 5 });
    expect(await verifyAudit([one, 'no JSON'], null)).toMatchObject({ ok: false, line: 2 });
  });

  it('holds from the signed root of rows that were removed, and from no other', async () => {
    const rows = rowsOf(5);
    const head = rows[4]?.['hash'];
    const whole = trimmed(rows, 3);
    expect(await verifyAudit(whole, [key])).toEqual({
      ...{ ok: true, rows: 2, removed: 3, head, signature: 'checked' },
    });
    expect(await verifyAudit(whole, null)).toMatchObject({ ok: true, rows: 2, removed: 3 });
    const [begin = '', ...rest] = whole;
    expect(await verifyAudit(rest, [key])).toMatchObject({ ok: false, line: 1 });
    expect(await verifyAudit([begin, ...rest.slice(1)], [key])).toMatchObject({ ok: false, line: 2 });
    const other = JSON.stringify(rootOf(rows[1] ?? {}));
    expect(await verifyAudit([other, ...rest], [key])).toMatchObject({ ok: false, line: 2 });
    const forged = JSON.parse(begin) as { root: Row; signature: string };
    forged.root['at'] = '2027-01-01T00:00:00.000Z';
    expect(await verifyAudit([JSON.stringify(forged), ...rest], [key])).toMatchObject({ ok: false, line: 1 });
    expect(await verifyAudit([begin], [key])).toMatchObject({ ok: false, line: 2 });
  });

  it('(A2) is broken by another signature, and by a key that is not known', async () => {
    const lines = exported(rowsOf(2));
    const root = JSON.parse(lines[2] ?? '') as { readonly root: Row; readonly signature: string };
    const forged = JSON.stringify({ ...root, root: { ...root.root, at: '2027-01-01T00:00:00.000Z' } });
    expect(await verifyAudit([...lines.slice(0, 2), forged], [key])).toMatchObject({ ok: false, line: 3 });
    expect(await verifyAudit(lines, [{ ...key, kid: 'k2' }])).toMatchObject({ ok: false, line: 3 });
    const noText = JSON.stringify({ ...root, signature: 1 });
    expect(await verifyAudit([...lines.slice(0, 2), noText], [key])).toMatchObject({ ok: false, line: 3 });
  });
});
