// What the stores of a cluster hold of contents: nothing in the clear, in no document of MongoDB and no key of Redis,
// also while a completion runs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canaryConversation } from '../e2e/contents-at-rest.ts';
import { eventually, openThread, untilStatus } from '../e2e/conversation.ts';
import { openStream } from '../e2e/event-stream.ts';
import { chunk, done, startChatServer } from '../model/chat-server.ts';
import { withServices } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';
import { everyDocument, everyRedisValue, topicSettings } from './stored-bytes.ts';

/** What `docs/how-to/erase-a-user.md` says: 14 days. */
const keptMs = '1209600000';

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  // Of all three: each has words of its own.
  let at: Cluster;
  beforeAll(async () => {
    at = await startCluster(urls);
  });
  afterAll(endClusters);

  const stored = async (): Promise<string> =>
    [...(await everyDocument(urls, at)).map(({ text }) => text), await everyRedisValue(urls, at)].join('\n');

  describe('contents at rest', () => {
    it('S1 no collection has a content in the clear', async () => {
      const { thread, contents, labels } = await canaryConversation(at, 'cluster');
      const bytes = await stored();
      expect(bytes).toContain(thread); // the search works
      for (const label of labels) expect(bytes).toContain(label);
      expect(contents.filter((word) => bytes.includes(word))).toEqual([]);
    });

    it('an erased user is in no collection and no key of Redis; the topics end what they keep', async () => {
      const { thread, contents, labels } = await canaryConversation(at, 'gone');
      const kept = await canaryConversation(at, 'kept');
      const { json, status } = await at.request('POST', '/v1/erasures', { user_id: 'label-gone-user' });
      expect(status).toBe(202);
      const { certificate } = await eventually(async () => {
        const erasure = (await at.request('GET', `/v1/erasures/${json.id}`)).json;
        return erasure.state === 'done' && erasure;
      });
      expect(certificate.stores).toMatchObject({ kafka: expect.stringContaining('until their retention ends') });
      const bytes = await stored();
      for (const there of [thread, ...kept.labels]) expect(bytes).toContain(there); // the search works
      expect([...contents, ...labels].filter((word) => bytes.includes(word))).toEqual([]);
      for (const { topic, settings } of await topicSettings(urls, at))
        expect([topic, settings['retention.ms'], settings['cleanup.policy']]).toEqual([topic, keptMs, 'delete']);
    });

    it('H1 what a running completion has said is sealed in Redis, and reaches every watcher', async () => {
      const model = await startChatServer();
      const goOn = Promise.withResolvers<void>();
      model.answers(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chunk({ role: 'assistant', content: 'canary-running' }));
        await goOn.promise;
        response.end(chunk({}, 'stop') + done);
      });
      await at.request('POST', '/v1/agents', {
        ...{ name: 'runner', tool_servers: [] },
        model: { provider: 'openai-compatible', name: 'm', base_url: `${model.url}/v1`, api_key_secret: null },
      });
      const thread = await openThread(at, 'runner', { message: { text: 'go' } });
      const early = await openStream(at, thread);
      await early.until(({ event, data }) => event === 'delta' && JSON.stringify(data).includes('canary-running'));
      const said = await everyRedisValue(urls, at);
      expect(said).toContain(`said:${thread}`); // the search works
      expect(said).not.toContain('canary-running');
      const late = await openStream(at, thread);
      await late.until(({ event, data }) => event === 'delta' && JSON.stringify(data).includes('canary-running'));
      goOn.resolve();
      await untilStatus(at, thread, 'idle');
      for (const stream of [early, late]) stream.close();
      await model.close();
    });
  });
});
