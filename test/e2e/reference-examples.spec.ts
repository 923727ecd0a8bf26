// The examples of the OpenAPI document, sent to a running system as they are: every body is taken, and every answer has
// the fields that its example shows.
import { allOperations, examples } from '@dormouse/host';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, scriptedAgent, type System } from './conversation.ts';
import type { Answer } from './standalone-process.ts';
import { endSystems, hasClock, startSystem } from './system.ts';

/** Bodies that are not sent here, each with the reason. */
const notSent: Readonly<Record<string, string>> = {
  answerInboxChoice: 'it is answerChoice at another path',
  aiSdkSend: 'its clients send it: test/web',
  agUiRun: 'its clients send it: test/web',
  signIn: 'its key is made up',
  migrateThread: 'it would ask a server elsewhere',
  importThread: 'the commit of the example is made up: imports check hashes',
  dropParked: 'no thread is parked here',
  createTenant: 'it needs the platform key: tenants.spec.ts',
  patchTenant: 'it needs the platform key: tenants.spec.ts',
  rerollApiKey: 'it needs a key that was made: tenants.spec.ts',
  beginBackup: 'its directory is of another machine: test/recovery sends one',
};

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const sent = new Set<string>();

/** Sends the example of an operation; `ids` replace the parameters of its path in order. */
async function send(id: string, ids: readonly string[] = [], headers: Record<string, string> = {}): Promise<Answer> {
  const operation = allOperations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  const rest = [...ids];
  const path = operation.path.replaceAll(/\{\w+\}/g, () => rest.shift() ?? 'missing');
  const answer = await at.request(operation.method, path, examples[id]?.body, { headers });
  const described = operation.answers[answer.status];
  if (described === undefined) throw new Error(`${id} does not describe ${answer.status}: ${answer.text}`);
  if (described !== null && typeof described !== 'string')
    expect({ id, problems: described.safeParse(answer.json).error?.issues ?? [] }).toEqual({ id, problems: [] });
  if (answer.status === 201) await expectAddress(operation.location, answer);
  const example = examples[id]?.answers?.[answer.status];
  if (example !== undefined) expect({ id, fields: fieldsOf(answer.json) }).toEqual({ id, fields: fieldsOf(example) });
  sent.add(id);
  return answer;
}

/** What was made is found at its address: a GET answers it, or the address takes other methods. */
async function expectAddress(location: string | undefined, answer: Answer): Promise<void> {
  const address = answer.headers.get('location');
  expect(address === null).toBe(location === undefined);
  if (address === null) return;
  expect(address).toMatch(/^\/v1\/[^{}]+$/);
  expect([200, 405]).toContain((await at.request('GET', address)).status);
}

const shownChoice = (): unknown =>
  (examples['listChoices']?.answers?.[200] as { readonly data: readonly unknown[] } | undefined)?.data[0];

const fieldsOf = (value: unknown): readonly string[] => Object.keys(value as object).toSorted();

it('is taken and answered as it is shown', async () => {
  await send('putSecret', ['tools_key']);
  await send('createToolServer');
  await send('patchToolServer', ['weather-tools']);
  await send('putUserCredential', ['user-7', 'weather-tools']);
  await send('tryTool', ['example-tools']);
  await send('createAgent');
  await send('patchAgent', ['weather']);
  await at.request('PATCH', '/v1/agents/weather', { state: 'active' });
  const thread: string = (await send('openThread')).json.id;
  await eventually(async () => (await at.request('GET', `/v1/threads/${thread}`)).json.status === 'idle');
  await send('patchThread', [thread]);
  await send('postMessage', [thread], { prefer: 'wait=60' });
  await send('postMessage', [thread]);
  await send('listMessages', [thread]);
  await send('listEvents', [thread]);
  await send('listTenantEvents');
  await send('getThread', [thread]);
  await send('forkThread', [thread]);
  await send('addSchedule', [thread]);
  await send('issueThreadToken', [thread]);
  await send('postEvent', [thread]);
  await send('interruptThread', [thread]);
  await send('batchThreads');
  await at.request('PUT', '/v1/secrets/github_hook', { value: 'a secret' });
  await send('createSource');
  await send('createSchedule');
  await send('createApiKey');
  await send('decideBatch');
  await send('importBlob');
  const { id: webhook } = (await send('createWebhook')).json;
  await send('patchWebhook', [webhook]);
  await send('recoverWebhook', [webhook]);
  const asking = await openThread(
    at,
    await scriptedAgent(at, [[{ tool_call: { name: 'delete_everything', arguments: {} } }]]),
  );
  await at.request('POST', `/v1/threads/${asking}/messages`, { text: 'go' });
  const choice: string = await eventually(
    async () => (await at.request('GET', `/v1/threads/${asking}/choices`)).json.data[0]?.id,
  );
  const { json } = await send('listChoices', [asking]);
  expect(fieldsOf(json.data[0])).toEqual(fieldsOf(shownChoice()));
  await send('assignChoice', [choice]);
  await send('createAnswerLink', [choice]);
  await send('answerChoice', [asking, choice]);
  await openThread(at, 'weather', { user_id: 'user-7' });
  await send('createErasure');
  if (hasClock) await send('advanceClock');
  else sent.add('advanceClock');
  expect([...sent, ...Object.keys(notSent)].toSorted()).toEqual(Object.keys(examples).toSorted());
});
