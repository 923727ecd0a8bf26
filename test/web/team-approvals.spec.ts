// Approvals of teams: whose task they are, and calls that several people must allow.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, openThread, say, scriptedAgent, type System, untilStatus } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { openStream } from '../e2e/event-stream.ts';
import type { Answer, Json } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';

let at: System;
let tools: DrivenToolServer;
/** Keys of three people, and their ids. */
const people: Record<string, { readonly id: string; readonly key: string }> = {};

beforeAll(async () => {
  at = await startSystem();
  tools = await driveToolServer(at);
  for (const name of ['ann', 'ben', 'cleo']) {
    const scopes = ['read', 'approvals:write'];
    people[name] = (await at.request('POST', '/v1/api-keys', { name, scopes })).json;
  }
});
afterAll(async () => {
  await tools.close();
  await endSystems();
});

interface Asked {
  readonly thread: string;
  readonly choice: string;
  readonly agent: string;
}

/** A thread whose call waits for approvals of this form. */
async function asking(tool: object = { mode: 'always', approvals_needed: 2 }, more: object = {}): Promise<Asked> {
  const script = [[toolCall('work', { what: 'all' })], [{ text: 'finished' }]];
  const policies = { approve: { mode: 'none', tools: { work: tool } } };
  const agent = await scriptedAgent(at, script, { policies, tool_servers: [tools.name] });
  const thread = await openThread(at, agent, { user_id: 'dora', ...more });
  const { waiting_on: waitingOn } = await say(at, thread, 'clean up');
  return { thread, choice: waitingOn[0].id, agent };
}

const answer = ({ choice }: Asked, name: string, body: object = { decision: 'allow' }): Promise<Answer> =>
  at.request('POST', `/v1/choices/${choice}`, body, { key: people[name]?.key ?? name });

const frameOf = async ({ thread }: Asked): Promise<Json> =>
  (await at.request('GET', `/v1/threads/${thread}/choices`)).json.data[0];

const eventOf = async ({ thread }: Asked, type: string): Promise<readonly Json[]> =>
  (await eventsOf(at, thread)).filter((event) => event.type === type);

const rows = async (query: string): Promise<readonly Json[]> =>
  (await at.request('GET', `/v1/choices?${query}`)).json.data;

const sentFor = ({ thread }: Asked): number =>
  tools.requests.filter(({ path, body }) => path === '/invoke' && body.group_id === thread).length;

describe('a call that two must allow', () => {
  it('waits for the second, and the log names both', async () => {
    const asked = await asking({ mode: 'always', approvals_needed: 2, assignees: ['ann', 'ben'] });
    expect((await eventOf(asked, 'choice_requested'))[0]).toMatchObject({
      ...{ approvals_needed: 2, assignees: ['ann', 'ben'] },
    });
    const stream = await openStream(at, asked.thread);
    const before = await frameOf(asked);
    expect(before).toMatchObject({ approvals_needed: 2, approved_by: [], assignees: ['ann', 'ben'] });
    expect((await answer(asked, 'ann', { decision: 'allow', reason: 'fine' })).status).toBe(202);
    expect(await frameOf(asked)).toMatchObject({ approved_by: ['ann'], arguments_hash: before.arguments_hash });
    const frames = await stream.until(({ event, data }) => event === 'choice' && data.approved_by.length === 1);
    expect(frames.at(-1)?.data).toMatchObject({ id: asked.choice, approvals_needed: 2 });
    stream.close();
    await eventually(async () => (await rows(`thread=${asked.thread}`))[0]?.approved_by.length === 1);
    expect((await at.request('GET', `/v1/threads/${asked.thread}`)).json.status).toBe('waiting');
    expect(sentFor(asked)).toBe(0);
    const again = await answer(asked, 'ann', { decision: 'allow', decided_by: 'ben' });
    expect([again.status, again.json.code]).toEqual([409, 'APPROVAL_COUNTED']);
    expect((await answer(asked, 'ben', { decision: 'allow', decided_by: 'Ben B.' })).status).toBe(202);
    await eventually(async () => sentFor(asked) === 1);
    expect(await eventOf(asked, 'approval_counted')).toMatchObject([
      { by: 'ann', credential: people['ann']?.id, reason: 'fine' },
    ]);
    expect(await eventOf(asked, 'choice_settled')).toMatchObject([{ decision: 'allow', by: 'ann, Ben B.' }]);
    const settled = await eventually(async () => (await rows(`status=settled&thread=${asked.thread}`))[0]);
    expect(settled).toMatchObject({ decision: 'allow', by: 'ann, Ben B.', assignees: ['ann', 'ben'] });
    expect(Date.parse(settled.settled_at)).toBeGreaterThanOrEqual(Date.parse(settled.since));
    const late = await answer(asked, 'cleo');
    expect([late.status, late.json.settled]).toMatchObject([409, { by: 'ann, Ben B.' }]);
  });

  it('ends with the first denial', async () => {
    const asked = await asking();
    await answer(asked, 'ann');
    await answer(asked, 'ben', { decision: 'deny', reason: 'not on a Friday' });
    await untilStatus(at, asked.thread, 'idle');
    expect(await eventOf(asked, 'choice_settled')).toMatchObject([{ decision: 'deny', by: 'ben' }]);
    const text = (await at.request('GET', `/v1/threads/${asked.thread}/messages`)).text;
    expect(text).toContain('denied by ben: not on a Friday');
    expect(sentFor(asked)).toBe(0);
  });

  it('is about the arguments as they were edited: earlier approvals count no more', async () => {
    const asked = await asking();
    const { arguments_hash: hash } = await frameOf(asked);
    await answer(asked, 'ann', { decision: 'allow', arguments_hash: hash });
    await answer(asked, 'ben', { decision: 'allow', arguments: { what: 'half' }, arguments_hash: hash });
    const shown = await frameOf(asked);
    expect(shown).toMatchObject({ arguments: { what: 'half' }, edited: true, approved_by: ['ben'] });
    const stale = await answer(asked, 'ann', { decision: 'allow', arguments_hash: hash });
    expect([stale.status, stale.json.code]).toEqual([409, 'CHOICE_CHANGED']);
    const row = await eventually(async () => (await rows(`thread=${asked.thread}`)).find(({ edited }) => edited));
    expect(row).toMatchObject({ arguments: { what: 'half' }, arguments_hash: shown.arguments_hash });
    expect((await answer(asked, 'ann', { decision: 'allow', arguments_hash: shown.arguments_hash })).status).toBe(202);
    await eventually(async () => sentFor(asked) === 1);
    const sent = tools.requests.find(({ body }) => body.group_id === asked.thread);
    expect(sent?.body.arguments).toEqual({ what: 'half' });
    expect(await eventOf(asked, 'choice_settled')).toMatchObject([{ by: 'ben, ann', edited: true }]);
    const [call] = (await at.request('GET', `/v1/threads/${asked.thread}/tool-calls`)).json.data;
    expect(call).toMatchObject({ arguments: { what: 'all' }, arguments_allowed: { what: 'half' } });
  });

  it('counts keys, links and users of tokens, each once', async () => {
    const asked = await asking({ mode: 'always', approvals_needed: 4 });
    const tokenOf = async (user: string | null): Promise<string> =>
      (await at.request('POST', `/v1/threads/${asked.thread}/tokens`, { can: ['answer'], user_id: user })).json.token;
    const byToken = async (user: string | null): Promise<number> => {
      const path = `/v1/threads/${asked.thread}/choices/${asked.choice}`;
      return (await at.request('POST', path, { decision: 'allow' }, { key: await tokenOf(user) })).status;
    };
    expect([await byToken('dora'), await byToken('dora')]).toEqual([202, 409]);
    expect([await byToken(null), await byToken(null)]).toEqual([202, 409]);
    const link = async (): Promise<string> =>
      new URL((await at.request('POST', `/v1/choices/${asked.choice}/links`, { for: 'eve' })).json.url).pathname;
    const press = async (path: string, given: string): Promise<number> => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return (await at.request('POST', path, `answer=${given}`, { key: null, headers })).status;
    };
    const [one, two] = [await link(), await link()];
    expect([await press(one, 'allow'), await press(one, 'deny'), await press(one, 'allow')]).toEqual([200, 410, 410]);
    expect((await at.request('GET', one, undefined, { key: null })).status).toBe(410);
    expect(sentFor(asked)).toBe(0);
    expect(await press(two, 'allow')).toBe(200);
    await eventually(async () => sentFor(asked) === 1);
    expect(await eventOf(asked, 'choice_settled')).toMatchObject([{ by: 'dora, user, eve' }]);
  });

  it('takes no answer of a link that was made for other arguments', async () => {
    const asked = await asking({ mode: 'always', approvals_needed: 3 });
    const made = await at.request('POST', `/v1/choices/${asked.choice}/links`, { for: 'eve', ttl_s: 600 });
    const link = new URL(made.json.url).pathname;
    const { arguments_hash: hash } = await frameOf(asked);
    await answer(asked, 'ben', { decision: 'allow', arguments: { what: 'half' }, arguments_hash: hash });
    expect((await frameOf(asked)).arguments).toEqual({ what: 'half' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const given of ['allow', 'deny'])
      expect((await at.request('POST', link, `answer=${given}`, { key: null, headers })).status).toBe(410);
    expect((await at.request('GET', link, undefined, { key: null })).status).toBe(410);
    expect(await frameOf(asked)).toMatchObject({ approved_by: ['ben'] });
    expect([sentFor(asked), await eventOf(asked, 'choice_settled')]).toEqual([0, []]);
  });

  it('takes a hundred answers at once for what they are', async () => {
    const asked = await asking({ mode: 'always', approvals_needed: 3 });
    const names = Object.keys(people);
    const all = await Promise.all(Array.from({ length: 99 }, (_, place) => answer(asked, names[place % 3] ?? '')));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(3);
    expect(all.filter(({ status }) => status === 409)).toHaveLength(96);
    await eventually(async () => sentFor(asked) === 1);
    expect(await eventOf(asked, 'approval_counted')).toHaveLength(2);
    const [settled] = await eventOf(asked, 'choice_settled');
    expect(settled?.by.split(', ').toSorted()).toEqual(names);
  });

  it('takes the approvals of pages, one of each credential', async () => {
    const chat = `chat-${Math.random().toString(36).slice(2)}`;
    const asked = await asking(undefined, { external_id: chat });
    const keyOf = async (name: string): Promise<string> => {
      const scopes = ['read', 'threads:write', 'approvals:write'];
      return (await at.request('POST', '/v1/api-keys', { name, scopes })).json.key;
    };
    const resume = [{ interruptId: asked.choice, status: 'resolved', payload: { approved: true } }];
    const run = (key: string): Promise<Answer> =>
      at.request(
        'POST',
        `/v1/ui/ag-ui/${asked.agent}`,
        { threadId: chat, runId: 'run-1', messages: [], resume },
        { key },
      );
    const [one, two] = [await keyOf('one'), await keyOf('two')];
    for (let times = 0; times < 2; times += 1) expect((await run(one)).text).toContain('RUN_FINISHED');
    expect(await eventOf(asked, 'approval_counted')).toMatchObject([{ by: 'one' }]);
    const second = run(two); // goes on with the call, which its tool does not end
    await eventually(async () => sentFor(asked) === 1);
    expect(await eventOf(asked, 'choice_settled')).toMatchObject([{ by: 'one, two' }]);
    await at.request('POST', `/v1/threads/${asked.thread}/close`);
    expect((await second).status).toBe(200);
  });

  it('is decided in a batch, too', async () => {
    const asked = await asking();
    const decisions = [{ id: asked.choice, decision: 'allow' }];
    const by = async (name: string): Promise<Json> =>
      (await at.request('POST', '/v1/choices:batch', { decisions }, { key: people[name]?.key ?? null })).json.data;
    expect([await by('ann'), await by('ann'), await by('ben')]).toEqual([
      [{ id: asked.choice, status: 202 }],
      [{ id: asked.choice, status: 409, code: 'APPROVAL_COUNTED' }],
      [{ id: asked.choice, status: 202 }],
    ]);
    await eventually(async () => sentFor(asked) === 1);
  });
});

describe('assignees', () => {
  it('are a filter of the inbox, and changed while the choice is open', async () => {
    const label = `team-${Math.random().toString(36).slice(2)}`;
    const asked = await asking({ mode: 'always', assignees: [label] });
    const mine = await eventually(async () => (await rows(`assignee=${label}`))[0]);
    expect(mine).toMatchObject({ id: asked.choice, assignees: [label] });
    expect(mine).not.toHaveProperty('approvals_needed');
    const body = { assignees: [`${label}-night`, 'cleo'] };
    const path = `/v1/choices/${asked.choice}`;
    const moved = await at.request('PATCH', path, body);
    expect([moved.status, moved.json]).toMatchObject([
      200,
      { id: asked.choice, thread_id: asked.thread, agent: asked.agent, operation: 'work', ...body },
    ]);
    await eventually(async () => (await rows(`assignee=${label}`)).length === 0);
    await eventually(async () => (await rows(`assignee=${label}-night`)).length === 1);
    expect(await frameOf(asked)).toMatchObject(body);
    expect(await eventOf(asked, 'choice_assigned')).toMatchObject([body]);
    const audit = (await at.request('GET', '/v1/audit?action=choice.assigned')).json.data;
    expect(audit).toContainEqual(expect.objectContaining({ target: asked.choice }));
    for (const wrong of [{}, { assignees: [''] }, { assignees: ['a', 'a'] }, { assignees: 'a' }, { ...body, x: 1 }])
      expect((await at.request('PATCH', path, wrong)).status).toBe(422);
    expect((await at.request('PATCH', '/v1/choices/chc_none', body)).status).toBe(404);
    await answer(asked, 'ann'); // no assignee: a label gives no permission, and takes none
    const late = await at.request('PATCH', path, body);
    expect([late.status, late.json.code]).toEqual([409, 'CHOICE_SETTLED']);
  });

  it('and numbers of approvals of an agent are held to their limits', async () => {
    const create = (tool: unknown): Promise<Answer> =>
      at.request('POST', '/v1/agents', {
        ...{ name: `limits-${Math.random().toString(36).slice(2)}`, model: { provider: 'demo' } },
        policies: { approve: { tools: { work: tool } } },
      });
    const good = await create({ mode: 'always', approvals_needed: 20, assignees: ['ann'] });
    expect([good.status, good.json.policies.approve.tools]).toEqual([
      201,
      { work: { mode: 'always', approvals_needed: 20, assignees: ['ann'] } },
    ]);
    for (const wrong of [
      ...[{ mode: 'never' }, { mode: 'always', approvals_needed: 0 }, { mode: 'always', approvals_needed: 21 }],
      ...[{ approvals_needed: 2 }, { mode: 'always', assignees: ['a', 'a'] }, { mode: 'always', quorum: 2 }],
    ])
      expect((await create(wrong)).status).toBe(422);
  });
});
