// Every record on the topics of a real cluster is as the AsyncAPI document says: its headers, its value, its key.
import { asyncApiDocument } from '@dormouse/adapter-kafka';
import { Ajv } from 'ajv';
import kafkajs, { type EachMessagePayload } from 'kafkajs';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setRig, type Rig, tell } from '../conformance/conformance-rig.ts';
import { eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';

interface Message {
  readonly headers: object;
  readonly payload: object;
}

const { channels, components } = asyncApiDocument('0.0.0') as {
  readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, object>> }>>;
  readonly components: { readonly messages: Readonly<Record<string, Message>> };
};

withServices(['kafka'], ({ kafka }) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await setRig();
  });
  afterAll(() => rig.end());

  it('describes every record of a run: inputs of every kind that it has, dispatches, notices', async () => {
    await runEverything(rig);
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const judges = new Map(
      Object.entries(components.messages).map(([name, { headers, payload }]) => [
        name,
        ajv.compile({ type: 'object', properties: { headers, payload }, required: ['headers', 'payload'] }),
      ]),
    );
    const wrong: unknown[] = [];
    const seen = new Set<string>();
    for (const { topic, message } of await recordsOf(kafka, rig.at.prefix)) {
      const payload = JSON.parse(String(message.value));
      const headers = Object.fromEntries(
        Object.entries(message.headers ?? {}).map(([name, text]) => [name, String(text)]),
      );
      const name: string = payload.input?.kind ?? payload.effect?.do;
      const channel = topic.slice(rig.at.prefix.length);
      seen.add(name);
      const judge = judges.get(name);
      const isListed = Object.hasOwn(channels[channel]?.messages ?? {}, name);
      if (judge?.({ headers, payload }) !== true || !isListed)
        wrong.push({ channel, name, headers, why: judge?.errors });
      if (headers['ce_id'] !== (payload.input ?? payload.effect).id) wrong.push({ name, headers });
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        ...['ThreadOpening', 'UserMessage', 'ToolsetsResult', 'ToolResult', 'SubscriptionEvent'],
        ...['ViewUpdate', 'ChoicePrompt', 'ChoiceAnswer', 'LoginPrompt', 'CallbackRejection', 'InterruptRequest'],
        ...['RefreshToolsetsRequest', 'ScheduleRequest', 'CancelSubscriptionRequest', 'CloseRequest', 'ExternalEvent'],
        ...['LoadToolsets', 'InvokeTool', 'SendCancelNotices', 'SendCloseNotices', 'AnswerChoice'],
      ]),
    );
  });
});

/** Conversations that put a record of most kinds on the topics. */
async function runEverything(rig: Rig): Promise<void> {
  const { at } = rig;
  const server = await rig.toolServer();
  const script = [[toolCall('watch')], [{ text: 'watching' }], [toolCall('work')], [{ text: 'worked' }]];
  const thread = await rig.thread([...script, [toolCall('work')], [{ text: 'interrupted' }]], [server]);
  const post = (path: string, body?: object) => at.request('POST', `/v1/threads/${thread}${path}`, body);
  await tell(at, thread, 'watch');
  const watch = await server.invocation(0);
  await server.send(watch, { type: 'tool_result', text: 'from now on', subscription: true });
  await untilStatus(at, thread, 'idle');
  await server.send(watch, { type: 'subscription_event', text: 'an event', associative: true, event_id: 'e1' });
  await untilEvent(at, thread, 'subscription_event_received');
  const work = await server.invocation(1);
  await server.send(work, { type: 'view_update', view_type: 'board', content: { a: 1 } });
  await server.send(work, { type: 'oauth', auth_url: 'https://login.example/' });
  await server.send(work, { type: 'oauth', auth_url: 'no address' });
  const question = { prompt: 'Which?', choices: ['a', 'b'], default: 0, response_url: `${server.url}/answer` };
  await server.send(work, { type: 'user_choice', ...question });
  const { choice_id: choice } = await untilEvent(at, thread, 'choice_requested');
  await post(`/choices/${choice}`, { selected: 1 });
  await eventually(async () => server.posts('/answer').length > 0);
  await server.send(work, { type: 'tool_result', text: 'done' });
  await untilStatus(at, thread, 'idle');
  await tell(at, thread, 'work');
  await server.invocation(2);
  await post('/interrupt');
  await untilStatus(at, thread, 'idle');
  await post('/toolsets/refresh');
  await post('/schedules', { cron: '0 9 * * *', time_zone: 'Europe/Vienna', message: 'x', missed: 'skip' });
  await post('/events', { source: 'outside', text: 'something happened' });
  await post(`/subscriptions/${watch.id}/cancel`);
  await say(at, thread, 'and now?');
  await post('/close');
  await untilStatus(at, thread, 'closed');
  await eventually(async () => server.posts('/close_thread').length > 0);
}

/** All records of the topics, up to where they end now. */
async function recordsOf(brokers: string, prefix: string): Promise<readonly EachMessagePayload[]> {
  const client = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const admin = client.admin();
  const consumer = client.consumer({ groupId: `reader-${randomBytes(6).toString('hex')}` });
  const topics = ['inputs', 'dispatches', 'notices'].map((name) => prefix + name);
  await Promise.all([admin.connect(), consumer.connect()]);
  try {
    const missing = new Map<string, number>();
    for (const topic of topics)
      for (const { partition, high, low } of await admin.fetchTopicOffsets(topic))
        if (Number(high) > Number(low)) missing.set(`${topic} ${partition}`, Number(high));
    const records: EachMessagePayload[] = [];
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async (record) => {
        records.push(record);
        const place = `${record.topic} ${record.partition}`;
        if (Number(record.message.offset) + 1 >= (missing.get(place) ?? Infinity)) missing.delete(place);
      },
    });
    await eventually(async () => missing.size === 0);
    return records;
  } finally {
    await Promise.all([admin.disconnect(), consumer.disconnect()]);
  }
}
