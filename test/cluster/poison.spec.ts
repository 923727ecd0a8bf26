// A poison input: its thread is parked, its partition goes on, and an operator replays the thread.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, untilStatus } from '../e2e/conversation.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';
import { injectPoison, poison } from './poison.ts';

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  let at: Cluster;
  beforeAll(async () => {
    at = await startCluster(urls, { DORMOUSE_KAFKA_PARTITIONS: '1' });
  });
  afterAll(endClusters);

  const accepted = async (thread: string): Promise<number> =>
    (await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted').length;

  describe('a poison input', () => {
    it('parks its thread, never its partition; dropped, the thread goes on with what waited', async () => {
      const [thread, other] = [await openThread(at), await openThread(at)];
      expect(await say(at, thread, 'before')).toMatchObject({ status: 'idle' });
      await injectPoison(urls.kafka, at.prefix, thread);
      await expect.poll(async () => (await at.request('GET', `/v1/parked/${thread}`)).status).toBe(200);
      expect((await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'behind' })).status).toBe(202);
      expect(await say(at, other, 'all well here?')).toMatchObject({ status: 'idle' });
      await expect.poll(async () => (await at.request('GET', `/v1/parked/${thread}`)).json.inputs?.length).toBe(2);
      expect((await at.request('GET', `/v1/threads/${thread}`)).json.status).toBe('parked');
      expect(await accepted(thread)).toBe(1);
      const dropped = await at.request('POST', `/v1/parked/${thread}/drop`, { input: poison.id });
      expect(dropped.status).toBe(200);
      expect((await at.request('POST', `/v1/parked/${thread}/replay`, {})).status).toBe(202);
      await expect.poll(() => accepted(thread)).toBe(2);
      await untilStatus(at, thread, 'idle');
      expect((await at.request('GET', `/v1/parked/${thread}`)).status).toBe(404);
    });
  });
});
