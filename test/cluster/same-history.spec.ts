// One scenario, two topologies, one history: standalone over one file, and five processes over Kafka, MongoDB and
// Redis.
import { afterAll, describe, expect, it } from 'vitest';
import { canonical } from '../e2e/canonical-history.ts';
import { eventsOf, openThread, say, type Step, type System, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { type Json, startStandalone } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { withServices } from '../services/needed-services.ts';

const calls = (name: string, args: object): readonly Step[] => [{ tool_call: { name, arguments: args } }];
const answers = (text: string): readonly Step[] => [{ text }];

const script = [
  ...[calls('weather', { city: 'Oslo' }), answers('it is cold')],
  ...[calls('weather', {}), answers('I forgot the city')],
  ...[calls('no_such_tool', {}), answers('there is no such tool')],
  ...[calls('slow_job', { seconds: 60 }), answers('then not')],
  ...[calls('slow_job', { seconds: 60 })],
  ...[[{ fail: { status: 400 } }], answers('now it works')],
  answers('that was long'),
];

/** A conversation with every part that has one outcome, whatever the order of events. */
async function played(at: System): Promise<Json> {
  const created = await at.request('POST', '/v1/agents', {
    name: 'scripted',
    model: { provider: 'scripted', parameters: { script } },
    tool_servers: ['example-tools'],
  });
  expect(created.status).toBe(201);
  const thread = await openThread(at, 'scripted', { title: 'the same', metadata: { teamName: 'a' } });
  await untilStatus(at, thread, 'idle');
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    at.request('POST', `/v1/threads/${thread}/${path}`, body, { headers });

  for (const text of ['the weather?', 'the weather', 'something else']) await say(at, thread, text);
  await post('messages', { text: 'begin' });
  await untilStatus(at, thread, 'waiting');
  await say(at, thread, 'never mind');
  await post('messages', { text: 'begin again' });
  await untilStatus(at, thread, 'waiting');
  await post('interrupt', {});
  await untilStatus(at, thread, 'idle');
  await post('interrupt', {});
  await untilEvent(at, thread, 'request_refused');
  await say(at, thread, 'this fails');
  await post('retry', {});
  await untilStatus(at, thread, 'idle');
  const once = { 'idempotency-key': 'once', prefer: 'wait=60' };
  for (let times = 0; times < 2; times += 1) await post('messages', { text: 'long '.repeat(20_000) }, once);
  await post('close', {});
  await untilStatus(at, thread, 'closed');
  await post('messages', { text: 'anyone there?' });
  await untilEvent(at, thread, 'message_refused');

  const read = async (path: string): Promise<Json> => (await at.request('GET', `/v1/threads/${thread}${path}`)).json;
  return {
    events: await eventsOf(at, thread),
    thread: await read(''),
    messages: await read('/messages?limit=100'),
    toolCalls: await read('/tool-calls?limit=100'),
  };
}

withServices(['kafka', 'mongo', 'redis'], () => {
  describe('standalone and the cluster', () => {
    afterAll(endSystems);

    it('end in the same canonical history', async () => {
      const [alone, cluster] = await Promise.all([startStandalone().then(played), startSystem().then(played)]);
      expect(alone.events.length).toBeGreaterThan(30);
      expect(canonical(cluster)).toEqual(canonical(alone));
    });
  });
});
