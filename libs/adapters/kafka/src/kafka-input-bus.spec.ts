import { tenantId, type Logger, type ThreadDelivery } from '@dormouse/ports';
import { expect, it } from 'vitest';
import type { GroupHandlers } from './group-consumer.ts';
import { createInputBus } from './kafka-input-bus.ts';
import type { OutgoingRecord } from './record-sender.ts';

const logged: string[] = [];
const logger: Logger = { info: () => {}, warn: () => {}, error: (event) => void logged.push(event) };
const input = { kind: 'RetryRequest', id: 'req:1', requestId: 'req_1' } as const;
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** What is sent and what is delivered of a bus. */
async function bus() {
  const sent: OutgoingRecord[] = [];
  const delivered: ThreadDelivery[] = [];
  const joined = Promise.withResolvers<GroupHandlers>();
  const made = createInputBus({
    topic: 'inputs',
    sender: { send: async (record) => void sent.push(record), close: async () => {} },
    partitionOf: () => 0,
    join: async (handlers) => {
      joined.resolve(handlers);
      const idle = { owned: () => new Set<number>(), load: async () => [], problem: () => null, stalled: () => null };
      return { ...idle, close: async () => {} };
    },
    logger,
  });
  const consumer = { assigned: () => {}, revoked: async () => {}, busy: () => false };
  await made.consume({ ...consumer, deliver: (_, delivery) => void delivered.push(delivery) });
  const handlers = await joined.promise;
  const take = (value: string, headers: Readonly<Record<string, string>>): void => {
    const given = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]);
    const record = { value: Buffer.from(value), headers: Object.fromEntries(given), offset: '0', timestamp: '0' };
    handlers.record({ partition: 0, generation: 1 }, record as never, () => {}, false);
  };
  return { made, sent, delivered, take };
}

it('C2 reads its own records, and those of before, whose headers have other names', async () => {
  const { made, sent, delivered, take } = await bus();
  await made.publish({ tenant: tenantId('local'), thread: 'thr_1' }, input, trace);
  const [{ value, headers } = { value: '', headers: {} }] = sent;
  expect(headers).toMatchObject({ ce_id: 'req:1', ce_type: 'dormouse.inputs.RetryRequest', traceparent: trace });
  take(value, headers);
  take(value, { 'ce-id': 'req:1', 'ce-type': 'RetryRequest', traceparent: trace });
  take(value, {});
  expect(delivered.map((each) => [each.tenant, each.thread, each.trace])).toEqual([
    ['local', 'thr_1', trace],
    ['local', 'thr_1', trace],
    ['local', 'thr_1', null],
  ]);
  expect(delivered.map((each) => each.what === 'input' && each.input)).toEqual([input, input, input]);
});

it('I2 skips a value that names no thread, and delivers a kind that it does not know', async () => {
  const { delivered, take } = await bus();
  for (const value of [
    '{',
    'null',
    '{}',
    '{"tenant":"a","thread":"b"}',
    '{"tenant":1,"thread":"b","input":{"kind":"x"}}',
  ])
    take(value, {});
  expect([delivered.length, logged.length]).toEqual([0, 5]);
  take('{"tenant":"a","thread":"b","input":{"kind":"OfTomorrow","id":"1"},"more":1}', {});
  expect(delivered).toHaveLength(1);
});
