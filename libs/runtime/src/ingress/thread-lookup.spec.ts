import type { ThreadRow } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { type Stage, stage } from './spec/stage.ts';
import { createThreadLookup, type ThreadLookup } from './thread-lookup.ts';

const row: ThreadRow = {
  tenant: 'acme',
  thread: 'thr_1',
  status: 'idle',
  agent: 'helper',
  agentVersion: 1,
  parent: null,
  family: 'thr_1',
  userId: null,
  externalId: null,
  title: null,
  metadata: {},
  createdAt: 0,
  updatedAt: 0,
  position: 1,
  opening: null,
};

/** As a request names it: an object of its own, the thread a piece of a longer text. */
const named = (tenant = 'acme', path = '/v1/threads/thr_1/messages') => ({ tenant, thread: path.slice(12, 17) });

async function lookup(): Promise<{ readonly at: Stage; readonly threads: ThreadLookup }> {
  const at = stage();
  await at.ports.directory.insert(row);
  return { at, threads: createThreadLookup({ directory: at.ports.directory, bus: at.ports.inputs }) };
}

describe('the key of a thread', () => {
  it('is one, whoever names it, from the first time that it is looked for', async () => {
    const { threads } = await lookup();
    const first = await threads.find(named());
    const second = await threads.find(named());
    if (!first.ok || !second.ok) throw new Error('it is there');
    expect(first.value).toEqual(named());
    expect(second.value).toBe(first.value);
    expect(threads.keyOf(named())).toBe(first.value);
  });

  it('is the one that was given while nothing was looked for', async () => {
    const { threads } = await lookup();
    const given = named();
    expect(threads.keyOf(given)).toBe(given);
  });

  it('is nobody else’s', async () => {
    const { threads } = await lookup();
    await threads.find(named());
    const stranger = named('other');
    expect(await threads.find(stranger)).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
    expect(threads.keyOf(stranger)).toBe(stranger);
  });

  it('stands at once for a thread that was just opened, and nothing is read', async () => {
    const { at } = await lookup();
    const directory = { ...at.ports.directory, get: () => Promise.reject(new Error('read')) };
    const threads = createThreadLookup({ directory, bus: at.ports.inputs });
    const opened = named();
    threads.remember(opened);
    expect(threads.find(named())).toEqual({ ok: true, value: opened });
    expect(threads.keyOf(named())).toBe(opened);
  });
});
