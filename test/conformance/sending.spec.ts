// RAP transport and invocation, as a tool server sees them: what is sent, where, how often, and how the answer is used.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { fixture, normalised } from './fixture.ts';
import { resultIn } from './recording-model.ts';
import { hangUp, type RecordingToolServer, type Reply, silence, status, tool } from './recording-tool-server.ts';
import { aWhile, eventsOfType, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const once = [[toolCall('work', { what: 'Zürich ☃ 𝄞' })], [{ text: 'understood' }]];

/** Calls `work` once; the server answers invocations as given. What the model read as the result, and the server. */
async function calling(
  ...replies: readonly Reply[]
): Promise<{ readonly server: RecordingToolServer; readonly result: string | undefined }> {
  const server = await rig.toolServer();
  server.replies('/invoke', ...replies);
  const { thread, prompts } = await rig.watchedThread(once, [server]);
  await say(rig.at, thread, 'go');
  return { server, result: resultIn(prompts[1], server.invocations()[0]?.json.id) };
}

describe('an invocation', () => {
  it('R1 R2 R11 R12 R13 of a root thread is one POST in JSON and UTF-8 with exactly these fields', async () => {
    const server = await rig.toolServer();
    const { thread } = await rig.watchedThread(once, [server]);
    await tell(rig.at, thread, 'go');
    const sent = await server.invocation(0);
    const [request] = server.invocations();
    if (request === undefined) throw new Error('nothing was sent');
    expect(normalised(request, { [thread]: 'thread', [sent.id]: 'call', [sent.callback_url]: 'callback' })).toEqual(
      fixture('invocation'),
    );
    expect(request.bytes.includes(Buffer.from('Zürich ☃ 𝄞', 'utf8'))).toBe(true);
    expect(Object.keys(sent)).not.toContain('thread_ancestors');
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}`);
    expect(sent.group_id).toBe(json.id);
  });

  it('R3 goes to the endpoint of the toolset that owns the tool, and nowhere else', async () => {
    const servers = await Promise.all([rig.toolServer({ basePath: '/a' }), rig.toolServer({ basePath: '/b' })]);
    const [left, right] = servers;
    left.publish({ ...left.manifest([tool('left')]), endpoint: `${left.url}/deep/left?x=1` });
    right.publish({ ...right.manifest([tool('right')]), endpoint: `${right.url}/deep/right` });
    const thread = await rig.thread([[toolCall('left'), toolCall('right')], [{ text: 'ok' }]], servers);
    await tell(rig.at, thread, 'go');
    await eventually(async () => left.posts('/deep/left?x=1').length + right.posts('/deep/right').length === 2);
    await aWhile();
    const sent = servers.map(({ requests }) => requests.filter(({ method }) => method === 'POST'));
    expect(sent.map((posts) => posts.map(({ path, json }) => [path, json.operation]))).toEqual([
      [['/deep/left?x=1', 'left']],
      [['/deep/right', 'right']],
    ]);
  });

  it('R9 has an id of its own, also when the model gives every call the same', async () => {
    const server = await rig.toolServer();
    const same = { tool_call: { name: 'work', arguments: {}, id: 'call_same' } };
    const script = [[same, same], [same], [{ text: 'ok' }]];
    const threads = await Promise.all([rig.watchedThread(script, [server]), rig.watchedThread(script, [server])]);
    await Promise.all(threads.map(({ thread }) => tell(rig.at, thread, 'go')));
    for (let index = 0; index < 6; index++) {
      const call = await server.invocation(index);
      expect((await server.send(call, { type: 'tool_result', text: `result ${index}` })).status).toBe(200);
    }
    await Promise.all(threads.map(({ thread }) => untilStatus(rig.at, thread, 'idle')));
    expect(new Set(server.invocations().map(({ json }) => json.id)).size).toBe(6);
  });

  it('R10 carries a callback URL that takes the result as it is', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread(once, [server]);
    const turn = say(rig.at, thread, 'go');
    const call = await server.invocation(0);
    expect((await server.send(call, { type: 'tool_result', text: 'forty-two' })).status).toBe(200);
    expect(await turn).toMatchObject({ status: 'idle', message: { text: 'understood' } });
    expect(resultIn(prompts[1], call.id)).toBe('forty-two');
  });

  it('R12 of a child of a child names its ancestors from the root on', async () => {
    const server = await rig.toolServer();
    const { thread } = await rig.watchedThread(
      (prompt) => {
        const words = JSON.stringify(prompt.messages);
        if (words.includes('provider-0') || prompt.messages.at(-1).role === 'tool') return [{ text: 'done' }];
        if (words.includes('level two')) return [toolCall('work')];
        if (words.includes('level one')) return [toolCall('spawn_thread', { instructions: 'level two' })];
        return [toolCall('spawn_thread', { instructions: 'level one' })];
      },
      [server],
    );
    await tell(rig.at, thread, 'go');
    const call = await server.invocation(0);
    const { child_id: child } = await untilEvent(rig.at, thread, 'child_spawned');
    const { child_id: grandchild } = await untilEvent(rig.at, child, 'child_spawned');
    expect(call).toMatchObject({ group_id: grandchild, thread_ancestors: [thread, child] });
    const [request] = server.invocations();
    if (request === undefined) throw new Error('nothing was sent');
    const names = { [thread]: 'root', [child]: 'child', [grandchild]: 'grandchild' };
    expect(normalised(request, { ...names, [call.id]: 'call', [call.callback_url]: 'callback' })).toEqual(
      fixture('invocation-of-grandchild'),
    );
  });
});

describe.concurrent('an acknowledgement', () => {
  const bodies = [
    '',
    'garbage {',
    '<html><body>fine</body></html>',
    '{"error":"no"}',
    '{"type":"tool_result","text":"x"}',
  ];

  it.each(bodies)('R4 is its status, whatever its body says: %j', async (body) => {
    const server = await rig.toolServer();
    server.replies('/invoke', status(200, body));
    const { thread, prompts } = await rig.watchedThread(once, [server]);
    const turn = say(rig.at, thread, 'go');
    const call = await server.invocation(0);
    expect((await server.send(call, { type: 'tool_result', text: 'the result' })).status).toBe(200);
    expect(await turn).toMatchObject({ status: 'idle', message: { text: 'understood' } });
    expect(resultIn(prompts[1], call.id)).toBe('the result');
    expect(server.invocations()).toHaveLength(1);
  });

  it('R5 503 twice and then 200: three POSTs, growing gaps, the same id and the same bytes', async () => {
    const server = await rig.toolServer();
    server.replies('/invoke', status(503), status(503), status(200));
    const thread = await rig.thread(once, [server]);
    const turn = say(rig.at, thread, 'go');
    const third = await server.invocation(2);
    await server.send(third, { type: 'tool_result', text: 'at last' });
    expect(await turn).toMatchObject({ status: 'idle' });
    const posts = server.invocations();
    expect(posts).toHaveLength(3);
    expect(new Set(posts.map(({ bytes }) => bytes.toString('utf8'))).size).toBe(1);
    expect(new Set(posts.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([third.id]));
    const [first = 0, second = 0, last = 0] = posts.map(({ at }) => at);
    // 200 ms and 400 ms, each with up to half taken off.
    expect(second - first).toBeGreaterThanOrEqual(100);
    expect(last - second).toBeGreaterThanOrEqual(200);
  });

  it('R5 of a connection that breaks is waited for again', async () => {
    const server = await rig.toolServer();
    server.replies('/invoke', hangUp, status(200));
    const thread = await rig.thread(once, [server]);
    const turn = say(rig.at, thread, 'go');
    await server.send(await server.invocation(1), { type: 'tool_result', text: 'ok' });
    expect(await turn).toMatchObject({ status: 'idle' });
    expect(new Set(server.invocations().map(({ json }) => json.id)).size).toBe(1);
  });

  it.each([400, 401, 404, 409, 422, 429])('R6 of %i is final: one POST', async (code) => {
    const { server, result } = await calling(status(code, 'never again', { 'retry-after': '0' }));
    await aWhile();
    expect(server.invocations()).toHaveLength(1);
    expect(result).toMatch(/^Error: /);
  });

  const failures: readonly (readonly [string, Reply])[] = [
    ['500 again and again', status(500)],
    ['404', status(404)],
    ['a broken connection again and again', hangUp],
    ['none at all', silence],
  ];
  it.each(failures)('R14 R56 %s becomes an error result that the model reads', async (_name, reply) => {
    const { result } = await calling(reply);
    expect(result).toMatch(/^Error: /);
  });

  it('R14 R56 of a server that is gone becomes an error result too', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread(once, [server]);
    await untilEvent(rig.at, thread, 'toolsets_loaded');
    await server.close();
    await say(rig.at, thread, 'go');
    const { tool_call_id: call } = await untilEvent(rig.at, thread, 'tool_call_requested');
    expect(resultIn(prompts[1], call)).toMatch(/^Error: /);
  });
});

describe('before anything is sent', () => {
  it('R7 an unknown tool is answered with an error, and no request leaves', async () => {
    const server = await rig.toolServer();
    const { thread, prompts } = await rig.watchedThread([[toolCall('wrok')], [{ text: 'sorry' }]], [server]);
    expect(await say(rig.at, thread, 'go')).toMatchObject({ message: { text: 'sorry' } });
    const settled = await untilEvent(rig.at, thread, 'tool_call_settled');
    expect(settled).toMatchObject({ outcome: 'error', code: 'TOOL_UNKNOWN' });
    expect(resultIn(prompts[1], settled.tool_call_id)).toMatch(/^Error: .*wrok/);
    expect(server.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('R8 arguments that the schema refuses are answered with an error that names the field', async () => {
    const server = await rig.toolServer();
    const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    server.publish(server.manifest([tool('weather', { inputSchema })]));
    const script = [[toolCall('weather', {}), toolCall('weather', { city: 7 })], [{ text: 'sorry' }]];
    const { thread, prompts } = await rig.watchedThread(script, [server]);
    await say(rig.at, thread, 'go');
    const settled = await eventsOfType(rig.at, thread, 'tool_call_settled');
    expect(settled).toMatchObject([{ code: 'ARGUMENTS_INVALID' }, { code: 'ARGUMENTS_INVALID' }]);
    for (const { tool_call_id: call } of settled) expect(resultIn(prompts[1], call)).toMatch(/^Error: .*city/s);
    expect(server.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

describe('afterwards', () => {
  it('R15 every attempt is listed with its operation, its time and its outcome', async () => {
    const { server } = await calling(status(503), status(404));
    const thread = server.invocations()[0]?.json.group_id;
    const { json } = await rig.at.request('GET', `/v1/threads/${thread}/tool-calls`);
    expect(json.data).toMatchObject([
      { operation: 'work', tool_server: server.name, outcome: 'error', attempts: [{ status: 503 }, { status: 404 }] },
    ]);
    for (const { at } of json.data[0].attempts) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000);
    expect((await eventsOf(rig.at, thread)).map(({ type }) => type)).toContain('tool_call_settled');
  });
});
