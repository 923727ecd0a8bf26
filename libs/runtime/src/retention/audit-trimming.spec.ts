import { tenantId } from '@dormouse/ports';
import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import { describe, expect, it } from 'vitest';
import { createAuditApi } from '../audit/audit-api.ts';
import { trimAudit } from './audit-trimming.ts';

const day = 86_400_000;
const tenant = tenantId('acme');
const auditSigner = { kid: 'k1', sign: (text: string) => `signed ${text}`, keys: { keys: [] } };

function rig() {
  const clock = createManualClock();
  const { auditLog } = createMemoryWorld({ clock }).ports('one');
  const audit = createAuditApi({ auditLog, clock, auditSigner });
  const write = async (count: number, from = 0): Promise<void> => {
    for (let nth = 0; nth < count; nth += 1)
      await audit.record({
        ...{ tenant, actor: 'key_1', action: 'secret.set', target: `secret_${from + nth}`, from: null },
        ...{ outcome: 'done', requestId: null },
      });
  };
  const trim = (days: number) => trimAudit({ auditLog, audit }, tenant, clock.now() - days * day);
  const rows = async () => auditLog.page(tenant, {}, { beyond: null, order: 'asc', limit: 10_000 });
  return { clock, auditLog, audit, write, trim, rows };
}

async function linesOf<Line>(lines: AsyncIterable<Line>): Promise<readonly Line[]> {
  const all: Line[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe('an audit that is kept for a time', () => {
  it('loses its oldest rows, says so in a row, and goes on with their numbers and hashes', async () => {
    const { clock, write, trim, rows } = rig();
    await write(1_200);
    await clock.jump(40 * day);
    await write(3, 1_200);
    const before = await rows();
    expect(await trim(30)).toBe(1_200);
    const after = await rows();
    expect(after.slice(0, 3)).toEqual(before.slice(1_200));
    expect(after.slice(3)).toMatchObject([
      { seq: 1_204, actor: 'retention', action: 'audit.trimmed', outcome: 'rows 1 to 1200', prev: before.at(-1)?.hash },
    ]);
    expect(await trim(30)).toBe(0);
  });

  it('(A1, A2) keeps its last row, and everything while the oldest row is less than a day too old', async () => {
    const { clock, write, trim, rows } = rig();
    expect(await trim(30)).toBe(0);
    await write(2);
    await clock.jump(30 * day + day / 2);
    expect(await trim(30)).toBe(0);
    await clock.jump(day);
    expect(await trim(30)).toBe(1);
    expect((await rows()).map(({ seq, action }) => [seq, action])).toEqual([
      [2, 'secret.set'],
      [3, 'audit.trimmed'],
    ]);
  });

  it('(Q2) is exported from the signed root of what was removed', async () => {
    const { clock, audit, write, trim, rows } = rig();
    await write(5);
    const removed = (await rows())[4];
    await clock.jump(40 * day);
    await write(2);
    await trim(30);
    const [begin, ...rest] = await linesOf(audit.export(tenant));
    expect(begin).toMatchObject({ root: { seq: 5, hash: removed?.hash, kid: 'k1' } });
    expect(rest.slice(0, -1)).toEqual(await rows());
    expect(rest.at(-1)).toMatchObject({ root: { seq: 8 } });
  });
});
