import { allOperations } from '@dormouse/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread, say, scriptedAgent, type System } from './conversation.ts';
import type { Answer } from './standalone-process.ts';
import { endSystems, hasClock, startSystem } from './system.ts';

/** Only the standalone topology has it. */
const clockOperation = 'advanceClock';

let at: System;
let agent: string;
let thread: string;
beforeAll(async () => {
  at = await startSystem();
  agent = await scriptedAgent(at, [
    [{ tool_call: { name: 'weather', arguments: { city: 'Oslo' } } }],
    [{ text: 'cold' }],
    [{ tool_call: { name: 'delete_everything', arguments: {} } }],
  ]);
  thread = await openThread(at, agent, { external_id: 'one', metadata: { a: 'b' } });
  await say(at, thread, 'first');
  await say(at, thread, 'second');
});
afterAll(endSystems);

/** Whether an answer matches its operation. */
function expectAsDescribed(id: string, answer: Answer): void {
  const described = allOperations.find((operation) => operation.id === id)?.answers[answer.status];
  if (described === undefined || described === null || typeof described === 'string')
    throw new Error(`${id} does not describe ${answer.status}: ${answer.text}`);
  const parsed = described.safeParse(answer.json);
  expect({ id, problems: parsed.error?.issues ?? [] }).toEqual({ id, problems: [] });
}

describe('what is documented', () => {
  it('is served to anybody', async () => {
    const document = await at.request('GET', '/openapi.json', undefined, { key: null });
    expect(document.json).toMatchObject({ openapi: '3.1.0', info: { title: 'Dormouse' } });
  });

  it('is what is answered', async () => {
    const get = async (id: string, path: string): Promise<void> => expectAsDescribed(id, await at.request('GET', path));
    const at1 = `/v1/threads/${thread}`;
    await get('listAgents', '/v1/agents');
    await get('getAgent', '/v1/agents/assistant');
    await get('getAgentVersion', '/v1/agents/assistant/versions/1');
    await get('listToolServers', '/v1/tool-servers');
    await get('getToolServer', '/v1/tool-servers/example-tools');
    await get('listThreads', '/v1/threads?metadata[a]=b');
    await get('getThread', at1);
    await get('listMessages', `${at1}/messages`);
    await get('listEvents', `${at1}/events`);
    await get('listCommits', `${at1}/commits`);
    await get('listToolCalls', `${at1}/tool-calls`);
    await get('listChoices', `${at1}/choices`);
    await get('listInbox', '/v1/choices?limit=1');
    await get('aiSdkMessages', `/v1/ui/ai-sdk/${agent}/one`);
  });

  it('is what is answered to who writes', async () => {
    const post = async (id: string, path: string, body?: unknown, method = 'POST', headers = {}): Promise<void> =>
      expectAsDescribed(id, await at.request(method, path, body, { headers }));
    const other = await openThread(at);
    const path = `/v1/threads/${other}`;
    await post('createAgent', '/v1/agents', { name: 'another', model: { provider: 'demo' } });
    await post('patchAgent', '/v1/agents/another', { state: 'paused' }, 'PATCH');
    await post('batchThreads', '/v1/threads:batch', { action: 'close', filter: { agent: 'another' } });
    await post('createToolServer', '/v1/tool-servers', { name: 'another', base_url: 'https://tools.example' });
    await post('patchToolServer', '/v1/tool-servers/another', { forward_user_id: true }, 'PATCH');
    await post('pauseToolServer', '/v1/tool-servers/another/pause');
    await post('resumeToolServer', '/v1/tool-servers/another/resume');
    await post('probeToolServer', '/v1/tool-servers/example-tools/probe');
    await post('patchThread', path, { title: 'Renamed', metadata: { k: 'v' } }, 'PATCH');
    await post('postMessage', `${path}/messages`, { text: 'What time is it?' });
    await post('postMessage', `${path}/messages`, { text: 'What time is it?' }, 'POST', { prefer: 'wait=60' });
    await post('interruptThread', `${path}/interrupt`, { include_human: true });
    await post('retryThread', `${path}/retry`);
    await post('issueThreadToken', `${path}/tokens`, { can: ['read'], ttl_s: 5 });
    await post('createApiKey', '/v1/api-keys', { name: 'k', scopes: ['read'] });
    if (hasClock) await post(clockOperation, '/v1/dev/clock', { advance_ms: 1 });
    await post('closeThread', `${path}/close`);
    expect((await at.request('GET', path)).json).toMatchObject({ title: 'Renamed', metadata: { k: 'v' } });
  });

  it('has a route for every operation', async () => {
    for (const { id, method, path } of allOperations) {
      if (id === clockOperation && !hasClock) continue;
      const concrete = path.replaceAll(/\{\w+\}/g, 'none');
      const answer = await at.request(method, concrete, method === 'GET' || method === 'DELETE' ? undefined : '{');
      expect({ id, found: !answer.text.includes('There is nothing at this path.') }).toEqual({ id, found: true });
    }
  });
});
