// RAP view-updates: the newest view of each type, word for word, to every watcher, including one that connects late.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { postCallback, type RecordingToolServer } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface Showing {
  readonly server: RecordingToolServer;
  readonly thread: string;
  readonly call: Json;
  readonly show: (view_type: string, content: unknown) => Promise<number>;
  readonly views: () => Promise<Json>;
}

async function showing(): Promise<Showing> {
  const server = await rig.toolServer();
  const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
  await tell(rig.at, thread, 'go');
  const call = await server.invocation(0);
  return {
    ...{ server, thread, call },
    show: async (view_type, content) => (await server.send(call, { type: 'view_update', view_type, content })).status,
    views: async () => (await rig.at.request('GET', `/v1/threads/${thread}/views`)).json.data,
  };
}

describe('a view', () => {
  it('R95 is the latest of its type only', async () => {
    const { show, views } = await showing();
    for (const count of [1, 2, 3]) expect(await show('board', { count })).toBe(200);
    expect(await show('list', { a: [] })).toBe(200);
    await eventually(async () => (await views()).length === 2);
    expect(await views()).toEqual(
      expect.arrayContaining([
        { view_type: 'board', content: { count: 3 } },
        { view_type: 'list', content: { a: [] } },
      ]),
    );
    expect(await show('board', {})).toBe(200); // an empty content clears it
    await eventually(async () => (await views()).length === 1);
  });

  it('R96 reaches every client of the thread at once, and none of another', async () => {
    const [{ thread, show }, other] = await Promise.all([showing(), showing()]);
    const streams = await Promise.all([thread, thread, other.thread].map((one) => openStream(rig.at, one)));
    await Promise.all(streams.map((stream) => stream.until(({ event }) => event === 'status')));
    await show('board', { seen: true });
    for (const stream of streams.slice(0, 2)) {
      const frames = await stream.until(({ event }) => event === 'view');
      expect(frames.at(-1)?.data).toEqual({ view_type: 'board', content: { seen: true } });
    }
    await other.show('list', { mine: true });
    const frames = (await streams[2]?.until(({ event }) => event === 'view')) ?? [];
    expect(frames.filter(({ event }) => event === 'view').map(({ data }) => data.view_type)).toEqual(['list']);
    for (const stream of streams) stream.close();
  });

  it('R97 is part of what a client gets that connects late', async () => {
    const { thread, show, views } = await showing();
    await show('board', { a: 1 });
    await show('list', { b: 2 });
    await eventually(async () => (await views()).length === 2);
    const late = await openStream(rig.at, thread);
    const shown: Json[] = [];
    while (shown.length < 2) shown.push((await late.until(({ event }) => event === 'view')).at(-1)?.data);
    late.close();
    expect(shown).toEqual(
      expect.arrayContaining([
        { view_type: 'board', content: { a: 1 } },
        { view_type: 'list', content: { b: 2 } },
      ]),
    );
  });

  it('R98 comes out as it went in: big numbers, nulls, odd names', async () => {
    const { thread, call } = await showing();
    const content =
      '{"big":123456789012345678901234567890,"small":1.50e-400,"n":[null,{"":null}],"é\\u2028":"\\ud83d\\ude00"}';
    const body = `{"type":"view_update","group_id":"${thread}","view_type":"odd","content":${content}}`;
    const stream = await openStream(rig.at, thread);
    expect((await postCallback(call.callback_url, body)).status).toBe(200);
    await stream.until(({ event }) => event === 'view');
    stream.close();
    const { text } = await rig.at.request('GET', `/v1/threads/${thread}/views`);
    expect(text).toContain(`"content":${content}`);
  });

  it('R35 R99 of a thread that nobody knows is refused and stored nowhere', async () => {
    const { thread, call, views } = await showing();
    const body = { type: 'view_update', view_type: 'board', content: { forged: true } };
    const answer = await postCallback(call.callback_url, JSON.stringify({ ...body, group_id: 'thr_nobody' }));
    expect(answer.status).toBe(403);
    await aWhile();
    expect(await views()).toEqual([]);
    expect((await rig.at.request('GET', '/v1/threads/thr_nobody/views')).status).toBe(404);
    expect((await rig.at.request('GET', `/v1/threads/${thread}`)).status).toBe(200);
  });

  it('R99 is no part of the history, and changes nothing else', async () => {
    const { server, thread, call, show, views } = await showing();
    const before = await eventsOf(rig.at, thread);
    await show('board', { a: 1 });
    await eventually(async () => (await views()).length === 1);
    expect(await eventsOf(rig.at, thread)).toEqual(before);
    await server.send(call, { type: 'tool_result', text: 'done' });
    await untilStatus(rig.at, thread, 'idle');
    expect(await show('board', { a: 2 })).toBe(200); // after the result too
    await eventually(async () => (await views())[0].content.a === 2);
  });
});
