import { createManualClock, createMemoryWorld } from '@dormouse/adapter-memory';
import type { Commit, ThreadLog, Page } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { answered } from '../../refusal.ts';
import {
  answer,
  asked,
  by,
  key,
  message,
  result,
  settled,
  turnWith,
  type Written,
  written,
} from '../../spec/written-log.ts';
import { createTurnApi, type TurnPage } from './turn-list.ts';
import type { Turn } from './turn.ts';

async function lists(...commits: readonly Written[]) {
  const ports = createMemoryWorld({ clock: createManualClock() }).ports('ingress');
  const log: Commit[] = written([], ...commits);
  for (const commit of log) await ports.log.append([{ commit, owes: false }]);
  let read = 0;
  const counted: ThreadLog = {
    ...ports.log,
    append: (group) => ports.log.append(group),
    at: (...given) => ports.log.at(...given),
    findByInputs: (...given) => ports.log.findByInputs(...given),
    head: (...given) => ports.log.head(...given),
    read: async (...given) => {
      const block = await ports.log.read(...given);
      read += block.length;
      return block;
    },
  };
  const known = { find: async () => answered(key), keyOf: () => key, remember: () => {}, announce: async () => {} };
  const api = createTurnApi({ ...ports, log: counted, threads: known });
  const page = async (given: Partial<TurnPage>): Promise<Page<Turn>> => {
    const list = await api.list(key, { after: 0, limit: 50, turn: null, ...given });
    if (!list.ok) throw new Error(list.refusal.code);
    return list.value;
  };
  return { api, page, read: () => read, ledger: ports.ledger };
}

const many = (turns: number): readonly Written[] =>
  Array.from({ length: turns }, (_, index) => [
    ...turnWith(`${index}`, index * 100, [`call_${index}`], 'a'),
    result(index * 100 + 10, `msg_${index}`, `call_${index}`, `cmp_b${index}`, 'a'),
    answer(index * 100 + 20, `msg_${index}`, `cmp_b${index}`, 'a'),
  ]).flat();

/** A message that leaves `call_a` running. */
const detached: Written = {
  ...{ at: 200, turn: 'msg_x', cause: by('message', 'msg_x'), inputs: ['c:x'] },
  events: [{ type: 'ToolCallDetached', toolCallId: 'call_a' }, message('msg_x'), asked('cmp_x')],
};

describe('pages of turns', () => {
  it('U2 U3 give every turn once, the same whatever the limit and when asked for by id', async () => {
    const { page } = await lists(...many(7));
    const all = (await page({})).data;
    expect(all.map(({ turnId }) => turnId)).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `msg_${index}`));
    for (const limit of [1, 2, 7]) {
      const given: Turn[] = [];
      for (let after: string | null = '0'; after !== null;) {
        const { data, nextCursor }: Page<Turn> = await page({ after: Number(after), limit });
        given.push(...data);
        after = nextCursor;
      }
      expect(given).toEqual(all);
    }
    for (const turn of all) expect((await page({ turn: turn.turnId })).data).toEqual([turn]);
  });

  it('U1 read a few blocks of a long log', async () => {
    const { page, read } = await lists(...many(800));
    const { data, nextCursor } = await page({ limit: 3 });
    expect([data.length, read()]).toEqual([3, 200]);
    await page({ after: Number(nextCursor), limit: 3 });
    expect(read()).toBeLessThan(1_000);
    const { data: one } = await page({ turn: 'msg_700' });
    expect([one[0]?.turnId, read() < 2_000]).toEqual(['msg_700', true]);
  });

  it('U1 read on for what was open at the end of a page', async () => {
    const late: Written = { at: 99_000, turn: 'msg_299', cause: by('result', 'call_a'), events: [settled('call_a')] };
    const { page } = await lists(...turnWith('a', 1, ['call_a']), detached, ...many(300), late);
    const { data } = await page({ limit: 1 });
    expect(data[0]?.steps[1]).toMatchObject({ id: 'call_a', endedAt: 99_000, outcome: 'result' });
  });

  it('do not read on for what is open in the thread now', async () => {
    const { page, read } = await lists(
      ...turnWith('a', 1, ['call_a']),
      detached,
      answer(210, 'msg_x', 'cmp_x'),
      ...many(300),
    );
    const { data } = await page({ limit: 1 });
    expect(data[0]?.steps[1]).toMatchObject({ id: 'call_a', endedAt: null });
    expect(read()).toBe(200 + 4 + 4 * 300); // a block, and the state, of which there is no snapshot here
  });

  it('U3 know the trace of a message that an earlier turn queued, and the cause of a timer', async () => {
    const { page } = await lists(
      ...turnWith('1', 100, [], 'a').slice(0, 1),
      {
        ...{ at: 102, turn: 'msg_1', cause: by('message', 'msg_2'), inputs: ['c:2'], trace: 'b' },
        events: [{ type: 'MessageQueued', messageId: 'msg_2', content: [] }],
      },
      {
        ...{ at: 105, turn: 'msg_1', cause: by('completion', 'cmp_1'), trace: 'a' },
        events: [{ type: 'TimerSet', timerId: 'tmr_1', due: 300, reason: 'sleep' }],
      },
      { at: 106, turn: 'msg_2', cause: by('message', 'msg_2'), trace: 'a', events: [message('msg_2'), asked('cmp_2')] },
      answer(107, 'msg_2', 'cmp_2', 'b'),
      {
        ...{ at: 300, turn: 'tmr_1', cause: by('timer', 'tmr_1'), trace: 'c' },
        events: [{ type: 'TimerFired', timerId: 'tmr_1', scheduledFor: 300 }, asked('cmp_3')],
      },
    );
    const { data } = await page({});
    expect(data.map(({ traceId }) => traceId?.charAt(0))).toEqual(['a', 'b', 'c']);
    expect(data[2]?.steps[0]?.links).toEqual([{ traceId: 'a'.repeat(32), spanId: 'a'.repeat(16) }]);
    for (const turn of data) expect((await page({ turn: turn.turnId })).data).toEqual([turn]);
  });

  it('refuse an unknown turn', async () => {
    const { api } = await lists(...many(2));
    expect(await api.list(key, { after: 0, limit: 1, turn: 'msg_9' })).toMatchObject({ ok: false });
  });
});
