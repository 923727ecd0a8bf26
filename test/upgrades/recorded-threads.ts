// The threads that every release leaves in the corpus, one for each state in which a thread may wait, and what an
// installation says of a thread: the same from every release that can read it.
import { Buffer } from 'node:buffer';
import {
  eventsOf,
  openThread,
  say,
  scriptedAgent,
  sentCalls,
  type System,
  untilEvent,
  untilStatus,
} from '../e2e/conversation.ts';
import { type DrivenToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';

export const threadNames = [
  ...['idle', 'waiting', 'sleeping', 'asking', 'subscribed', 'parent', 'failed', 'queueing', 'large', 'closed', 'fork'],
] as const;

/** What a release recorded of one thread. */
export interface RecordedThread {
  readonly id: string;
  readonly position: number;
  /** As of that position. */
  readonly thread: Json;
  readonly events: readonly Json[];
  readonly messages: readonly Json[];
}

/** A call that was sent, acknowledged and not answered. */
export interface OpenCall {
  readonly thread: string;
  readonly id: string;
  /** Of its callback URL. */
  readonly path: string;
}

export interface Recorded {
  readonly threads: Readonly<Record<string, RecordedThread>>;
  readonly call: OpenCall;
}

const secret = 'a secret of the corpus';
const sleepSeconds = 5 * 365 * 86_400;
const answer = (text: string) => [{ text }];

/** Plays all of them. The agent `goes-on` answers every message. */
export async function playThreads(
  at: System,
  tools: DrivenToolServer,
): Promise<{ threads: Record<string, string>; call: OpenCall }> {
  await at.request('PUT', '/v1/secrets/corpus', { value: secret, origins: ['https://models.example'] });
  const plain = { tool_servers: [] };
  const theirs = { tool_servers: [tools.name] };
  const post = (thread: string, path: string, body: object) =>
    at.request('POST', `/v1/threads/${thread}/${path}`, body);

  const goesOn = await scriptedAgent(
    at,
    Array.from({ length: 20 }, (_, nth) => answer(`answer ${nth}`)),
    plain,
  );
  const idle = await openThread(at, goesOn, { title: 'idle', metadata: { of: 'the corpus' } });
  for (const text of ['one', 'two', 'three']) await say(at, idle, text);

  const working = [[toolCall('work', { what: 'it' })], answer('the work is done'), answer('and more')];
  const waiting = await openThread(at, await scriptedAgent(at, working, theirs));
  await post(waiting, 'messages', { text: 'work' });
  const invocation = await tools.invocation(0);
  await sentCalls(at, waiting);

  const sleeping = await openThread(
    at,
    await scriptedAgent(at, [[toolCall('sleep', { seconds: sleepSeconds })], answer('awake')], plain),
  );
  await say(at, sleeping, 'sleep');

  const asks = { ...theirs, policies: { approve: { mode: 'all' } } };
  const asking = await openThread(at, await scriptedAgent(at, [[toolCall('work')], answer('allowed')], asks));
  await say(at, asking, 'may I?');

  const watches = [[toolCall('watch', { what: 'the door' })], answer('I watch'), answer('it opened')];
  const subscribed = await openThread(at, await scriptedAgent(at, watches, theirs));
  await post(subscribed, 'messages', { text: 'watch' });
  const watch = await tools.invocation(1);
  await tools.send(watch, { type: 'tool_result', text: 'sub_1', subscription: true });
  await untilStatus(at, subscribed, 'idle');
  await tools.send(watch, { type: 'subscription_event', text: 'open', associative: true, event_id: 'evt-1' });
  await untilEvent(at, subscribed, 'subscription_event_received');
  await untilStatus(at, subscribed, 'idle');

  const spawns = [[toolCall('spawn_thread', { agent: goesOn, instructions: 'be a child' })], answer('I have a child')];
  const parent = await openThread(at, await scriptedAgent(at, spawns, plain));
  await say(at, parent, 'spawn');

  const failed = await openThread(at, await scriptedAgent(at, [[{ fail: { status: 400 } }], answer('mended')], plain));
  await say(at, failed, 'this fails');

  const queues = { ...theirs, policies: { on_interrupt: 'queue' } };
  const queueing = await openThread(
    at,
    await scriptedAgent(at, [[toolCall('work')], answer('done'), answer('next')], queues),
  );
  await post(queueing, 'messages', { text: 'work' });
  await tools.invocation(2);
  await post(queueing, 'messages', { text: 'and then?' });
  await untilEvent(at, queueing, 'message_queued');
  await sentCalls(at, queueing);

  const large = await openThread(at, goesOn);
  await say(at, large, 'long '.repeat(20_000));

  const closed = await openThread(at, goesOn);
  await say(at, closed, 'goodbye');
  await post(closed, 'close', {});
  await untilStatus(at, closed, 'closed');

  const { position } = (await at.request('GET', `/v1/threads/${idle}`)).json;
  // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
  const fork = (await post(idle, 'fork', { position: position - 3, then: 'wait' })).json.id as string;
  await untilStatus(at, fork, 'idle');

  const threads = { idle, waiting, sleeping, asking, subscribed, parent, failed, queueing, large, closed, fork };
  const { id, callback_url: url } = invocation as { readonly id: string; readonly callback_url: string };
  return { threads, call: { thread: waiting, id, path: new URL(url).pathname } };
}

/** What the installation says of the thread as of this position; now, by default. */
export async function recordedOf(at: System, id: string, position?: number): Promise<RecordedThread> {
  const read = async (path: string): Promise<Json> => {
    const { status, text, json } = await at.request('GET', `/v1/threads/${id}${path}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return json;
  };
  const to = position ?? (await read('')).position;
  const isThere = (each: Json): boolean => each.position <= to;
  const messages: Json[] = (await read('/messages?limit=200')).data;
  return {
    ...{ id, position: to },
    thread: withoutAges(await read(`?at=${to}`)),
    events: (await eventsOf(at, id)).filter(isThere).map(digested),
    messages: messages.filter(isThere).map(digested),
  };
}

/** Without what depends on the time of the question. */
function withoutAges({ waiting: _waiting, ...thread }: Json): Json {
  return thread;
}

const longText = 1_000;

/** Long texts as their length and end: the corpus stays small. */
function digested(each: Json): Json {
  return JSON.parse(
    JSON.stringify(each, (_, value: unknown) =>
      typeof value === 'string' && value.length > longText
        ? `${Buffer.byteLength(value)} bytes …${value.slice(-20)}`
        : value,
    ),
  );
}
