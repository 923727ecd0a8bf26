// Threads and time, in a real process: sleeps of a year, schedules over daylight saving changes, deadlines. Whatever
// process dies meanwhile, each comes once. The development clock turns days into moments; a restart without its file
// puts it back to the machine's time, as on a machine whose clock is set back.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type Step,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from './standalone-process.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let at: Standalone;
let tools: DrivenToolServer;
beforeEach(async () => {
  at = await startStandalone({ args: ['--no-example-tools'] });
  tools = await driveToolServer(at);
});
afterEach(async () => {
  await at.stop('SIGKILL');
  await tools.close();
});
afterAll(cleanUp);

const threadOf = async (script: readonly (readonly Step[])[]): Promise<string> =>
  openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));

async function kill(): Promise<void> {
  await at.stop('SIGKILL');
}

async function startAgain(): Promise<void> {
  await rm(join(at.dataDir, 'clock-offset'), { force: true });
  at = await startStandalone({ dataDir: at.dataDir, port: at.port, args: ['--no-example-tools'] });
}

/** Milliseconds since the epoch, afterwards. */
async function passes(ms: number): Promise<number> {
  const { status, json } = await at.request('POST', '/v1/dev/clock', { advance_ms: ms });
  expect(status).toBe(200);
  return Date.parse(json.now);
}

const passesUntil = async (time: number): Promise<unknown> => passes(time - (await passes(0)));

const ofType = async (thread: string, type: string): Promise<readonly Json[]> =>
  (await eventsOf(at, thread)).filter((event) => event.type === type);

/** Long enough for a second one to come. */
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000));

describe('a sleep', () => {
  it('of a year outlives the process, ends at its time and not before, and once', async () => {
    const thread = await threadOf([[toolCall('sleep', { seconds: 365 * 86_400 })], [{ text: 'A year has passed.' }]]);
    expect(await say(at, thread, 'sleep')).toMatchObject({ status: 'waiting', waiting_on: [{ kind: 'timer' }] });
    const { due } = await untilEvent(at, thread, 'timer_set');
    await kill();
    await startAgain();
    await passes(365 * dayMs - hourMs);
    await aWhile();
    expect(await ofType(thread, 'timer_fired')).toEqual([]);
    await passes(hourMs);
    expect(await untilEvent(at, thread, 'timer_fired')).toMatchObject({ scheduled_for: due });
    await untilStatus(at, thread, 'idle');
    await kill();
    await startAgain();
    await passes(2 * 365 * dayMs);
    await aWhile();
    expect(await ofType(thread, 'timer_fired')).toHaveLength(1);
    expect(await ofType(thread, 'completion_recorded')).toHaveLength(2);
  });

  it('that ends while no process is there ends when one is, late and once, and says when it was meant to', async () => {
    const thread = await threadOf([[toolCall('sleep', { seconds: 1 })], [{ text: 'I am late.' }]]);
    await say(at, thread, 'sleep');
    const { due } = await untilEvent(at, thread, 'timer_set');
    await kill();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await startAgain();
    const fired = await untilEvent(at, thread, 'timer_fired');
    expect(fired.scheduled_for).toBe(due);
    expect(Date.parse(fired.at)).toBeGreaterThan(Date.parse(due));
    await untilStatus(at, thread, 'idle');
    await aWhile();
    expect(await ofType(thread, 'timer_fired')).toHaveLength(1);
  });
});

describe('a schedule', () => {
  const localHour = (time: string): string =>
    new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Vienna', hour: '2-digit', minute: '2-digit' }).format(
      Date.parse(time),
    );

  async function scheduled(missed: 'skip' | 'once'): Promise<{ thread: string; next: () => Promise<string> }> {
    const thread = await threadOf([[{ text: 'good morning' }]]);
    const path = `/v1/threads/${thread}/schedules`;
    const body = { cron: '0 9 * * *', time_zone: 'Europe/Vienna', message: 'stand up', missed };
    expect((await at.request('POST', path, body)).status).toBe(202);
    await untilEvent(at, thread, 'schedule_set');
    return { thread, next: async () => (await at.request('GET', path)).json.data[0].next_at };
  }

  it('comes at the same hour of its zone all year, once a day, whatever process is there', async () => {
    const { thread, next } = await scheduled('once');
    let came = 0;
    for (const days of [1, 1, 100, 100, 100]) {
      const due = await next();
      expect(localHour(due)).toBe('09:00');
      await passesUntil(Date.parse(due) + (days - 1) * dayMs + hourMs + 1_000);
      came += 1;
      const events = await eventually(async () => {
        const all = await ofType(thread, 'schedule_came');
        return all.length === came && all;
      });
      expect(events.at(-1).missed).toBe(days - 1);
      await eventually(async () => Date.parse(await next()) > Date.parse(due) + (days - 1) * dayMs);
    }
    await kill();
    await startAgain();
    await aWhile();
    expect(await ofType(thread, 'schedule_came')).toHaveLength(came);
  });

  it('that skips what it missed says nothing, and comes the next day', async () => {
    const { thread, next } = await scheduled('skip');
    await passesUntil(Date.parse(await next()) + 5 * dayMs + 3 * hourMs);
    expect(await untilEvent(at, thread, 'schedule_came')).toMatchObject({ skipped: true });
    expect(await ofType(thread, 'completion_requested')).toEqual([]);
    expect(localHour(await next())).toBe('09:00');
    await passesUntil(Date.parse(await next()) + 1_000);
    await untilEvent(at, thread, 'completion_recorded');
  });
});

describe('who waits for a person', () => {
  async function pending(message: Step): Promise<{ readonly thread: string; readonly call: Json }> {
    const thread = await threadOf([[toolCall('work')], [{ text: 'nobody came' }]]);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await tools.invocation(0);
    expect(await tools.send(call, message)).toBe(200);
    return { thread, call };
  }

  it('R92 gets the default of a choice after its hour, over a restart, and the call goes on', async () => {
    const response_url = `${tools.url}/answer`;
    const { thread, call } = await pending({
      type: 'user_choice',
      prompt: '?',
      choices: ['a', 'b'],
      default: 1,
      response_url,
    });
    await untilEvent(at, thread, 'choice_requested');
    await kill();
    await startAgain();
    await passes(hourMs - 60_000);
    await aWhile();
    expect(tools.others('/answer')).toEqual([]);
    await passes(60_000);
    expect(await untilEvent(at, thread, 'choice_settled')).toMatchObject({ selected: 1 });
    await eventually(async () => tools.others('/answer').length === 1);
    expect(tools.others('/answer')[0]?.body).toEqual({ id: call.id, selected: 1 });
    expect(await tools.send(call, { type: 'tool_result', text: 'b it is' })).toBe(200);
    await untilStatus(at, thread, 'idle');
    expect(await ofType(thread, 'tool_call_settled')).toMatchObject([{ outcome: 'result' }]);
  });

  it('is told after a day that nobody logged in, and the tool that it need not wait', async () => {
    const { thread, call } = await pending({ type: 'oauth', auth_url: 'https://login.example/authorize?state=1' });
    await untilEvent(at, thread, 'oauth_requested');
    await kill();
    await startAgain();
    await passes(dayMs);
    await untilStatus(at, thread, 'idle');
    expect(await ofType(thread, 'tool_call_settled')).toMatchObject([{ outcome: 'timed_out' }]);
    await eventually(async () => tools.others('/cancel_tool_call').length === 1);
    expect(await tools.send(call, { type: 'tool_result', text: 'too late' })).toBe(200);
    await aWhile();
    expect(await ofType(thread, 'tool_call_settled')).toHaveLength(1);
  });
});
