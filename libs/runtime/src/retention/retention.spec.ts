// Retention beside a real processor, in a memory world whose clock the spec moves.
import type { MemoryPorts } from '@dormouse/adapter-memory';
import { newTenant, noMetrics, type TenantRecord, type ThreadKey, type ThreadRow } from '@dormouse/ports';
import { inputIds, type ThreadInput } from '@dormouse/thread';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAuditor } from '../audit/auditor.ts';
import {
  type Actor,
  key,
  message,
  newRow,
  opened,
  opening,
  type Rig,
  type RigOptions,
} from '../thread-processor/spec/processor-rig.ts';
import type { Service } from '../service.ts';
import { createRetention } from './retention.ts';

const day = 86_400_000;
const minute = 60_000;
const logger = { info: () => {}, warn: () => {}, error: () => {} };

interface At {
  readonly rig: Rig;
  readonly ports: MemoryPorts;
  readonly actor: Actor;
  readonly stored: number[];
  sweep(node?: string): Service;
}

async function at(options: RigOptions = {}, tenant: Partial<TenantRecord> = { retentionDays: 30 }): Promise<At> {
  const { rig, actor } = await opened({ ...options, hasTenants: true });
  const { ports } = actor;
  await ports.tenants.insert(newTenant(key.tenant, 0, tenant));
  await ports.directory.insert({ ...newRow, createdAt: rig.clock.now(), updatedAt: rig.clock.now() });
  await say({ rig, ports }, 'msg_1');
  const stored: number[] = [];
  const sweep = (node = 'sweeper'): Service => {
    const own = rig.world.ports(node);
    return createRetention({
      ...{ ...own, inputs: ports.inputs, clock: rig.clock, logger, metrics: noMetrics },
      audit: createAuditor({ ...own, clock: rig.clock }),
      limits: { stored: (_tenant, bytes) => void stored.push(bytes) },
      settings: { days: null, auditDays: null },
    });
  };
  return { rig, ports, actor, stored, sweep };
}

async function say({ rig, ports }: Pick<At, 'rig' | 'ports'>, id: string, thread = key): Promise<void> {
  await ports.inputs.publish(thread, message(id));
  await rig.clock.advance(5_000);
}

const rowOf = ({ ports }: At, thread = key): Promise<ThreadRow | null> => ports.directory.get(thread);

/** Passes of the sweep, and of the processor. */
async function minutes({ rig }: At, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await rig.clock.advance(minute);
}

const auditOf = async ({ ports }: At) =>
  ports.auditLog.page(key.tenant, {}, { beyond: null, order: 'asc', limit: 100 });

/** Another root of the tenant, idle for as long as the first. */
async function another(from: At, thread: string, row: Partial<ThreadRow> = {}, input: Partial<ThreadInput> = {}) {
  const other: ThreadKey = { ...key, thread };
  await from.ports.directory.insert({ ...newRow, ...other, family: thread, ...row });
  const made = { ...opening(), id: inputIds.opening(thread), ...input } as ThreadInput;
  await from.ports.inputs.publish(other, made);
  await from.rig.clock.advance(50);
  return other;
}

describe('retention', () => {
  it('(R5) closes a family at rest and removes it, with its log, and says so', async () => {
    const here = await at();
    const { rig, ports } = here;
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(29 * day);
    await minutes(here, 30);
    expect(await rowOf(here)).toMatchObject({ status: 'idle' });
    expect(rig.told()).not.toContain('ThreadClosed');
    await rig.clock.jump(day);
    await minutes(here, 3);
    expect(await rowOf(here)).toMatchObject({ status: 'closed' });
    expect(rig.told()).toContain('ThreadClosed');
    const bytes = rig.commits().reduce((sum, { body }) => sum + body.length, 0);
    await minutes(here, 30);
    expect(await rowOf(here)).toBeNull();
    expect(rig.commits()).toEqual([]);
    expect(here.stored).toEqual([-bytes]);
    expect(await auditOf(here)).toMatchObject([
      { actor: 'retention', action: 'threads.removed', outcome: `1 threads, ${bytes} bytes` },
    ]);
    await minutes(here, 30);
    expect(await auditOf(here)).toHaveLength(1);
    expect((await ports.directory.usageTotal(key.tenant, { fromDay: 0, toDay: 99_999 })).completions).toBe(1);
    void service.stop(0);
  });

  it('(V1) loses to a message that comes first, at every moment until the thread is closed', async () => {
    const here = await at();
    const { rig, ports } = here;
    await rig.clock.jump(31 * day);
    // As the sweep would, up to its input: the mark is there, the message comes before it is decided.
    await ports.restingThreads.leave(key.tenant, [key.thread], rig.clock.now());
    const { leavingAt = 0 } = (await rowOf(here)) ?? {};
    const end: ThreadInput = {
      kind: 'RetentionEnd',
      id: inputIds.retentionEnd(String(leavingAt)),
      restingSince: leavingAt - 30 * day,
    };
    await Promise.all([ports.inputs.publish(key, message('msg_2')), ports.inputs.publish(key, end)]);
    const service = here.sweep();
    await service.start();
    await minutes(here, 60);
    expect(rig.told().filter((type) => type === 'MessageAccepted')).toHaveLength(2);
    expect(rig.told()).not.toContain('ThreadClosed');
    expect(await rowOf(here)).toMatchObject({ status: 'idle' });
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    void service.stop(0);
  });

  it('(V1) refuses a message that comes second in the log of the thread, and removes it later', async () => {
    const here = await at();
    const { rig, ports } = here;
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(31 * day);
    await minutes(here, 2);
    expect(rig.told()).toContain('ThreadClosed');
    await minutes(here, 5);
    await ports.inputs.publish(key, message('msg_2')).catch(() => undefined);
    await rig.clock.advance(5_000);
    expect(rig.told().at(-1)).toBe('MessageRefused');
    await minutes(here, 8); // the refusal can be read for as long as the thread could
    expect(await rowOf(here)).not.toBeNull();
    await minutes(here, 6);
    expect(await rowOf(here)).toBeNull();
    expect(rig.commits()).toEqual([]);
    void service.stop(0);
  });

  it('(V2) keeps a thread that was woken while it was marked, and closed by its client', async () => {
    const here = await at();
    const { rig, ports } = here;
    await rig.clock.jump(31 * day);
    await ports.restingThreads.leave(key.tenant, [key.thread], rig.clock.now());
    await say(here, 'msg_2');
    await ports.inputs.publish(key, { kind: 'CloseRequest', id: 'c:x', requestId: 'req_x' });
    await rig.clock.advance(5_000);
    const service = here.sweep();
    await service.start();
    await minutes(here, 60);
    expect(await rowOf(here)).toMatchObject({ status: 'closed' });
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    await rig.clock.jump(31 * day); // of a thread that nothing has used since
    await minutes(here, 30);
    expect(await rowOf(here)).toBeNull();
    void service.stop(0);
  });

  it('(F1) keeps what another family begins with, until that goes itself', async () => {
    const here = await at();
    const { rig, ports } = here;
    const fork = await another(here, 'thr_fork', { forkedFrom: key.thread }, {
      fork: { from: { threadId: key.thread, position: 3 }, askAgain: false },
    } as object);
    await rig.clock.jump(20 * day);
    await ports.inputs.publish(fork, { kind: 'CloseRequest', id: 'c:x', requestId: 'req_x' });
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(15 * day);
    await minutes(here, 30);
    expect(await rowOf(here)).toMatchObject({ status: 'idle' });
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    await rig.clock.jump(16 * day);
    await minutes(here, 60);
    expect(await rowOf(here, fork)).toBeNull();
    expect(await rowOf(here)).toBeNull();
    void service.stop(0);
  });

  it('(F1) keeps a family while one of its threads is used', async () => {
    const here = await at();
    const { rig } = here;
    const child = await another(here, 'thr_child', { parent: key.thread, family: key.thread });
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(20 * day);
    await say(here, 'msg_child', child);
    await rig.clock.jump(20 * day);
    await minutes(here, 30);
    expect(await rowOf(here)).toMatchObject({ status: 'idle' });
    void service.stop(0);
  });

  it.each<readonly [string, Partial<TenantRecord>]>([
    ['has no days', {}],
    ['is suspended', { retentionDays: 30, state: 'suspended' }],
    ['keeps threads longer', { retentionDays: 400 }],
  ])('(R3) removes nothing of a tenant that %s', async (_what, tenant) => {
    const here = await at({}, tenant);
    const service = here.sweep();
    await service.start();
    await here.rig.clock.jump(99 * day);
    await minutes(here, 30);
    expect(await rowOf(here)).toMatchObject({ status: 'idle' });
    void service.stop(0);
  });

  it('(R4) takes the marks back when a tenant keeps its threads for ever again', async () => {
    const here = await at();
    const { rig, ports } = here;
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(31 * day);
    await minutes(here, 3);
    expect((await rowOf(here))?.leavingAt).toBeDefined();
    const seen = await ports.tenants.get(key.tenant);
    if (seen !== null) await ports.tenants.replace({ ...seen, retentionDays: null }, seen);
    await minutes(here, 60);
    expect(await rowOf(here)).toMatchObject({ status: 'closed' });
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    void service.stop(0);
  });

  it('a clock that jumped ahead, and was set back, has removed nothing', async () => {
    const here = await at();
    const { rig, ports } = here;
    const ahead = rig.clock.now() + 400 * day;
    await ports.restingThreads.leave(key.tenant, [key.thread], ahead); // by a process with that clock
    await ports.inputs.publish(key, {
      kind: 'RetentionEnd',
      id: inputIds.retentionEnd(String(ahead)),
      restingSince: ahead,
    });
    const service = here.sweep();
    await service.start();
    await minutes(here, 60);
    expect(await rowOf(here)).toMatchObject({ status: 'closed' });
    expect(rig.commits().length).toBeGreaterThan(0);
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    void service.stop(0);
  });

  it('(R2) is one removal, however many processes sweep, and goes on where one has ended', async () => {
    const here = await at();
    const { rig } = here;
    const services = ['s1', 's2', 's3'].map((node) => here.sweep(node));
    for (const service of services) await service.start();
    await rig.clock.jump(31 * day);
    await minutes(here, 3);
    void services[0]?.stop(0);
    void services[1]?.stop(0);
    await minutes(here, 30);
    expect(await rowOf(here)).toBeNull();
    expect(await auditOf(here)).toHaveLength(1);
    void services[2]?.stop(0);
  });

  it('(V5) leaves a thread alone whose row does not show what it has open', async () => {
    const here = await at();
    const { rig, ports } = here;
    const schedule = { cron: '0 9 1 1 *', timeZone: 'UTC', message: 'A new year.', missed: 'skip' } as const;
    await ports.inputs.publish(key, {
      kind: 'ScheduleRequest',
      id: 'c:s',
      requestId: 'req_s',
      scheduleId: 'sch_1',
      schedule,
    });
    await rig.clock.advance(5_000);
    const service = here.sweep();
    await service.start();
    await rig.clock.jump(31 * day);
    await minutes(here, 60);
    expect(rig.told()).not.toContain('ThreadClosed');
    expect((await rowOf(here))?.leavingAt).toBeUndefined();
    void service.stop(0);
  });
});

interface Deed {
  readonly do: 'wait' | 'say' | 'fork' | 'child' | 'close';
  /** Of what is there. */
  readonly nth: number;
  readonly days: number;
}

interface Known {
  readonly thread: ThreadKey;
  readonly family: string;
  /** Family that it begins with. */
  readonly begins: string | null;
  usedAt: number;
}

const deeds = fc.array(
  fc.record<Deed>({
    do: fc.constantFrom('wait', 'wait', 'say', 'fork', 'child', 'close'),
    nth: fc.nat(5),
    days: fc.integer({ min: 1, max: 32 }),
  }),
  { minLength: 4, maxLength: 12 },
);

/** Does it, if it can be done, and notes which threads were used. */
async function act(here: At, known: Known[], deed: Deed, name: string): Promise<void> {
  const { rig, ports } = here;
  if (deed.do === 'wait') {
    await rig.clock.jump(deed.days * day);
    return minutes(here, 25);
  }
  const chosen = known[deed.nth % known.length];
  const row = chosen === undefined ? null : await rowOf(here, chosen.thread);
  if (chosen === undefined || row === null || row.status === 'closed' || row.leavingAt !== undefined) return undefined;
  const { thread } = chosen.thread;
  const now = rig.clock.now();
  if (deed.do === 'fork') {
    const fork = { from: { threadId: thread, position: row.position }, askAgain: false };
    const made = await another(here, name, { forkedFrom: thread, createdAt: now, updatedAt: now }, { fork } as object);
    known.push({ thread: made, family: name, begins: chosen.family, usedAt: now });
  } else if (deed.do === 'child') {
    const above = { parent: thread, family: chosen.family, createdAt: now, updatedAt: now };
    known.push({ thread: await another(here, name, above), family: chosen.family, begins: null, usedAt: now });
  } else if (deed.do === 'close') {
    await ports.inputs.publish(chosen.thread, { kind: 'CloseRequest', id: `c:${name}`, requestId: `req_${name}` });
    await rig.clock.advance(5_000);
    chosen.usedAt = now;
  } else {
    await say(here, `msg_${name}`, chosen.thread);
    chosen.usedAt = now;
  }
}

it(
  'removes nothing that was used within its days, and nothing that a thread of another family begins with',
  { timeout: 120_000 },
  async () => {
    let removed = 0;
    await fc.assert(
      fc.asyncProperty(deeds, async (todo) => {
        const here = await at();
        const known: Known[] = [{ thread: key, family: key.thread, begins: null, usedAt: here.rig.clock.now() }];
        const service = here.sweep();
        await service.start();
        for (const [nth, deed] of todo.entries()) {
          await act(here, known, deed, `thr_made_${nth}`);
          const present = new Set<Known>();
          for (const each of known) if ((await rowOf(here, each.thread)) !== null) present.add(each);
          const gone = known.filter((each) => !present.has(each));
          removed += gone.length;
          for (const { family } of gone) {
            const ofFamily = known.filter((each) => each.family === family);
            const newest = Math.max(...ofFamily.map(({ usedAt }) => usedAt));
            expect(here.rig.clock.now() - newest).toBeGreaterThan(30 * day);
            expect([...present].filter((each) => each.family === family)).toEqual([]);
            expect([...present].filter(({ begins }) => begins === family)).toEqual([]);
          }
        }
        await service.stop(0);
      }),
      { numRuns: 30 },
    );
    expect(removed).toBeGreaterThan(10); // else it has shown nothing
  },
);
