import type { Producer, ProducerBatch, RecordMetadata } from 'kafkajs';
import { createRequire } from 'node:module';
import { setImmediate as settled } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRecordSender, type OutgoingRecord } from './record-sender.ts';

const record = (value: string, partition = 0): OutgoingRecord => ({
  ...{ topic: 'inputs', partition, key: 'acme:thr_1', value, headers: {} },
});

/** A producer that accepts every record and keeps what each request held. */
function producer(): { readonly sent: readonly (readonly string[])[]; readonly of: Producer } {
  const sent: string[][] = [];
  const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> => {
    sent.push(topicMessages.flatMap(({ messages }) => messages.map(({ value }) => String(value))));
    return topicMessages.flatMap(({ topic, messages }) =>
      messages.map(({ partition = 0 }) => ({ topicName: topic, partition, errorCode: 0 })),
    );
  };
  return { sent, of: { sendBatch } as unknown as Producer };
}

afterEach(() => void vi.useRealTimers());

it('S1 what is ready together leaves together, in order', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  await Promise.all(['a', 'b', 'c'].map((value) => sender.send(record(value))));
  expect(sent).toEqual([['a', 'b', 'c']]);
});

it('S1 what comes alone leaves at once; what follows many records leaves with those that come within the linger', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  for (const value of ['a', 'b']) {
    void sender.send(record(value));
    await settled();
  }
  expect(sent).toEqual([['a'], ['b']]);
  const batch = ['1', '2', '3', '4', '5', '6'];
  for (const value of batch) void sender.send(record(value));
  await settled();
  for (const value of ['c', 'd']) {
    void sender.send(record(value));
    await settled();
  }
  expect(sent.slice(2)).toEqual([batch]);
  await vi.advanceTimersByTimeAsync(6);
  expect(sent.slice(3)).toEqual([['c', 'd']]);
});

describe('S4 a request without an answer', () => {
  /** A producer whose partition 1 has no leader until `elect`. */
  function halfDead(): { readonly requests: string[][]; readonly elect: () => void; readonly of: Producer } {
    const requests: string[][] = [];
    const { promise: elected, resolve: elect } = Promise.withResolvers<void>();
    const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> => {
      const messages = topicMessages.flatMap((each) => each.messages);
      requests.push(messages.map(({ value }) => String(value)));
      if (messages.some(({ partition }) => partition === 1)) await elected;
      return messages.map(({ partition = 0 }) => ({ topicName: 'inputs', partition, errorCode: 0 }));
    };
    return { requests, elect, of: { sendBatch, disconnect: async () => {} } as unknown as Producer };
  }

  it('holds back its partition alone, and keeps its order', async () => {
    const { requests, elect, of } = halfDead();
    const sender = createRecordSender(of, 1_000_000);
    const held = [sender.send(record('b', 1))];
    await vi.waitFor(() => expect(requests).toEqual([['b']]));
    held.push(sender.send(record('d', 1)), sender.send(record('f', 1)));
    await Promise.all([sender.send(record('a', 0)), sender.send(record('c', 2)), sender.send(record('e', 0))]);
    await sender.send(record('g', 0)); // while nothing else may leave
    expect(requests).toEqual([['b'], ['a', 'e'], ['c'], ['g']]);
    elect();
    await Promise.all(held);
    expect(requests.slice(4)).toEqual([['d', 'f']]);
  });

  it('is waited for by close', async () => {
    const { requests, elect, of } = halfDead();
    const sender = createRecordSender(of, 1_000_000);
    const held = sender.send(record('b', 1));
    await vi.waitFor(() => expect(requests).toEqual([['b']]));
    await sender.send(record('a', 0));
    let isClosed = false;
    const closed = sender.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    elect();
    await Promise.all([held, closed]);
  });
});

it('S3 a request is bounded in bytes, whatever letters they are', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  const text = '漢'.repeat(20_000);
  await Promise.all(Array.from({ length: 50 }, () => sender.send(record(text))));
  expect(sent.flat()).toHaveLength(50);
  for (const values of sent) expect(Buffer.byteLength(values.join(''))).toBeLessThanOrEqual(800_000);
});

it('S3 a record above the limit is refused alone', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 10);
  const [small, large] = await Promise.allSettled([sender.send(record('a')), sender.send(record('漢漢漢漢'))]);
  expect(small.status).toBe('fulfilled');
  expect(large).toMatchObject({ status: 'rejected', reason: { code: 'RECORD_TOO_LARGE' } });
  expect(sent).toEqual([['a']]);
});

describe('S2 a record is sent when an answer names its partition', () => {
  it('what no answer names is sent again, in order, and the others are not', async () => {
    const requests: string[][] = [];
    const moved = new Set([1]);
    const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> => {
      const messages = topicMessages.flatMap((each) => each.messages);
      requests.push(messages.map(({ value }) => String(value)));
      const partitions = new Set(messages.map(({ partition = 0 }) => partition));
      const answered = [...partitions].filter((partition) => !moved.delete(partition));
      return answered.map((partition) => ({ topicName: 'inputs', partition, errorCode: 0 }));
    };
    const sender = createRecordSender({ sendBatch } as unknown as Producer, 1_000_000);
    await Promise.all(
      [record('a', 0), record('b', 1), record('c', 0), record('d', 1)].map((each) => sender.send(each)),
    );
    expect(requests).toEqual([
      ['a', 'b', 'c', 'd'],
      ['b', 'd'],
    ]);
  });

  it('what is never named is refused in the end, alone', async () => {
    const sendBatch = async (): Promise<RecordMetadata[]> => [{ topicName: 'inputs', partition: 0, errorCode: 0 }];
    const sender = createRecordSender({ sendBatch } as unknown as Producer, 1_000_000);
    const [named, unnamed] = await Promise.allSettled([sender.send(record('a', 0)), sender.send(record('b', 1))]);
    expect(named.status).toBe('fulfilled');
    expect(unnamed).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
  });

  it('a partition that moves between two attempts of kafkajs to a broker that has answered is written', async () => {
    const require = createRequire(import.meta.url);
    const createSend = require('kafkajs/src/producer/sendMessages') as (parts: object) => Producer['sendBatch'];
    const createRetry = require('kafkajs/src/retry') as (options: object) => unknown;
    const leaders = [1, 2];
    const written: string[] = [];
    const brokers = [1, 2].map((nodeId) => ({
      nodeId,
      produce: async ({ topicData }: { readonly topicData: readonly TopicData[] }) => {
        if (nodeId === 2 && leaders[1] === 2) {
          leaders[1] = 1; // elected while the request was under way
          throw Object.assign(new Error('not the leader'), {
            ...{ name: 'KafkaJSProtocolError', type: 'NOT_LEADER_FOR_PARTITION', retriable: true },
          });
        }
        const partitions = topicData.flatMap((each) => each.partitions);
        written.push(...partitions.flatMap(({ messages }) => messages.map(({ value }) => String(value))));
        const answers = partitions.map(({ partition }) => ({ partition, errorCode: 0 }));
        return { topics: [{ topicName: 'inputs', partitions: answers }] };
      },
    }));
    const metadata = [0, 1].map((partitionId) => ({ partitionId }));
    const sendBatch = createSend({
      logger: { debug: () => {}, error: () => {} },
      cluster: {
        targetTopics: new Set(['inputs']),
        refreshMetadataIfNecessary: async () => {},
        refreshMetadata: async () => {},
        addMultipleTargetTopics: async () => {},
        isConnected: () => true,
        findTopicPartitionMetadata: () => metadata,
        findLeaderForPartitions: (_topic: string, partitions: readonly string[]) =>
          Object.groupBy(partitions.map(Number), (partition) => leaders[partition] ?? 1),
        findBroker: async ({ nodeId }: { readonly nodeId: string }) => brokers[Number(nodeId) - 1],
      },
      partitioner: ({ message }: { readonly message: { readonly partition: number } }) => message.partition,
      eosManager: {
        acquireBrokerLock: async () => {},
        releaseBrokerLock: async () => {},
        isTransactional: () => false,
        getSequence: () => 0,
        updateSequence: () => {},
        getProducerId: () => -1,
        getProducerEpoch: () => 0,
      },
      retrier: createRetry({ initialRetryTime: 1, retries: 5 }),
    });
    const send = ({ topicMessages = [], ...rest }: ProducerBatch): Promise<RecordMetadata[]> =>
      sendBatch({ ...rest, topicMessages });
    const sender = createRecordSender({ sendBatch: send } as unknown as Producer, 1_000_000);
    await Promise.all([sender.send(record('a', 0)), sender.send(record('b', 1))]);
    expect(written).toEqual(['a', 'b']);
  });
});

interface TopicData {
  readonly partitions: readonly {
    readonly partition: number;
    readonly messages: readonly { readonly value: unknown }[];
  }[];
}
