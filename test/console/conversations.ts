// Threads for the specs of the console, made with the API: their contents are those of the example agent.
import type { System } from '../e2e/conversation.ts';
import { expect } from 'vitest';

/** A thread of the example agent that has answered these messages. */
export async function talked(runtime: System, ...texts: readonly string[]): Promise<string> {
  const { json } = await runtime.request('POST', '/v1/threads', { agent: 'assistant' });
  for (const text of texts) await say(runtime, json.id, text);
  return json.id;
}

export async function say(runtime: System, thread: string, text: string): Promise<void> {
  const answer = await runtime.request(
    'POST',
    `/v1/threads/${thread}/messages`,
    { text },
    { headers: { prefer: 'wait=30' } },
  );
  expect(answer.status).toBe(200);
}

/** A thread whose model says exactly this. */
export async function scripted(
  runtime: System,
  name: string,
  script: readonly (readonly object[])[],
  text = 'go on',
): Promise<string> {
  const model = { provider: 'scripted', parameters: { script } };
  const made = await runtime.request('POST', '/v1/agents', { name, model, tool_servers: ['example-tools'] });
  expect(made.status).toBeLessThan(300);
  const { json } = await runtime.request('POST', '/v1/threads', { agent: name, message: { text } });
  return json.id;
}

/** The position of the first event of a type. */
export async function positionOf(runtime: System, thread: string, type: string): Promise<number> {
  const { json } = await runtime.request('GET', `/v1/threads/${thread}/events?limit=200`);
  return json.data.find((event: { readonly type: string }) => event.type === type).position;
}

export async function statusOf(runtime: System, thread: string): Promise<string> {
  return (await runtime.request('GET', `/v1/threads/${thread}`)).json.status;
}
