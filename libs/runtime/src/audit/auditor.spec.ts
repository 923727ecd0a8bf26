import { createMemoryWorld } from '@dormouse/adapter-memory';
import { type AuditLog, Fault, tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { chainedTo, noHash } from './audit-chain.ts';
import type { AuditEntry } from './audit-entry.ts';
import { createAuditor } from './auditor.ts';

const clock = { now: () => Date.UTC(2026, 0, 1) } as never;
const tenant = tenantId('acme');

const entryOf = (target: string): AuditEntry => ({
  ...{ tenant, actor: 'key_1', action: 'secret.set', target, from: '127.0.0.1', outcome: 'done', requestId: null },
});

const freshLog = (): AuditLog => createMemoryWorld({ clock }).ports('node').auditLog;

async function rowsOf(auditLog: AuditLog) {
  return auditLog.page(tenant, {}, { beyond: null, order: 'asc', limit: 10_000 });
}

/** Every row follows the one before: what an offline check asks. */
function expectChain(rows: Awaited<ReturnType<typeof rowsOf>>): void {
  let last: { readonly seq: number; readonly hash: string } | null = null;
  for (const row of rows) {
    const { at, actor, action, target, from, outcome, request_id: requestId } = row;
    const entry = { tenant, actor, action: action as AuditEntry['action'], target, from, outcome, requestId };
    expect(chainedTo(last, [{ entry, at: Date.parse(at) }])).toEqual([row]);
    last = row;
  }
}

describe('the auditor', () => {
  it('chains the first row to zeros, and hashes what RFC 8785 makes of the row', async () => {
    const auditLog = freshLog();
    await createAuditor({ auditLog, clock }).record(entryOf('llm_key'));
    expect(await rowsOf(auditLog)).toEqual([
      {
        ...{ seq: 1, at: '2026-01-01T00:00:00.000Z', actor: 'key_1', action: 'secret.set', target: 'llm_key' },
        ...{ from: '127.0.0.1', outcome: 'done', request_id: null, prev: noHash },
        // printf of the canonical text into sha256sum
        hash: '0fa37d3ad648978c2ece319f66523fb497b9a78c6257a9f8fac54560bcede993',
      },
    ]);
  });

  it('(D2, D3) keeps one chain of many entries of several processes', async () => {
    const auditLog = freshLog();
    const auditors = Array.from({ length: 4 }, () => createAuditor({ auditLog, clock }));
    const targets = Array.from({ length: 400 }, (_, place) => `target_${place}`);
    await Promise.all(targets.map((target, place) => auditors[place % auditors.length]?.record(entryOf(target))));
    const rows = await rowsOf(auditLog);
    expectChain(rows);
    expect(new Set(rows.map(({ target }) => target))).toEqual(new Set(targets));
    expect(rows).toHaveLength(targets.length);
  });

  it('(D3) writes no row twice after a write of unknown outcome, whole or in part', async () => {
    for (const storedOfThree of [0, 1, 3]) {
      const auditLog = freshLog();
      let fails = true;
      const lost: AuditLog = {
        ...auditLog,
        append: async (name, rows) => {
          if (!fails) return auditLog.append(name, rows);
          fails = false;
          if (storedOfThree > 0) await auditLog.append(name, rows.slice(0, storedOfThree));
          throw new Fault('UNAVAILABLE', 'The answer was lost.');
        },
      };
      const auditor = createAuditor({ auditLog: lost, clock });
      await auditor.record(entryOf('before')).catch(() => {});
      fails = true;
      await Promise.all(['a', 'b', 'c'].map((target) => auditor.record(entryOf(target))));
      const rows = await rowsOf(auditLog);
      expectChain(rows);
      expect(rows.map(({ target }) => target)).toEqual(['before', 'a', 'b', 'c']);
    }
  });

  it('rejects what it could not store, and goes on afterwards', async () => {
    const auditLog = freshLog();
    let away = true;
    const down: AuditLog = {
      ...auditLog,
      append: async (...given) => {
        if (away) throw new Fault('UNAVAILABLE', 'down');
        return auditLog.append(...given);
      },
    };
    const auditor = createAuditor({ auditLog: down, clock });
    await expect(auditor.record(entryOf('lost'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    away = false;
    await auditor.record(entryOf('kept'));
    const rows = await rowsOf(auditLog);
    expectChain(rows);
    expect(rows.map(({ target }) => target)).toEqual(['kept']);
  });

  it('(D4) mends text that no canonical JSON can hold', async () => {
    const auditLog = freshLog();
    await createAuditor({ auditLog, clock }).record({ ...entryOf('\uD800'), actor: 'x'.repeat(5_000) });
    const [row] = await rowsOf(auditLog);
    expect(row?.target).toBe('\uFFFD');
    expect(row?.actor).toHaveLength(1_000);
  });
});
