import type { Producer, ProducerBatch } from 'kafkajs';
import { setImmediate as settled } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { createRecordSender, type OutgoingRecord } from './record-sender.ts';

const record = (value: string, partition = 0): OutgoingRecord => ({
  ...{ topic: 'inputs', partition, key: 'acme:thr_1', value, headers: {} },
});

/** A producer that takes everything, and what it was given, request by request. */
function producer(): { readonly sent: readonly (readonly string[])[]; readonly of: Producer } {
  const sent: string[][] = [];
  const sendBatch = async ({ topicMessages = [] }: ProducerBatch): Promise<[]> => {
    sent.push(topicMessages.flatMap(({ messages }) => messages.map(({ value }) => String(value))));
    return [];
  };
  return { sent, of: { sendBatch } as unknown as Producer };
}

afterEach(() => void vi.useRealTimers());

it('R1 what is ready together leaves together, in order', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  await Promise.all(['a', 'b', 'c'].map((value) => sender.send(record(value))));
  expect(sent).toEqual([['a', 'b', 'c']]);
});

it('R1 what comes alone leaves at once; what follows a crowd leaves with those that come within a moment', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  for (const value of ['a', 'b']) {
    void sender.send(record(value));
    await settled();
  }
  expect(sent).toEqual([['a'], ['b']]);
  const crowd = ['1', '2', '3', '4', '5', '6'];
  for (const value of crowd) void sender.send(record(value));
  await settled();
  for (const value of ['c', 'd']) {
    void sender.send(record(value));
    await settled();
  }
  expect(sent.slice(2)).toEqual([crowd]);
  await vi.advanceTimersByTimeAsync(6);
  expect(sent.slice(3)).toEqual([['c', 'd']]);
});

it('R3 a request is bounded in bytes, whatever letters they are', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  const text = '漢'.repeat(20_000);
  await Promise.all(Array.from({ length: 50 }, () => sender.send(record(text))));
  expect(sent.flat()).toHaveLength(50);
  for (const values of sent) expect(Buffer.byteLength(values.join(''))).toBeLessThanOrEqual(800_000);
});

it('R3 a record above the limit is refused alone', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 10);
  const [small, large] = await Promise.allSettled([sender.send(record('a')), sender.send(record('漢漢漢漢'))]);
  expect(small.status).toBe('fulfilled');
  expect(large).toMatchObject({ status: 'rejected', reason: { code: 'RECORD_TOO_LARGE' } });
  expect(sent).toEqual([['a']]);
});
