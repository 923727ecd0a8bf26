import type { Logger } from '@dormouse/ports';
import type { Admin, ITopicConfig } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeTopics } from './topic-making.ts';

const warn = vi.fn<Logger['warn']>();
const logger: Logger = { info: () => {}, warn, error: () => {} };

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  warn.mockReset();
});

const refusal = (type: string, retriable: boolean, topic?: string): Error =>
  Object.assign(new Error(`refused with ${type}`), { type, retriable, topic });
const each = (...errors: readonly Error[]): Error => Object.assign(new Error('Topic creation errors'), { errors });

/** Brokers that have `there`, refuse to create topics with `refusals` in order, and lead them `lag` questions later. */
function brokers({ there = ['b'], refusals = [] as Error[], lag = 0 }) {
  const made: (readonly string[])[] = [];
  const known = new Set(there);
  let late: readonly string[] = [];
  const settle = (): void => {
    if (late.length > 0 && lag-- <= 0) for (const topic of late) known.add(topic);
  };
  return {
    made,
    listTopics: async () => [...known],
    createTopics: async ({ topics }: { readonly topics: readonly ITopicConfig[] }) => {
      made.push(topics.map(({ topic }) => topic));
      const refused = refusals.shift();
      if (refused !== undefined) throw refused;
      late = topics.map(({ topic }) => topic);
      return true;
    },
    fetchTopicOffsets: async (topic: string) => {
      settle();
      if (!known.has(topic)) throw refusal('NOT_LEADER_FOR_PARTITION', true);
      return [];
    },
  };
}

async function making(admin: ReturnType<typeof brokers>): Promise<unknown> {
  const done = makeTopics(admin as unknown as Admin, [{ topic: 'a' }, { topic: 'b' }], logger).catch((error) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  return done;
}

describe('makeTopics', () => {
  it('I1 makes what is missing, and nothing when nothing is', async () => {
    const admin = brokers({});
    expect(await making(admin)).toBeUndefined();
    expect(admin.made).toEqual([['a']]);
    expect(await making(admin)).toBeUndefined();
    expect(admin.made).toEqual([['a']]);
  });

  it('I2 waits until the brokers lead them, and says so once', async () => {
    const admin = brokers({ lag: 50 });
    expect(await making(admin)).toBeUndefined();
    expect(warn.mock.calls).toEqual([
      ['topics_awaited', { because: 'a: refused with NOT_LEADER_FOR_PARTITION (NOT_LEADER_FOR_PARTITION)' }],
    ]);
  });

  it.each([
    ['a broker that was too slow', each(refusal('REQUEST_TIMED_OUT', true, 'a'))],
    ['brokers that are still starting', each(refusal('INVALID_REPLICATION_FACTOR', false, 'a'))],
    ['somebody who made one meanwhile', each(refusal('TOPIC_ALREADY_EXISTS', false, 'b'))],
    ['another controller', refusal('NOT_CONTROLLER', true)],
  ])('I3 waits for %s', async (_whom, refused) => {
    const admin = brokers({ refusals: [refused] });
    expect(await making(admin)).toBeUndefined();
    expect(admin.made).toEqual([['a'], ['a']]);
  });

  it('I3 names the topics, and the setting, when there stay too few brokers', async () => {
    const refusals = Array.from({ length: 1_000 }, () => each(refusal('INVALID_REPLICATION_FACTOR', false, 'a')));
    expect(await making(brokers({ refusals }))).toMatchObject({
      code: 'TOPICS_UNFIT',
      message: expect.stringMatching(/cannot be made, or have no leader: a: .*DORMOUSE_KAFKA_REPLICATION/),
    });
    expect(refusals.length).toBeGreaterThan(600);
  });

  it('I3 names the topic that gets no leader', async () => {
    expect(await making(brokers({ lag: Number.POSITIVE_INFINITY }))).toMatchObject({
      code: 'TOPICS_UNFIT',
      message: expect.stringContaining('no leader: a: refused with NOT_LEADER_FOR_PARTITION'),
    });
  });

  it('I3 asks again where no broker listed its topics, and where a request was given up', async () => {
    const admin = brokers({});
    const failures: Error[] = [
      new TypeError("Cannot destructure property 'topicMetadata'"),
      Object.assign(new Error('given up', { cause: refusal('LEADER_NOT_AVAILABLE', true) }), { retriable: false }),
      Object.assign(new Error('Request Metadata timed out'), { retriable: true }),
    ];
    const listTopics = async (): Promise<string[]> => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return admin.listTopics();
    };
    expect(await making({ ...admin, listTopics })).toBeUndefined();
    expect(failures).toEqual([]);
  });

  it('I3 does not ask again after what does not pass', async () => {
    const admin = brokers({ refusals: [each(refusal('POLICY_VIOLATION', false, 'a'))] });
    expect(await making(admin)).toMatchObject({ code: 'TOPICS_UNFIT', message: expect.stringContaining('a: refused') });
    const gone = new Error('connect ECONNREFUSED');
    expect(await making(brokers({ refusals: [gone] }))).toBe(gone);
    expect(admin.made).toHaveLength(1);
  });
});
