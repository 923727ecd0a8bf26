import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const slow = [[{ tool_call: { name: 'slow_job', arguments: { seconds: 30 } } }], [{ text: 'understood' }]];

async function waiting(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const thread = await openThread(at, await scriptedAgent(at, slow, more));
  await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'begin' });
  await untilStatus(at, thread, 'waiting');
  return thread;
}

describe('interruption', () => {
  it('R52 serves the person who writes while a tool runs', async () => {
    const thread = await waiting();
    expect(await say(at, thread, 'never mind')).toMatchObject({ status: 'idle', message: { text: 'understood' } });
    const calls = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(calls).toMatchObject([{ state: 'settled', outcome: 'interrupted' }]);
  });

  it('stops the turn on request, and records a second request as refused', async () => {
    const thread = await waiting();
    expect((await at.request('POST', `/v1/threads/${thread}/interrupt`)).status).toBe(202);
    await untilStatus(at, thread, 'idle');
    const second = await at.request('POST', `/v1/threads/${thread}/interrupt`, { include_human: true });
    expect(second.status).toBe(202);
    const refused = await untilEvent(at, thread, 'request_refused');
    expect(refused).toMatchObject({ request_id: second.json.id, request: 'interrupt', code: 'NOTHING_TO_STOP' });
  });

  it('cancels one call and asks the model again', async () => {
    const thread = await waiting();
    const { waiting_on: waitingOn, waiting: said } = (await at.request('GET', `/v1/threads/${thread}`)).json;
    expect(said).toMatch(/^waiting \d+ m?s for `call_\w+` \(slow_job\) at example-tools: (not )?acknowledged /);
    expect((await at.request('POST', `/v1/threads/${thread}/tool-calls/${waitingOn[0].id}/cancel`)).status).toBe(202);
    await untilStatus(at, thread, 'idle');
    const messages = (await at.request('GET', `/v1/threads/${thread}/messages`)).json.data;
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', text: 'understood' });
  });

  it('refuses a message under the policy reject, and says so to who waits', async () => {
    const thread = await waiting({ policies: { on_interrupt: 'reject' } });
    expect(await say(at, thread, 'hello?')).toMatchObject({ last_error: { code: 'CALLS_PENDING' } });
  });

  it('lets a message wait under the policy queue, and answers it after the round', async () => {
    const thread = await waiting({ policies: { on_interrupt: 'queue' } });
    const path = `/v1/threads/${thread}`;
    const { json } = await at.request('POST', `${path}/messages`, { text: 'and then?' });
    expect(await untilEvent(at, thread, 'message_queued')).toMatchObject({ message_id: json.id });
    const call = await eventually(async () => {
      const [only] = (await at.request('GET', `${path}/tool-calls`)).json.data;
      return only.state === 'acknowledged' && only;
    });
    await at.request('POST', `${path}/tool-calls/${call.tool_call_id}/cancel`);
    await untilStatus(at, thread, 'idle');
    const events = await eventsOf(at, thread);
    const accepted = events.find((event) => event.type === 'message_accepted' && event.message_id === json.id);
    const settled = events.find(({ type }) => type === 'tool_call_settled');
    expect(accepted?.position).toBeGreaterThan(settled?.position);
    expect(accepted?.content).toEqual([{ type: 'text', text: 'and then?' }]);
    expect(events.filter(({ type }) => type === 'message_queued')).toHaveLength(1);
  });

  it('settles what is open when a thread closes', async () => {
    const thread = await waiting();
    await at.request('POST', `/v1/threads/${thread}/close`);
    await untilStatus(at, thread, 'closed');
    const calls = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    expect(calls).toMatchObject([{ outcome: 'interrupted' }]);
  });
});
