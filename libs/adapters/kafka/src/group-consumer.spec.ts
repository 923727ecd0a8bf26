// The consumer over the real kafkajs and brokers in memory.
import { type Assignment, type Logger, noMetrics } from '@dormouse/ports';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type GroupConsumer, joinGroup } from './group-consumer.ts';
import { BrokersInMemory, notLeader, staleAssignment, topic } from './spec/brokers-in-memory.ts';

const withinMs = 20_000;
const open: GroupConsumer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((consumer) => consumer.close(100)));
});

interface Taken {
  readonly claim: Assignment;
  readonly value: string;
  readonly finish: () => void;
}

interface Process {
  readonly taken: Taken[];
  readonly assigned: Assignment[];
  readonly errors: { readonly event: string; readonly fields: unknown }[];
  readonly consumer: GroupConsumer;
  isBusy: boolean;
}

async function startProcess(brokers: BrokersInMemory): Promise<Process> {
  const taken: Taken[] = [];
  const assigned: Assignment[] = [];
  const errors: Process['errors'] = [];
  const state = { isBusy: false };
  const logger: Logger = {
    info: () => {},
    warn: () => {},
    error: (event, fields) => void errors.push({ event, fields }),
  };
  const commitTimes = noMetrics.histogram('dormouse_store_duration_seconds');
  const consumer = await joinGroup(
    { kafka: brokers.kafka(), groupId: 'processors', topic, sessionTimeoutMs: 400, logger, commitTimes },
    {
      assigned: (claim) => void assigned.push(claim),
      revoked: async () => {},
      busy: () => state.isBusy,
      record: (claim, { value }, finish) => void taken.push({ claim, value: String(value), finish }),
    },
  );
  open.push(consumer);
  return Object.assign(state, { taken, assigned, errors, consumer });
}

const until = (look: () => void): Promise<void> => vi.waitFor(look, { timeout: withinMs, interval: 5 });
const valuesOf = (taken: readonly Taken[]): readonly string[] => taken.map(({ value }) => value);

describe('C11 a leader that moves', () => {
  it('is looked up: the group is not joined again, nothing is handed over twice, and the other partitions do not wait', async () => {
    const brokers = new BrokersInMemory([1, 2]);
    const { taken, assigned, errors } = await startProcess(brokers);
    brokers.append(0, 'a');
    brokers.append(1, 'b');
    await until(() => expect(taken).toHaveLength(2));
    const { generation } = brokers;
    for (let round = 0; round < 4; round += 1) {
      brokers.failing.set(brokers.leaders[0] ?? 1, notLeader());
      brokers.leaders[0] = 3 - (brokers.leaders[0] ?? 1);
      brokers.wake();
      brokers.append(0, `a${round}`);
      brokers.append(1, `b${round}`);
      await until(() => expect(taken).toHaveLength(4 + 2 * round));
    }
    expect(brokers.generation).toBe(generation);
    expect(assigned).toHaveLength(2);
    expect(valuesOf(taken).toSorted()).toEqual(['a', 'a0', 'a1', 'a2', 'a3', 'b', 'b0', 'b1', 'b2', 'b3']);
    expect(errors).toEqual([]);
    for (const { finish } of taken) finish();
    await until(() => expect([brokers.committed.get(0)?.offset, brokers.committed.get(1)?.offset]).toEqual(['5', '5']));
  });
});

describe('C7 a fetch belongs to the positions that it was sent with', () => {
  it('an answer that comes late, after another broker made the group join again, is dropped', async () => {
    const brokers = new BrokersInMemory([1, 2]);
    const { taken, errors } = await startProcess(brokers);
    brokers.append(1, 'a', 'b', 'c');
    await until(() => expect(valuesOf(taken)).toEqual(['a', 'b', 'c']));
    const { generation } = brokers;
    brokers.failing.set(1, staleAssignment()); // node 1 joins again while the long poll of node 2 waits behind c
    await until(() => expect(brokers.generation).toBe(generation + 1));
    brokers.append(1, 'd');
    await until(() => expect(valuesOf(taken.slice(3))).toEqual(['a', 'b', 'c', 'd']));
    taken.at(-1)?.finish();
    await sleep(400);
    expect(Number(brokers.committed.get(1)?.offset ?? 0)).toBe(0); // a, b and c are not finished
    for (const { finish } of taken.slice(3)) finish();
    await until(() => expect(brokers.committed.get(1)?.offset).toBe('4'));
    expect(errors).toEqual([]);
  });

  it('two brokers that fail together make the group join once, and nothing is handed over twice to one claim', async () => {
    const brokers = new BrokersInMemory([1, 2]);
    const { taken } = await startProcess(brokers);
    brokers.append(0, 'a');
    brokers.append(1, 'b');
    await until(() => expect(taken).toHaveLength(2));
    const { generation } = brokers;
    for (const node of [1, 2]) brokers.failing.set(node, staleAssignment());
    brokers.wake();
    await until(() => expect(taken).toHaveLength(4));
    await sleep(300);
    expect(brokers.generation).toBe(generation + 1);
    expect(taken).toHaveLength(4);
  });
});

describe('C8 offsets that the log does not have', () => {
  it('records that are acknowledged after the tail of a log was lost are handed over, and it is said what is lost', async () => {
    const brokers = new BrokersInMemory([1]);
    const { taken, errors } = await startProcess(brokers);
    brokers.append(0, '0', '1', '2', '3');
    await until(() => expect(taken).toHaveLength(4));
    for (const { finish } of taken) finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('4'));
    brokers.cutTail(0, 2);
    await until(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toMatchObject({ event: 'records_missing', fields: { topic, partition: 0, next: 4, from: 0 } });
    brokers.append(0, 'after');
    await until(() => expect(valuesOf(taken.slice(4))).toEqual(['0', '1', 'after']));
    for (const { finish } of taken.slice(4)) finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('3'));
  });

  it('a committed offset behind the end of the log begins at what is there', async () => {
    const brokers = new BrokersInMemory([1]);
    brokers.append(0, 'a', 'b');
    brokers.committed.set(0, { partition: 0, offset: '9', metadata: '' });
    const { taken, errors } = await startProcess(brokers);
    await until(() => expect(valuesOf(taken)).toEqual(['a', 'b']));
    expect(errors).toMatchObject([{ event: 'records_missing', fields: { next: 9, from: 0 } }]);
  });

  it('after retention removed records that were not handled the rest is handed over, and it is said which are lost', async () => {
    const brokers = new BrokersInMemory([1]);
    brokers.append(0, 'a', 'b', 'c', 'd');
    brokers.removeBefore(0, 2);
    brokers.committed.set(0, { partition: 0, offset: '1', metadata: '' });
    const { taken, errors } = await startProcess(brokers);
    await until(() => expect(valuesOf(taken)).toEqual(['c', 'd']));
    expect(errors).toMatchObject([{ event: 'records_missing', fields: { next: 1, from: 2 } }]);
  });

  it('a partition without a committed offset begins where its log begins', async () => {
    const brokers = new BrokersInMemory([1]);
    brokers.append(0, 'a', 'b', 'c');
    brokers.removeBefore(0, 2);
    const { taken, errors } = await startProcess(brokers);
    await until(() => expect(valuesOf(taken)).toEqual(['c']));
    taken[0]?.finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('3'));
    expect(errors).toEqual([]);
  });

  it('a claim that has met no record commits nothing when it ends: the next one misses none', async () => {
    const brokers = new BrokersInMemory([1]);
    brokers.append(0, 'a', 'b');
    brokers.removeBefore(0, 2);
    const first = await startProcess(brokers);
    await first.consumer.close(0);
    expect(brokers.committed.get(0)).toBeUndefined();
    const { taken, errors } = await startProcess(brokers);
    brokers.append(0, 'c');
    await until(() => expect(valuesOf(taken)).toEqual(['c']));
    expect(errors).toEqual([]);
  });
});

describe('C9 offsets that are missing between two records', () => {
  it('the claim stands before them, says so and never commits over them, and goes on when another copy has them', async () => {
    const brokers = new BrokersInMemory([1]);
    const { taken, errors, consumer } = await startProcess(brokers);
    brokers.append(0, 'a');
    await until(() => expect(taken).toHaveLength(1));
    brokers.leaveOut(0, 3, 'd');
    await until(() => expect(errors).toHaveLength(1));
    expect(errors).toMatchObject([{ event: 'records_missing', fields: { topic, partition: 0, next: 1, found: 3 } }]);
    expect(consumer.problem()).toContain('partition 0');
    taken[0]?.finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('1'));
    await sleep(600); // the fetch is repeated, and the record is missing again
    expect(valuesOf(taken)).toEqual(['a']);
    expect(brokers.committed.get(0)?.offset).toBe('1');
    brokers.putBack(0, 1, 'b', 'c');
    await until(() => expect(valuesOf(taken)).toEqual(['a', 'b', 'c', 'd']));
    expect(consumer.problem()).toBeNull();
    for (const { finish } of taken) finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('4'));
    expect(errors).toHaveLength(1);
  });

  it('a position that passed what no claim was given is taken back, and said aloud', async () => {
    const brokers = new BrokersInMemory([1]);
    const { taken, errors } = await startProcess(brokers);
    brokers.append(0, 'a');
    await until(() => expect(taken).toHaveLength(1));
    brokers.appendMark(0); // kafkajs skips it without the consumer
    await sleep(50);
    brokers.append(0, 'b');
    await until(() => expect(errors).toHaveLength(1));
    expect(errors).toMatchObject([{ event: 'records_missing', fields: { next: 1, found: 2 } }]);
  });

  it('a newer leader behind them has lost them: what follows is handed over, and what is unfinished stays so', async () => {
    const brokers = new BrokersInMemory([1]);
    const { taken, errors } = await startProcess(brokers);
    brokers.append(0, 'a');
    await until(() => expect(taken).toHaveLength(1)); // and not finished
    brokers.leaderEpoch += 1;
    brokers.leaveOut(0, 3, 'd');
    await until(() => expect(valuesOf(taken)).toEqual(['a', 'd']));
    expect(errors).toMatchObject([{ event: 'records_missing', fields: { next: 1, found: 3 } }]);
    taken[1]?.finish();
    await until(() => expect(brokers.committed.get(0)).toBeDefined());
    expect(brokers.committed.get(0)?.offset).toBe('0');
    taken[0]?.finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('4'));
  });
});

describe('C10 no two claims of a process have one name', () => {
  it('neither in one generation nor when the group counts anew', async () => {
    const brokers = new BrokersInMemory([1]);
    const { taken, assigned, errors } = await startProcess(brokers);
    brokers.append(0, 'a', 'b');
    await until(() => expect(taken).toHaveLength(2));
    brokers.cutTail(0, 1);
    await until(() => expect(errors).toHaveLength(1));
    await until(() => expect(assigned).toHaveLength(2));
    await until(() => expect(valuesOf(taken.slice(2))).toEqual(['a'])); // the next claim must not be the first
    brokers.generation = 0;
    brokers.failing.set(1, staleAssignment());
    brokers.wake();
    await until(() => expect(assigned).toHaveLength(3));
    expect(new Set(assigned.map(({ partition, generation }) => `${partition}.${generation}`)).size).toBe(3);
    await until(() => expect(valuesOf(taken.slice(2))).toEqual(['a', 'a']));
    taken.at(-1)?.finish();
    await until(() => expect(brokers.committed.get(0)?.offset).toBe('1'));
  });
});

describe('C4 one consumer of a group per process', () => {
  it.each([1, 2, 3, 4])(
    'consumers that are lost while they are built again leave no member behind: %i processes',
    async (count) => {
      const brokers = new BrokersInMemory([1, 2]);
      const processes = await Promise.all(Array.from({ length: count }, () => startProcess(brokers)));
      await until(() =>
        expect(new Set(processes.flatMap(({ consumer }) => [...consumer.owned()]))).toEqual(new Set([0, 1])),
      );
      for (let round = 0; round < 2; round += 1) {
        brokers.refusedJoins = 3 * count;
        for (const node of [1, 2]) brokers.failing.set(node, staleAssignment());
        brokers.wake();
        await until(() => {
          expect(brokers.refusedJoins).toBe(0);
          expect(processes.map(({ consumer }) => consumer.problem())).toEqual(processes.map(() => null));
        });
      }
      await sleep(1_000);
      expect(brokers.memberCount).toBe(count);
      brokers.append(0, 'a');
      brokers.append(1, 'b');
      await until(() => expect(valuesOf(processes.flatMap(({ taken }) => taken)).toSorted()).toEqual(['a', 'b']));
    },
  );

  it.each(['brokenJoins', 'brokenOffsetFetches'] as const)(
    'one whose join ends in %s is built again: it would hand nothing over',
    async (broken) => {
      const brokers = new BrokersInMemory([1]);
      const { taken } = await startProcess(brokers);
      brokers.append(0, 'a');
      await until(() => expect(taken).toHaveLength(1));
      brokers[broken] = 1;
      brokers.failing.set(1, staleAssignment());
      brokers.wake();
      await until(() => expect(brokers[broken]).toBe(0));
      brokers.append(0, 'b');
      await until(() => expect(valuesOf(taken)).toEqual(['a', 'a', 'b']));
      expect(brokers.memberCount).toBe(1);
    },
  );

  it('a first join that fails leaves nothing behind', async () => {
    const brokers = new BrokersInMemory([1]);
    brokers.refusedJoins = 1;
    await expect(startProcess(brokers)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await sleep(600);
    expect(brokers.memberCount).toBe(0);
  });

  it('a join that ends after the consumer was closed is left again', async () => {
    const brokers = new BrokersInMemory([1, 2]);
    const { consumer } = await startProcess(brokers);
    const { generation } = brokers;
    brokers.failing.set(1, staleAssignment());
    brokers.wake();
    await sleep(5);
    await consumer.close(0);
    await until(() => expect(brokers.memberCount).toBe(0));
    expect(brokers.generation).toBeGreaterThanOrEqual(generation);
  });

  it('a pause ends with its consumer: the next one is not held by it', async () => {
    const brokers = new BrokersInMemory([1]);
    const process = await startProcess(brokers);
    process.isBusy = true;
    brokers.append(0, 'a');
    await sleep(300);
    brokers.refusedJoins = 1;
    brokers.failing.set(1, staleAssignment());
    process.isBusy = false;
    brokers.wake();
    await until(() => expect(valuesOf(process.taken)).toEqual(['a']));
  });
});
