import type { Producer, ProducerBatch } from 'kafkajs';
import { expect, it } from 'vitest';
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

it('R1 what is ready together leaves together, in order', async () => {
  const { sent, of } = producer();
  const sender = createRecordSender(of, 1_000_000);
  await Promise.all(['a', 'b', 'c'].map((value) => sender.send(record(value))));
  expect(sent).toEqual([['a', 'b', 'c']]);
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
