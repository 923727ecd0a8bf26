// RAP thread-closure: every tool server of the agent gets one notice, at its discovered base; nothing waits for the
// answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, say, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { fixture, normalised } from './fixture.ts';
import { hangUp, type RecordingToolServer, type Reply, silence, status, tool } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const close = (thread: string) => rig.at.request('POST', `/v1/threads/${thread}/close`);
const told = (server: RecordingToolServer): number => server.posts('/close_thread').length;

/** Servers with one tool each; the second one's reply to the notice is given. */
async function servers(...replies: readonly (Reply | null)[]): Promise<readonly RecordingToolServer[]> {
  const started = await Promise.all(replies.map(() => rig.toolServer()));
  started.forEach((server, index) => {
    server.publish(server.manifest([tool(`tool_${index}`)]));
    const reply = replies[index];
    if (reply !== null && reply !== undefined) server.replies('/close_thread', reply);
  });
  return started;
}

describe.concurrent('closing a thread', () => {
  it('R59 posts the thread to close_thread at the base of discovery, not at the endpoint', async () => {
    const server = await rig.toolServer({ basePath: '/some/base/' });
    const thread = await rig.thread([[{ text: 'hello' }]], [server]);
    await say(rig.at, thread, 'go');
    expect((await close(thread)).status).toBe(202);
    await eventually(async () => server.posts('/some/base/close_thread').length === 1);
    const [request] = server.posts('/some/base/close_thread');
    if (request === undefined) throw new Error('nothing was sent');
    const names = { [thread]: 'thread', [server.name]: 'server' };
    expect(normalised(request, names)).toEqual(fixture('close-thread'));
  });

  it('R60 tells every server of the agent, also those that were never used', async () => {
    const all = await servers(null, null, null);
    const thread = await rig.thread([[toolCall('tool_0')], [{ text: 'ok' }]], all);
    const turn = say(rig.at, thread, 'go');
    const [used] = all;
    if (used === undefined) throw new Error('there is no server');
    await used.send(await used.invocation(0), { type: 'tool_result', text: 'done' });
    await turn;
    await close(thread);
    await eventually(async () => all.every((server) => told(server) === 1));
    await aWhile();
    expect(all.map(told)).toEqual([1, 1, 1]);
  });

  it.each([
    ['500', status(500)],
    ['a broken connection', hangUp],
    ['429 with Retry-After', status(429, '', { 'retry-after': '0' })],
    ['a redirect', status(307, '', { location: '/elsewhere' })],
  ] as const)('R61 is never told twice, whatever comes back: %s', async (_what, reply) => {
    const [server] = await servers(reply);
    if (server === undefined) throw new Error('there is no server');
    const thread = await rig.thread([], [server]);
    await close(thread);
    await eventually(async () => told(server) === 1);
    expect((await close(thread)).status).toBe(202);
    await aWhile(800);
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('R62 one server that hangs delays neither the others nor the answer', async () => {
    const [hanging, ...others] = await servers(silence, null, null);
    if (hanging === undefined) throw new Error('there is no server');
    const thread = await rig.thread([], [hanging, ...others]);
    await untilStatus(rig.at, thread, 'idle');
    const began = Date.now();
    await close(thread);
    await untilStatus(rig.at, thread, 'closed');
    await eventually(async () => [hanging, ...others].every((server) => told(server) === 1));
    expect(Date.now() - began).toBeLessThan(8_000); // a notice that hangs is given up after ten seconds
  });

  it('R63 succeeds when every server is down', async () => {
    const all = await servers(null, null);
    const thread = await rig.thread([[toolCall('tool_0')], [{ text: 'ok' }]], all);
    await tell(rig.at, thread, 'go');
    await all[0]?.invocation(0);
    await Promise.all(all.map((server) => server.close()));
    expect((await close(thread)).status).toBe(202);
    await untilStatus(rig.at, thread, 'closed');
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/tool-calls`);
    expect(json.data).toMatchObject([{ state: 'settled', outcome: 'interrupted' }]);
  });
});
