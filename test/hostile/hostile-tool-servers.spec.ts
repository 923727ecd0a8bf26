// Whatever a tool server does, the model gets exactly one result for its call and the thread stays usable. The real
// program against a real server over real sockets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say } from '../e2e/conversation.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { slownessOfMachine } from '../machine-pace.ts';
import { freePort } from '../services/free-ports.ts';
import { type HostileToolServer, type Misdeed, misdeeds, startHostileToolServer } from './hostile-tool-server.ts';

let runtime: Standalone;
let hostile: HostileToolServer;
const toolTimeoutMs = 1_500;

beforeAll(async () => {
  hostile = await startHostileToolServer();
  runtime = await startStandalone({
    args: ['--no-example-tools'],
    env: {
      DORMOUSE_TOOL_ACK_TIMEOUT_MS: '300',
      DORMOUSE_TOOL_RETRY_FIRST_MS: '50',
      DORMOUSE_TOOL_RETRY_TOTAL_MS: '1000',
      DORMOUSE_LOG_LEVEL: 'error',
    },
  });
  await runtime.request('POST', '/v1/tool-servers', { name: 'hostile', base_url: hostile.url });
  await runtime.request('POST', '/v1/tool-servers', {
    name: 'absent',
    base_url: `http://127.0.0.1:${await freePort()}`,
  });
});
afterAll(async () => {
  await cleanUp();
  await hostile.close();
});

/** One thread whose model calls one tool, then says what it got. */
async function threadThatCalls(tool: string, servers = ['hostile']): Promise<string> {
  const script = [[{ tool_call: { name: tool, arguments: {} } }], [{ text: 'understood' }], [{ text: 'still here' }]];
  const agent = await runtime.request('POST', '/v1/agents', {
    name: `calls-${tool.replaceAll('_', '-')}-${servers.join('-')}`,
    model: { provider: 'scripted', parameters: { script } },
    tool_servers: servers,
    limits: { tool_timeout_ms: { default: null, never_answers: toolTimeoutMs } },
  });
  expect([200, 201]).toContain(agent.status);
  const thread = await runtime.request('POST', '/v1/threads', { agent: (agent.json as Json).name });
  return (thread.json as Json).id as string;
}

/** The expected result of each: the outcome, what the model reads, the number of requests, the answers to callbacks. */
const expected: Record<
  Misdeed,
  { outcome: string; says: RegExp; posts: 'one' | 'several'; answers?: readonly number[] }
> = {
  answers_500: { outcome: 'error', says: /^Error: /, posts: 'several' },
  answers_404: { outcome: 'error', says: /^Error: .*404/, posts: 'one' },
  answers_409: { outcome: 'error', says: /^Error: /, posts: 'one' },
  never_acknowledges: { outcome: 'error', says: /^Error: /, posts: 'several' },
  never_answers: { outcome: 'timed_out', says: /^Error: no result within 1\.5 s/, posts: 'one' },
  cuts_the_connection: { outcome: 'error', says: /^Error: /, posts: 'several' },
  sends_garbage: { outcome: 'error', says: /^Error: /, posts: 'one', answers: [400] },
  sends_bad_utf8: { outcome: 'error', says: /^Error: /, posts: 'one', answers: [400] },
  sends_too_much: { outcome: 'error', says: /^Error: /, posts: 'one', answers: [413] },
  answers_before_acknowledging: { outcome: 'result', says: /^early$/, posts: 'one', answers: [200] },
  answers_twice: { outcome: 'result', says: /^first$/, posts: 'one', answers: [200, 200] },
  lies_about_the_id: { outcome: 'result', says: /^true$/, posts: 'one', answers: [403, 403, 200] },
  redirects: { outcome: 'error', says: /^Error: /, posts: 'one' },
};

describe('a tool server that', () => {
  it.each(misdeeds)('%s gives the model exactly one result, and the thread goes on', async (misdeed) => {
    const wish = expected[misdeed];
    const thread = await threadThatCalls(misdeed);
    expect(await say(runtime, thread, 'go')).toMatchObject({ status: 'idle', message: { text: 'understood' } });
    const settled = (await eventsOf(runtime, thread)).filter((event) => event.type === 'tool_call_settled');
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({ outcome: wish.outcome });
    expect(settled[0].content[0].text).toMatch(wish.says);
    const posts = hostile.invoked.get(misdeed) ?? [];
    expect(new Set(posts).size).toBe(1);
    expect(posts.length > 1 ? 'several' : 'one').toBe(wish.posts);
    const { answers } = wish; // the turn may end before the last of them is there
    if (answers !== undefined) {
      await eventually(async () => (hostile.answers.get(misdeed) ?? []).length >= answers.length);
      expect(hostile.answers.get(misdeed)).toEqual(answers);
    }
    expect(await say(runtime, thread, 'and now?')).toMatchObject({ message: { text: 'still here' } });
  });

  it('is not there at all is reported, and its tools are unknown', async () => {
    const thread = await threadThatCalls('answers_404', ['absent']);
    expect(await say(runtime, thread, 'go')).toMatchObject({ message: { text: 'understood' } });
    const events = await eventsOf(runtime, thread);
    expect(events.find((event) => event.type === 'toolset_rejected')).toMatchObject({
      tool_server: 'absent',
      code: 'TOOLSET_UNREACHABLE',
    });
    expect(events.find((event) => event.type === 'tool_call_settled')).toMatchObject({
      outcome: 'error',
      code: 'TOOL_UNKNOWN',
    });
  });

  it('R52 hangs does not keep the user waiting', async () => {
    const thread = await threadThatCalls('never_acknowledges');
    await runtime.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const started = Date.now();
    expect(await say(runtime, thread, 'never mind')).toMatchObject({ message: { text: expect.any(String) as string } });
    expect(Date.now() - started).toBeLessThan(5_000 * slownessOfMachine());
  });
});
