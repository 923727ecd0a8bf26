// RAP overview, Trust: which side decides what is done, which side sees which data, and how they authenticate each
// other.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { fixture, normalised } from './fixture.ts';
import { tool } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const once = [[toolCall('work', { what: 'this' })], [{ text: 'ok' }]];

describe('the wire', () => {
  it('R41 is plain http only towards addresses that the installation names; elsewhere nothing is sent, and the model is told', async () => {
    const server = await rig.toolServer();
    // Never reached: a forbidden address is not connected to.
    server.publish(server.manifest([tool('work')], { endpoint: 'http://1.1.1.1/invoke' }));
    const thread = await rig.thread(once, [server]);
    expect(await say(rig.at, thread, 'go')).toMatchObject({ message: { text: 'ok' } });
    const settled = await untilEvent(rig.at, thread, 'tool_call_settled');
    expect(settled).toMatchObject({ outcome: 'error', content: [{ text: expect.stringContaining('plain http') }] });
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/tool-calls`);
    expect(json.data[0].attempts).toMatchObject([{ status: 'OUTBOUND_FORBIDDEN' }]);
  });
});

describe('consent', () => {
  it('R104 before a call is dispatched follows the policy of its agent, tool by tool, and shows what it would do', async () => {
    const server = await rig.toolServer();
    const policies = { approve: { mode: 'none', tools: { work: 'always' } } };
    const script = [[toolCall('watch'), toolCall('work', { what: 'this' })], [{ text: 'ok' }]];
    const thread = await rig.thread(script, [server], { agent: { policies } });
    await tell(rig.at, thread, 'go');
    const asked = await untilEvent(rig.at, thread, 'choice_requested');
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/choices`);
    expect(json.data).toMatchObject([
      { id: asked.choice_id, kind: 'approval', arguments: { what: 'this' }, prompt: expect.stringContaining('work') },
    ]);
    const first = await server.invocation(0);
    expect(first.operation).toBe('watch');
    await aWhile();
    expect(server.invocations()).toHaveLength(1);
    await rig.at.request('POST', `/v1/threads/${thread}/choices/${asked.choice_id}`, { decision: 'deny' });
    await server.send(first, { type: 'tool_result', text: 'done' });
    await untilStatus(rig.at, thread, 'idle');
    expect(server.invocations()).toHaveLength(1);
  });

  it('R104 for every call is asked under the mode all', async () => {
    const server = await rig.toolServer();
    const thread = await rig.thread(once, [server], { agent: { policies: { approve: { mode: 'all' } } } });
    expect(await say(rig.at, thread, 'go')).toMatchObject({ waiting_on: [{ kind: 'approval', operation: 'work' }] });
    expect(server.invocations()).toEqual([]);
  });

  it('R13 R105 user_id is forwarded only to a server whose registration says so', async () => {
    const servers = [await rig.toolServer(), await rig.toolServer({ registration: { forward_user_id: true } })];
    const [closed, open] = servers;
    if (closed === undefined || open === undefined) throw new Error('there are no servers');
    closed.publish(closed.manifest([tool('left')]));
    open.publish(open.manifest([tool('right')]));
    const script = [[toolCall('left'), toolCall('right')], [{ text: 'ok' }]];
    const { thread } = await rig.watchedThread(script, servers, { thread: { user_id: 'ann@example.org' } });
    await tell(rig.at, thread, 'go');
    expect(await closed.invocation(0)).not.toHaveProperty('user_id');
    const call = await open.invocation(0);
    const [request] = open.invocations();
    if (request === undefined) throw new Error('nothing was sent');
    expect(normalised(request, { [thread]: 'thread', [call.id]: 'call', [call.callback_url]: 'callback' })).toEqual(
      fixture('invocation-with-user'),
    );
    expect(closed.requests.map(({ bytes }) => bytes.toString('utf8')).join()).not.toContain('ann@');
  });
});

describe('authentication', () => {
  it('R42 by a bearer token is in every request to the server, and in no request to another', async () => {
    const plain = await rig.toolServer();
    const server = await rig.toolServer();
    await rig.at.request('PUT', '/v1/secrets/token', { value: 'very-secret-token', origins: [server.url] });
    const auth = { type: 'bearer', secret: 'token' };
    expect((await rig.at.request('PATCH', `/v1/tool-servers/${server.name}`, { auth })).status).toBe(200);
    plain.publish(plain.manifest([tool('other')]));
    const thread = await rig.thread([[toolCall('work'), toolCall('other')], [{ text: 'ok' }]], [server, plain]);
    await tell(rig.at, thread, 'go');
    await Promise.all([server.invocation(0), plain.invocation(0)]);
    await rig.at.request('POST', `/v1/threads/${thread}/close`);
    await eventually(async () => server.posts('/close_thread').length + plain.posts('/close_thread').length === 2);
    expect(server.requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([
      ['GET', 'Bearer very-secret-token'],
      ['POST', 'Bearer very-secret-token'],
      ['POST', 'Bearer very-secret-token'],
    ]);
    expect(JSON.stringify(plain.requests.map(({ headers }) => headers))).not.toContain('very-secret-token');
    expect(rig.at.output()).not.toContain('very-secret-token');
  });

  it('R42 by a signature covers the id, the time and the exact bytes', async () => {
    const server = await rig.toolServer();
    const key = Buffer.from('a key of at least 24 bytes, I hope');
    const value = `whsec_${key.toString('base64')}`;
    await rig.at.request('PUT', '/v1/secrets/signing', { value, origins: [server.url] });
    const auth = { type: 'hmac', secret: 'signing' };
    expect((await rig.at.request('PATCH', `/v1/tool-servers/${server.name}`, { auth })).status).toBe(200);
    const thread = await rig.thread(once, [server]);
    await tell(rig.at, thread, 'go');
    await server.invocation(0);
    const [request] = server.invocations();
    if (request === undefined) throw new Error('nothing was sent');
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers;
    const signed = Buffer.concat([Buffer.from(`${String(id)}.${String(at)}.`), request.bytes]);
    expect(signature).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    expect(Math.abs(Number(at) * 1_000 - Date.now())).toBeLessThan(60_000);
  });

  it('R42 whose secret is not meant for the origin of the server sends nothing', async () => {
    const server = await rig.toolServer();
    const put = (origins: readonly string[]) =>
      rig.at.request('PUT', '/v1/secrets/foreign', { value: 'for-others', origins });
    const auth = { type: 'bearer', secret: 'foreign' };
    const patch = () => rig.at.request('PATCH', `/v1/tool-servers/${server.name}`, { auth });
    await put(['https://other.example']);
    expect(await patch()).toMatchObject({ status: 422, json: { errors: [{ pointer: '/auth/secret' }] } });
    await put([server.url]);
    expect((await patch()).status).toBe(200);
    await put(['https://other.example']);
    const thread = await rig.thread(once, [server]);
    await say(rig.at, thread, 'go');
    expect(server.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(server.invocations()).toEqual([]);
  });
});
