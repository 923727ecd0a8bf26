// Steps that most specs begin with: an agent whose model plays a script, a thread, and waiting for something to be so.
import type { Json, Standalone } from './standalone-process.ts';

export type Step = Readonly<Record<string, unknown>>;

let agents = 0;

/** An agent whose n-th completion plays the n-th list of steps. */
export async function scriptedAgent(
  at: Standalone,
  script: readonly (readonly Step[])[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const name = `scripted-${++agents}`;
  const answer = await at.request('POST', '/v1/agents', {
    name,
    model: { provider: 'scripted', parameters: { script } },
    tool_servers: ['example-tools'],
    ...more,
  });
  if (answer.status !== 201) throw new Error(`agent: ${answer.status} ${answer.text}`);
  return name;
}

export async function openThread(
  at: Standalone,
  agent = 'assistant',
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const answer = await at.request('POST', '/v1/threads', { agent, ...more });
  if (answer.status !== 201) throw new Error(`thread: ${answer.status} ${answer.text}`);
  return answer.json.id;
}

/** Says something and gives the answer of the turn. */
export async function say(at: Standalone, thread: string, text: string): Promise<Json> {
  const answer = await at.request(
    'POST',
    `/v1/threads/${thread}/messages`,
    { text },
    { headers: { prefer: 'wait=20' } },
  );
  if (answer.status !== 200) throw new Error(`message: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** All events of a thread. */
export async function eventsOf(at: Standalone, thread: string): Promise<readonly Json[]> {
  const events: Json[] = [];
  for (;;) {
    const { json } = await at.request('GET', `/v1/threads/${thread}/events?after=${events.length}&limit=200`);
    if (json.data.length === 0) return events;
    events.push(...json.data);
  }
}

export async function eventually<T>(look: () => Promise<T | undefined | false>, withinMs = 10_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error('it did not come about in time');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Waits until a thread has this status and gives the thread. */
export function untilStatus(at: Standalone, thread: string, status: string): Promise<Json> {
  return eventually(async () => {
    const { json } = await at.request('GET', `/v1/threads/${thread}`);
    return json.status === status ? json : undefined;
  });
}
