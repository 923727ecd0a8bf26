// RAP oauth: a call that waits for a login. The URL reaches the thread's watchers, and nothing else.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { type Prompt, resultIn } from './recording-model.ts';
import type { RecordingToolServer } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface LoginAsked {
  readonly server: RecordingToolServer;
  readonly thread: string;
  readonly prompts: readonly Prompt[];
  readonly call: Json;
  readonly url: string;
  readonly secret: string;
}

/** A thread whose call waits for a login. */
async function loginAsked(): Promise<LoginAsked> {
  const server = await rig.toolServer();
  const script = [[toolCall('work')], [{ text: 'one' }], [{ text: 'two' }]];
  const { thread, prompts } = await rig.watchedThread(script, [server]);
  await tell(rig.at, thread, 'go');
  const call = await server.invocation(0);
  const secret = `very-secret-state-${randomBytes(6).toString('hex')}`;
  const url = `https://login.example/authorize?client=a&state=${secret}`;
  expect((await server.send(call, { type: 'oauth', auth_url: url })).status).toBe(200);
  await untilEvent(rig.at, thread, 'oauth_requested');
  return { server, thread, prompts, call, url, secret };
}

/** The login frames of a client that connects now, up to the thread's present. */
async function loginFrames(thread: string): Promise<readonly Json[]> {
  const last = (await eventsOf(rig.at, thread)).at(-1).position;
  const stream = await openStream(rig.at, thread);
  const frames = await stream.until(({ event, id }) => event === 'oauth' || id === String(last));
  stream.close();
  return frames.filter(({ event }) => event === 'oauth').map(({ data }) => data);
}

describe.concurrent('a login', () => {
  it('R84 is shown with its URL to whoever watches, early or late', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread([[toolCall('work')], [{ text: 'ok' }]], [server]);
    const early = await openStream(rig.at, thread);
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    const auth_url = 'https://login.example/authorize?state=1';
    await server.send(call, { type: 'oauth', auth_url });
    const shown = await early.until(({ event }) => event === 'oauth');
    expect(shown.at(-1)?.data).toMatchObject({ tool_call_id: call.id, auth_url, expires_at: expect.any(String) });
    early.close();
    expect(await loginFrames(thread)).toMatchObject([{ tool_call_id: call.id, auth_url }]);
  });

  it('R85 R87 keeps its call pending until the result, which is taken; nothing is sent again', async () => {
    const { server, thread, prompts, call } = await loginAsked();
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}`);
    expect(json).toMatchObject({ status: 'waiting', waiting_on: [{ kind: 'oauth', operation: 'work' }] });
    expect((await server.send(call, { type: 'oauth', auth_url: 'https://login.example/again' })).status).toBe(200);
    await aWhile(1_500); // longer than a retry would wait
    expect((await server.send(call, { type: 'tool_result', text: 'logged in and done' })).status).toBe(200);
    await untilStatus(rig.at, thread, 'idle');
    expect(resultIn(prompts[1], call.id)).toBe('logged in and done');
    expect(server.invocations()).toHaveLength(1);
  });

  it('R86 is told to the model when it is asked meanwhile, and the login stays open', async () => {
    const { server, thread, prompts, call, secret } = await loginAsked();
    expect(await say(rig.at, thread, 'I am on it')).toMatchObject({ message: { text: 'one' } });
    expect(resultIn(prompts[1], call.id)).toMatch(/authori[sz]ation is in progress/i);
    expect(JSON.stringify(prompts)).not.toContain(secret);
    expect(server.posts('/cancel_tool_call')).toEqual([]);
    expect((await server.send(call, { type: 'tool_result', text: 'logged in' })).status).toBe(200);
    await untilStatus(rig.at, thread, 'idle');
    expect(prompts.at(-1).messages.at(-1)).toMatchObject({ role: 'tool', content: 'logged in' });
  });

  it('R88 is gone after the result: no event, no list, no stream and no log line has its URL', async () => {
    const { server, thread, call, secret } = await loginAsked();
    expect(JSON.stringify(await eventsOf(rig.at, thread))).not.toContain(secret);
    await server.send(call, { type: 'tool_result', text: 'logged in' });
    await untilStatus(rig.at, thread, 'idle');
    expect(await loginFrames(thread)).toEqual([]);
    for (const path of ['', '/events?limit=200', '/messages', '/tool-calls', '/choices', '/views'])
      expect((await rig.at.request('GET', `/v1/threads/${thread}${path}`)).text).not.toContain(secret);
    expect(rig.at.output()).not.toContain(secret);
  });
});
