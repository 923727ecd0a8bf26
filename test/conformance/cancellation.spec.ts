// RAP tool-cancellation: a call without a waiting caller is cancelled once, at its server, and nothing depends on the
// notice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, say } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { fixture, normalised } from './fixture.ts';
import { hangUp, type RecordingToolServer, type Reply, silence, status, tool } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const told = (server: RecordingToolServer): number => server.posts('/cancel_tool_call').length;

interface Waiting {
  readonly thread: string;
  readonly call: Json;
  readonly all: readonly RecordingToolServer[];
}

/** A thread that waits for a call of the first of these servers, which answer cancellations so. */
async function waiting(...replies: readonly (Reply | null)[]): Promise<Waiting> {
  const all = await Promise.all(replies.map(() => rig.toolServer({ basePath: '/base' })));
  all.forEach((server, index) => {
    server.publish(server.manifest([tool(`tool_${index}`)]));
    const reply = replies[index];
    if (reply !== null && reply !== undefined) server.replies('/base/cancel_tool_call', reply);
  });
  const thread = await rig.thread([[toolCall('tool_0')], [{ text: 'never mind' }]], all);
  await tell(rig.at, thread, 'go');
  return { thread, all, call: await all[0]?.invocation(0) };
}

const notices = (server: RecordingToolServer) => server.posts('/base/cancel_tool_call');

describe.concurrent('a call that is interrupted', () => {
  it('R64 R65 is taken back at the base of every server of the agent with exactly these fields', async () => {
    const { thread, all, call } = await waiting(null, null, null);
    expect(await say(rig.at, thread, 'stop that')).toMatchObject({ message: { text: 'never mind' } });
    await eventually(async () => all.every((server) => notices(server).length === 1));
    await aWhile();
    for (const server of all) {
      const [request, ...more] = notices(server);
      if (request === undefined) throw new Error('nothing was sent');
      expect(more).toEqual([]);
      const names = { [thread]: 'thread', [call.id]: 'call', [server.name]: 'server' };
      expect(normalised(request, names)).toEqual(fixture('cancel-tool-call'));
    }
    expect(all.map(told)).toEqual([0, 0, 0]); // the root of a server is not its base
  });

  it.each([
    ['500', status(500)],
    ['a broken connection', hangUp],
    ['503 with Retry-After', status(503, '', { 'retry-after': '0' })],
  ] as const)('R66 is never taken back twice, whatever comes back: %s', async (_what, reply) => {
    const { thread, all, call } = await waiting(reply);
    await rig.at.request('POST', `/v1/threads/${thread}/tool-calls/${call.id}/cancel`);
    const [server] = all;
    if (server === undefined) throw new Error('there is no server');
    await eventually(async () => notices(server).length === 1);
    await rig.at.request('POST', `/v1/threads/${thread}/tool-calls/${call.id}/cancel`);
    await aWhile(800);
    expect(notices(server)).toHaveLength(1);
  });

  it('R67 leaves the user and the other servers alone when one of them hangs', async () => {
    const { thread, all } = await waiting(silence, null, null);
    const began = Date.now();
    expect(await say(rig.at, thread, 'stop that')).toMatchObject({ status: 'idle' });
    await eventually(async () => all.every((server) => notices(server).length === 1));
    expect(Date.now() - began).toBeLessThan(8_000); // a notice that hangs is given up after ten seconds
  });

  it('R68 is settled when no server can be told', async () => {
    const { thread, all } = await waiting(null, null);
    await Promise.all(all.map((server) => server.close()));
    expect(await say(rig.at, thread, 'stop that')).toMatchObject({ message: { text: 'never mind' } });
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/tool-calls`);
    expect(json.data).toMatchObject([{ outcome: 'interrupted' }]);
  });
});
