// What the servers of a cluster store of a login: never its URL in the clear, in no document, no record, no command of
// Redis and no line of a log; and nothing at all after the result.
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, openThread, scriptedAgent, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import { withServices } from '../services/needed-services.ts';
import { endClusters, startCluster } from './cluster-process.ts';
import { documentCount, everyDocument, everyRecord, textOfRecord, watchRedis } from './stored-bytes.ts';

const secret = 'very-secret-state-at-rest';
const authUrl = `https://login.example/authorize?client=a&state=${secret}`;

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  afterAll(endClusters);

  describe('a login', () => {
    it('R88 is in MongoDB, Kafka and Redis without its URL in the clear, and gone after the result', async () => {
      const redis = await watchRedis(urls);
      const at = await startCluster(urls, { DORMOUSE_LOG_LEVEL: 'trace' });
      const tools = await driveToolServer(at);
      const script = [[toolCall('work')], [{ text: 'done' }]];
      const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
      const stream = await openStream(at, thread);
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      const call = await tools.invocation(0);
      await tools.send(call, { type: 'oauth', auth_url: authUrl });
      const shown = await stream.until(({ event }) => event === 'oauth');
      expect(shown.at(-1)?.data).toMatchObject({ auth_url: authUrl });
      await untilEvent(at, thread, 'oauth_requested');
      const keptLogins = (): Promise<number> => documentCount(urls, at, 'sealed');
      expect(await keptLogins()).toBe(1);
      const places = async (): Promise<readonly string[]> => [
        (await everyDocument(urls, at)).map(({ text }) => text).join('\n'),
        (await everyRecord(urls, at)).map(textOfRecord).join('\n'),
        redis.commands.join('\n'),
      ];
      for (const place of await places()) {
        expect(place).toContain(thread); // the search works
        expect(place).not.toContain(secret);
      }
      await tools.send(call, { type: 'tool_result', text: 'logged in' });
      await untilStatus(at, thread, 'idle');
      await eventually(async () => (await keptLogins()) === 0);
      for (const place of await places()) expect(place).not.toContain(secret);
      stream.close();
      redis.stop();
      await tools.close();
      expect(at.output()).toContain('"level"');
      expect(at.output()).not.toContain(secret);
      await at.stop();
    });
  });
});
