import type { Admin } from 'kafkajs';
import kafkajs from 'kafkajs';
import { expect, it } from 'vitest';
import { groupLagOf } from './group-lags.ts';

const loading = (): Error =>
  new kafkajs.KafkaJSNumberOfRetriesExceeded(
    new kafkajs.KafkaJSProtocolError({
      type: 'GROUP_COORDINATOR_NOT_AVAILABLE',
      code: 15,
      message: 'not yet',
    } as never),
    { retryCount: 16, retryTime: 250 },
  );

/** An installation in order, whose brokers answer with these errors first. */
function adminAfter(...errors: Error[]): { readonly admin: Admin; readonly asked: () => number } {
  let asked = 0;
  const admin = {
    fetchTopicOffsets: async () => [{ partition: 0, offset: '3', low: '0', high: '3' }],
    fetchOffsets: async () => {
      asked += 1;
      const error = errors.shift();
      if (error !== undefined) throw error;
      return [{ topic: 'rap.inputs', partitions: [{ partition: 0, offset: '3', metadata: null }] }];
    },
    describeGroups: async () => ({ groups: [{ members: [{}] }] }),
  } as unknown as Admin;
  return { admin, asked: () => asked };
}

const of = { topic: 'inputs', group: 'rap.thread-processor' } as const;

it('G2 asks again while a coordinator is being loaded', async () => {
  const { admin, asked } = adminAfter(loading(), loading());
  expect(await groupLagOf(admin, 'rap.', of)).toMatchObject({ records: 0, members: 1 });
  expect(asked()).toBe(3);
});

it('G2 does not ask again after another error', async () => {
  const { admin, asked } = adminAfter(new Error('GROUP_AUTHORIZATION_FAILED'));
  await expect(groupLagOf(admin, 'rap.', of)).rejects.toThrow('AUTHORIZATION');
  expect(asked()).toBe(1);
});
