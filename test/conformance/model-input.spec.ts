// A model is as untrusted as a tool server: any invalid request gets an error that it can act on, the limits hold, and
// nothing leaves that should not. R7, R8
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, type Step, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { type Prompt, resultIn } from './recording-model.ts';
import type { RecordingToolServer } from './recording-tool-server.ts';
import { aWhile, eventsOfType, type More, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface Answered {
  readonly thread: string;
  readonly server: RecordingToolServer;
  /** What the model read, call by call in the order it made them. */
  readonly results: readonly string[];
  readonly settled: readonly Json[];
}

/** The model makes these calls in one answer; none of them may reach a server. */
async function answeredAtOnce(calls: readonly Step[], more: More = {}): Promise<Answered> {
  const server = await rig.toolServer();
  const { thread, prompts } = await rig.watchedThread([calls, [{ text: 'I see' }]], [server], more);
  expect(await say(rig.at, thread, 'go')).toMatchObject({ status: 'idle', message: { text: 'I see' } });
  const settled = await eventsOfType(rig.at, thread, 'tool_call_settled');
  expect(server.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  const results = settled.map(({ tool_call_id: call }) => resultIn(prompts[1], call) ?? '');
  return { thread, server, results, settled };
}

/** As the model wrote them, which may be no JSON. */
const written = (name: string, args: string): Step => ({ tool_call: { name, arguments: args } });

describe.concurrent('a call that', () => {
  it('R7 R72 names a tool that is not offered is an error each, whatever its name', async () => {
    const names = ['wrok', 'Work', 'constructor', '__proto__', 'toString', 'receive_event__injected', 'x'.repeat(128)];
    const { results, settled } = await answeredAtOnce(names.map((name) => toolCall(name)));
    expect(settled).toHaveLength(names.length);
    for (const [index, name] of names.entries())
      expect(results[index]).toMatch(`Error: there is no tool named "${name}"`);
  });

  it('R7 names a tool of children in a thread without a parent is an error', async () => {
    const { thread, results } = await answeredAtOnce([
      toolCall('report_to_parent', { report: 'hello' }),
      toolCall('close_thread', {}),
    ]);
    for (const result of results) expect(result).toMatch(/^Error: .*child/);
    expect((await rig.at.request('GET', `/v1/threads/${thread}`)).json.status).toBe('idle');
  });

  const broken: readonly (readonly [string, string])[] = [
    ['no JSON', '{"what": '],
    ['a list', '[1]'],
    ['a text', '"what"'],
    ['null', 'null'],
    ['a number', '7'],
    ['of another type than the schema says', '{"what": 7}'],
    ['the same name twice', '{"what":"a","what":"b"}'],
    ['a name that reaches a prototype', '{"__proto__":{"what":"a"}}'],
    ['nested without end', `{"what":${'['.repeat(2_000)}${']'.repeat(2_000)}}`],
    ['a lone surrogate', '{"what":"\\ud800"}'],
  ];
  it('R8 has arguments that are no arguments is an error that says what is wrong', async () => {
    const { results } = await answeredAtOnce(broken.map(([, args]) => written('work', args)));
    for (const [index, [what]] of broken.entries())
      expect([what, results[index]]).toEqual([what, expect.stringMatching(/^Error: /)]);
  });

  it('R8 has more arguments than a mebibyte is an error, and what it wrote is not kept', async () => {
    const { thread, results } = await answeredAtOnce([toolCall('work', { what: 'x'.repeat(1_100_000) })]);
    expect(results[0]).toMatch(/^Error: /);
    expect(JSON.stringify(await eventsOf(rig.at, thread)).length).toBeLessThan(100_000);
  });

  it('R77 is one of our own tools with nonsense is an error, and nothing happens', async () => {
    const nonsense: readonly Step[] = [
      toolCall('cancel_subscription', { tool_call_id: 'call_nobody' }),
      toolCall('cancel_subscription', {}),
      toolCall('spawn_thread', { instructions: '' }),
      toolCall('spawn_thread', { instructions: 7 }),
      toolCall('send_message_to_child', { child_id: 'thr_nobody', text: 'hello' }),
      toolCall('set_title', { title: 'x'.repeat(201) }),
      toolCall('set_title', { title: ' ' }),
      toolCall('set_title', { title: 'fine', colour: 'red' }),
    ];
    const { thread, results } = await answeredAtOnce(nonsense);
    for (const [index, call] of nonsense.entries())
      expect([call, results[index]]).toEqual([call, expect.stringMatching(/^Error: /)]);
    const types = (await eventsOf(rig.at, thread)).map(({ type }) => type);
    for (const type of ['child_spawned', 'title_set', 'subscription_closed']) expect(types).not.toContain(type);
  });

  const times: readonly Step[] = [
    toolCall('sleep', { seconds: 0 }),
    toolCall('sleep', { seconds: -5 }),
    toolCall('sleep', { seconds: 1e12 }),
    toolCall('sleep', { seconds: '60' }),
    written('sleep', '{"seconds": 1e999}'),
    toolCall('sleep_until', { at: '1999-12-31T23:59:59Z' }),
    toolCall('sleep_until', { at: '9999-12-31T23:59:59Z' }),
    toolCall('sleep_until', { at: '+275760-09-13T00:00:00Z' }),
    toolCall('sleep_until', { at: '2031-02-30T25:61:00Z' }),
    toolCall('sleep_until', { at: '2031-01-01T00:00:00' }), // no offset
    toolCall('sleep_until', { at: 'tomorrow' }),
  ];
  it('wants to sleep into the past, for ever or to no time at all is an error, and sets no timer', async () => {
    const { thread, results } = await answeredAtOnce(times);
    for (const [index, call] of times.entries())
      expect([call, results[index]]).toEqual([call, expect.stringMatching(/^Error: /)]);
    expect(await eventsOfType(rig.at, thread, 'timer_set')).toEqual([]);
  });
});

describe('an answer with as many calls as one may have', () => {
  it('sends them all, and the round ends as any', async () => {
    const server = await rig.toolServer();
    const calls = Array.from({ length: 128 }, (_, index) => toolCall('work', { what: String(index) }));
    const { thread, prompts } = await rig.watchedThread([calls, [{ text: 'all of them' }]], [server]);
    await tell(rig.at, thread, 'go');
    await eventually(async () => server.invocations().length >= 128);
    for (const { json } of server.invocations())
      expect((await server.send(json, { type: 'tool_result', text: `did ${json.arguments.what}` })).status).toBe(200);
    await untilStatus(rig.at, thread, 'idle');
    expect(server.invocations()).toHaveLength(128);
    const shown = prompts[1].messages.filter(({ role }: Json) => role === 'tool');
    expect(new Set(shown.map(({ tool_call_id: id }: Json) => id)).size).toBe(128);
  });

  it('is refused when it has more, sends none of them, and the thread goes on', async () => {
    const server = await rig.toolServer();
    const calls = Array.from({ length: 200 }, (_, index) => toolCall('work', { what: String(index) }));
    const { thread } = await rig.watchedThread([calls, [{ text: 'here I am' }]], [server]);
    await tell(rig.at, thread, 'go');
    await eventually(async () => (await eventsOfType(rig.at, thread, 'completion_failed')).length > 0);
    const [failed] = await eventsOfType(rig.at, thread, 'completion_failed');
    expect(failed).toMatchObject({ code: 'TOO_MANY_CALLS' });
    expect(server.invocations()).toEqual([]);
    await tell(rig.at, thread, 'are you there?');
    await eventually(async () => (await eventsOfType(rig.at, thread, 'completion_recorded')).length > 0);
  });
});

/** All threads of a family, the root first, and how deep each is. */
async function familyOf(root: string, depth = 0): Promise<readonly { readonly id: string; readonly depth: number }[]> {
  const { json } = await rig.at.request('GET', `/v1/threads/${root}/children?limit=200`);
  const below = await Promise.all(json.data.map(({ id }: Json) => familyOf(id, depth + 1)));
  return [{ id: root, depth }, ...below.flat()];
}

describe('a model that', () => {
  it('spawns with every breath has a family with a bottom and an end', async () => {
    const spawnAgain = (prompt: Prompt): readonly Step[] => [
      toolCall('spawn_thread', { instructions: `do it again, ${prompt.messages.length}` }),
    ];
    const { thread, prompts } = await rig.watchedThread(spawnAgain, [], {
      agent: { limits: { completions_per_wake_max: 3 } },
    });
    await tell(rig.at, thread, 'go');
    const idleFamily = async (): Promise<Awaited<ReturnType<typeof familyOf>>> => {
      const found = await familyOf(thread);
      const statuses = await Promise.all(
        found.map(async ({ id }) => (await rig.at.request('GET', `/v1/threads/${id}`)).json.status),
      );
      return statuses.every((one) => one === 'idle') ? found : [];
    };
    // Three completions each; ten open children at most below a root, one below those, and none below the fifth level.
    // A child may be listed a moment after its parent rests.
    const wanted = [1, 3, 9, 9, 9, 9, 0];
    const family = await eventually(async () => {
      const found = await idleFamily();
      return found.length >= wanted.reduce((sum, count) => sum + count) && found;
    });
    expect(wanted.map((_, depth) => family.filter((one) => one.depth === depth).length)).toEqual(wanted);
    for (const { id, depth } of family) {
      expect(await eventsOfType(rig.at, id, 'budget_exceeded')).toMatchObject([{ budget: 'completions_per_wake' }]);
      const spawned = await eventsOfType(rig.at, id, 'child_spawned');
      if (depth === 5) {
        expect(spawned).toEqual([]);
        const [first] = await eventsOfType(rig.at, id, 'tool_call_settled');
        expect(first?.content[0].text).toMatch(/^Error: threads may be nested 5 deep/);
      }
    }
    const asked = prompts.length;
    await aWhile(500);
    expect(prompts.length).toBe(asked);
  });

  it('makes the same call again and again is stopped with an event that says so', async () => {
    const server = await rig.toolServer();
    const { thread } = await rig.watchedThread([[toolCall('wrok')]], [server]);
    await tell(rig.at, thread, 'go');
    expect(await untilEvent(rig.at, thread, 'budget_exceeded')).toMatchObject({ budget: 'repeated_call' });
    await untilStatus(rig.at, thread, 'idle');
    expect((await rig.at.request('GET', `/v1/threads/${thread}`)).json.last_error.code).toBe('BUDGET_EXCEEDED');
  });
});

/** The next last Sunday of March: in Vienna it has no half past two. */
function daylightSavingDay(now: Date): Date {
  const lastSunday = (year: number): Date => {
    const last = new Date(Date.UTC(year, 2, 31));
    return new Date(Date.UTC(year, 2, 31 - last.getUTCDay()));
  };
  const thisYear = lastSunday(now.getUTCFullYear());
  return thisYear.getTime() > now.getTime() + 86_400_000 ? thisYear : lastSunday(now.getUTCFullYear() + 1);
}

describe('a schedule', () => {
  const lines: readonly (readonly [string, string, string])[] = [
    ['not a line', 'UTC', '/cron'],
    ['', 'UTC', '/cron'],
    ['99 99 * * *', 'UTC', '/cron'],
    ['0 0 30 2 *', 'UTC', '/cron'],
    ['0 9 * * *', 'Mars/Olympus', '/time_zone'],
  ];
  it.each(lines)('"%s" in %s is refused and says where: %s', async (cron, time_zone, pointer) => {
    const thread = await rig.thread([[{ text: 'ok' }]], []);
    const path = `/v1/threads/${thread}/schedules`;
    const answer = await rig.at.request('POST', path, { cron, time_zone, message: 'stand up' });
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ pointer }] } });
    expect((await rig.at.request('GET', path)).json.data).toEqual([]);
  });

  it('that comes every second is refused on the record', async () => {
    const thread = await rig.thread([[{ text: 'ok' }]], []);
    const path = `/v1/threads/${thread}/schedules`;
    expect((await rig.at.request('POST', path, { cron: '* * * * * *', message: 'tick' })).status).toBe(202);
    const refused = await untilEvent(rig.at, thread, 'request_refused');
    expect(refused).toMatchObject({ request: 'schedule', detail: expect.stringContaining('once a minute') });
    expect((await rig.at.request('GET', path)).json.data).toEqual([]);
  });

  it('for a time that its day does not have comes on that day all the same, once', async () => {
    const day = daylightSavingDay(new Date());
    const thread = await rig.thread([[{ text: 'ok' }]], []);
    const path = `/v1/threads/${thread}/schedules`;
    const cron = `30 2 ${day.getUTCDate()} 3 *`;
    const made = await rig.at.request('POST', path, { cron, time_zone: 'Europe/Vienna', message: 'stand up' });
    expect(made.status).toBe(202);
    const set = await eventually(async () => (await rig.at.request('GET', path)).json.data[0]);
    // The hour from two to three is left out at 01:00 UTC.
    const gap = day.getTime() + 3_600_000;
    expect(Date.parse(set.next_at)).toBeGreaterThanOrEqual(gap);
    expect(Date.parse(set.next_at)).toBeLessThanOrEqual(gap + 3_600_000);
  });
});
