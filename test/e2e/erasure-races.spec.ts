// Erasures of threads that are at work: what arrives afterwards is stored nowhere, and threads below go too.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { chunk, done, startChatServer, streams } from '../model/chat-server.ts';
import { foundIn } from './bytes-of-directory.ts';
import { askingChild, eventsOf, eventually, openThread, scriptedAgent, untilStatus } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from './standalone-process.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone();
});
afterAll(cleanUp);

async function erased(thread: string): Promise<Json> {
  const asked = await at.request('POST', '/v1/erasures', { thread_id: thread });
  expect(asked.status).toBe(202);
  return eventually(async () => {
    const { json } = await at.request('GET', `/v1/erasures/${asked.json.id}`);
    return json.state === 'done' && json;
  });
}

/** Long enough that what has arrived is stored, if it is going to be. */
const settledMs = 1_500;

async function leavesNothing(thread: string, contents: readonly string[]): Promise<void> {
  await sleep(settledMs);
  expect(foundIn(at.dataDir, { contents, labels: [] })).toEqual([]);
  expect(new Set((await eventsOf(at, thread)).map(({ type }) => type))).toEqual(new Set(['content_erased']));
  expect((await at.request('GET', `/v1/threads/${thread}`)).json.status).toBe('closed');
  const verified = await runCli(['verify', '--all', '--json', ...connectionFlags(at)]);
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, broken: [] });
}

it('a model that answers after the erasure of its thread: the answer is stored nowhere', async () => {
  const model = await startChatServer();
  const release = Promise.withResolvers<void>();
  model.answers(async (response, request) => {
    await release.promise;
    await streams(chunk({ role: 'assistant', content: 'canary-late-answer' }, 'stop'), done)(response, request);
  });
  const made = await at.request('POST', '/v1/agents', {
    name: 'slow',
    model: { provider: 'openai-compatible', name: 'm', base_url: `${model.url}/v1`, api_key_secret: null },
  });
  expect(made.status).toBe(201);
  const thread = await openThread(at, 'slow', { message: { text: 'canary-early-question' } });
  await eventually(async () => model.requests.length > 0);
  await erased(thread);
  release.resolve();
  await leavesNothing(thread, ['canary-early-question', 'canary-late-answer']);
  await model.close();
});

it('a result that arrives after the erasure of its thread: it is stored nowhere', async () => {
  const tools = await driveToolServer(at);
  const agent = await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [tools.name] });
  const thread = await openThread(at, agent, { message: { text: 'canary-request' } });
  const call = await tools.invocation(0);
  await erased(thread);
  const content = [{ type: 'text', text: 'canary-late-result' }];
  expect(await tools.send(call, { type: 'tool_result', content })).toBeLessThan(500);
  await leavesNothing(thread, ['canary-request', 'canary-late-result']);
  await tools.close();
});

it('a parent with a child that waits for a person: both are gone, and the choice with them', async () => {
  const { parent, child, choice } = await askingChild(at);
  const { certificate } = await erased(parent);
  expect(certificate).toMatchObject({ scope: 'family', families: [parent] });
  await untilStatus(at, child, 'closed');
  await leavesNothing(child, []);
  await leavesNothing(parent, []);
  const answer = await at.request('POST', `/v1/threads/${child}/choices/${choice}`, { decision: 'allow' });
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
  expect(answer.status, answer.text).toBeLessThan(500);
});
