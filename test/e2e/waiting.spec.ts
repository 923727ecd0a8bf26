// What a thread waits for, as the API and the command line say it: asked of a real process, over a slow tool, a sleep
// that the development clock shortens, and an approval.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliRun, connectionFlags, runCli } from '../cli/cli-process.ts';
import { eventually, openThread, say, scriptedAgent, sentCalls, untilStatus } from './conversation.ts';
import { toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from './standalone-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

const dayMs = 86_400_000;
const why = (...args: readonly string[]): Promise<CliRun> => runCli([...connectionFlags(at), 'why', ...args]);
const get = async (thread: string, query = ''): Promise<Json> =>
  (await at.request('GET', `/v1/threads/${thread}${query}`)).json;
const post = (thread: string, text: string) => at.request('POST', `/v1/threads/${thread}/messages`, { text });

describe('dormouse why', () => {
  it('names the call, when it was acknowledged, and how long the one before took', async () => {
    const thread = await openThread(at);
    expect(await say(at, thread, 'Run a slow job of 1 second')).toMatchObject({ status: 'idle' });
    await post(thread, 'Run a slow job of 1 hour');
    await untilStatus(at, thread, 'waiting');
    await sentCalls(at, thread);
    const { waiting, waiting_on, position } = await get(thread);
    const said = /^waiting \d+ (?:ms|s) for `(call_\w+)` \(slow_job\) at example-tools: acknowledged in \d+ ms, /;
    expect(said.exec(waiting)?.[1]).toBe(waiting_on[0].id);
    expect(waiting).toMatch(/, no result since; the last such call took \d+ s$/);
    expect((await get(thread, `?at=${position}`)).waiting).toBeNull();

    expect(await why(thread)).toMatchObject({ code: 0, stdout: expect.stringMatching(said), stderr: '' });
    const asked = await why(thread, '--json');
    expect(JSON.parse(asked.stdout)).toMatchObject({
      ...{ id: thread, status: 'waiting', waiting: expect.stringMatching(said), waiting_on, open_children: [] },
    });
    const shown = await runCli([...connectionFlags(at), 'threads', 'show', thread]);
    expect(shown.stdout).toMatch(/\nwhy {7}waiting \d+ /);
    await at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(at, thread, 'closed');
    expect((await get(thread)).waiting).toBeNull();
    expect((await why(thread)).stdout).toBe('closed: it waits for nothing\n');
  });

  it('says until when a thread sleeps, and what may wake one that is idle', async () => {
    const { json } = await at.request('POST', '/v1/dev/clock', { advance_ms: 0 });
    const due = Math.floor(Date.parse(json.now) / 60_000) * 60_000 + 3 * dayMs;
    const local = new Date(due + 2 * 3_600_000).toISOString();
    const until = `${local.slice(0, 16)}:00+02:00`;
    const agent = await scriptedAgent(at, [[toolCall('sleep_until', { at: until })], [{ text: 'Good morning.' }]]);
    const thread = await openThread(at, agent);
    expect(await say(at, thread, 'sleep')).toMatchObject({ status: 'waiting' });
    const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' }).format(Date.parse(local));
    const words = `sleeping until ${weekday} ${local.slice(11, 16)} +02:00`;
    expect((await get(thread)).waiting).toMatch(new RegExp(`^${words.replace('+', '\\+')} \\(in 3 days\\)$`));
    await at.request('POST', '/v1/dev/clock', { advance_ms: 2 * dayMs });
    const { stdout } = await why(thread);
    expect(stdout.startsWith(`${words} (in 23 h 5`) || stdout.startsWith(`${words} (in 1 day)`), stdout).toBe(true);
    await at.request('POST', '/v1/dev/clock', { advance_ms: dayMs });
    await untilStatus(at, thread, 'idle');
    expect((await get(thread)).waiting).toBeNull();
    expect((await why(thread)).stdout).toBe('idle: it goes on with a message\n');
  });

  it('says who is asked, and which command answers', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'Delete everything.');
    const { stdout, code } = await why(thread);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^waiting \d+ m?s for a person to allow `call_\w+` \(delete_everything\) at example-tools; it expires in (?:1 day|23 h 5\d min)\n/,
    );
    expect(stdout).toContain(`\nnext      npx @dormouse/cli choices ${thread} --url ${at.url} --data ${at.dataDir}\n`);
  });

  it('shows the open children of an idle parent', async () => {
    const thread = await openThread(at);
    await say(at, thread, 'Spawn a thread: "What is the weather in Oslo?"');
    const child = await eventually(async () => {
      const { data } = (await at.request('GET', `/v1/threads/${thread}/children`)).json;
      return data.length > 0 && (data[0].id as string);
    });
    await untilStatus(at, thread, 'idle');
    const { status } = await untilStatus(at, child, 'idle');
    expect(status).toBe('idle');
    expect((await get(thread)).waiting).toBeNull();
    expect((await why(thread)).stdout).toBe(`idle: it goes on with a message, or a report of ${child}\n`);
  });

  it('ends as other commands do where there is no such thread', async () => {
    const { code, stdout, stderr } = await why('thr_nowhere');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('dormouse: ');
    expect((await runCli([...connectionFlags(at), 'why'])).code).toBe(2);
  });
});
