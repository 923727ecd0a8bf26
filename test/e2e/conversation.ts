// Steps that most specs begin with: an agent whose model plays a script, a thread, and waiting for a condition.
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '../patience.ts';
import type { Answer, Json, Sent } from './standalone-process.ts';

/** The system of the scenarios, whatever its topology. */
export interface System {
  readonly url: string;
  readonly key: string;
  /** Sends JSON (or a text as it is) and reads the whole answer. */
  request(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  /** Everything its processes have printed. */
  output(): string;
}

export type Step = Readonly<Record<string, unknown>>;

let agents = 0;

/** An agent whose n-th completion plays the n-th list of steps. */
export async function scriptedAgent(
  at: System,
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
  at: System,
  agent = 'assistant',
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const answer = await at.request('POST', '/v1/threads', { agent, ...more });
  if (answer.status !== 201) throw new Error(`thread: ${answer.status} ${answer.text}`);
  return answer.json.id;
}

/** Sends a message and returns the answer of the turn. */
export async function say(at: System, thread: string, text: string): Promise<Json> {
  const answer = await at.request(
    'POST',
    `/v1/threads/${thread}/messages`,
    { text },
    { headers: { prefer: `wait=${patienceMs / 1_000}` } },
  );
  if (answer.status !== 200) throw new Error(`message: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** All events of a thread. */
export async function eventsOf(at: System, thread: string): Promise<readonly Json[]> {
  const events: Json[] = [];
  for (;;) {
    const { json } = await at.request('GET', `/v1/threads/${thread}/events?after=${events.length}&limit=200`);
    if (json.data.length === 0) return events;
    events.push(...json.data);
  }
}

const pauseMsMin = 25;
const pauseMsMax = 250;

/** Looks again after a tenth of the time that it has waited: a look is a request, and the system computes for it. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const began = Date.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    const waitedMs = Date.now() - began;
    if (waitedMs > patienceMs) throw new Error('it did not come about in time');
    await sleep(Math.min(Math.max(pauseMsMin, waitedMs / 10), pauseMsMax));
  }
}

/** The calls of a thread once each shows how it was sent: a result may be here before its POST is recorded. */
export function sentCalls(at: System, thread: string): Promise<readonly Json[]> {
  return eventually(async () => {
    const calls: readonly Json[] = (await at.request('GET', `/v1/threads/${thread}/tool-calls`)).json.data;
    return calls.every(({ attempts }) => attempts.length > 0) && calls;
  });
}

/** Waits for an event of this type and returns it. A child is there a moment after its parent names it. */
export function untilEvent(at: System, thread: string, type: string): Promise<Json> {
  return eventually(async () => {
    if ((await at.request('GET', `/v1/threads/${thread}`)).status === 404) return undefined;
    return (await eventsOf(at, thread)).find((event) => event.type === type);
  });
}

/** Waits until a thread has this status and returns the thread. */
export function untilStatus(at: System, thread: string, status: string): Promise<Json> {
  return eventually(async () => {
    const { json } = await at.request('GET', `/v1/threads/${thread}`);
    return json.status === status ? json : undefined;
  });
}

/** A thread and a thread below it, whose demo model waits for an approval. */
export async function askingChild(
  at: System,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly parent: string; readonly child: string; readonly choice: string }> {
  const parent = await openThread(at, 'assistant', more);
  await say(at, parent, 'Spawn a thread: "Report to the parent"');
  const child = await eventually(async () => {
    const { data } = (await at.request('GET', `/v1/threads/${parent}/children`)).json;
    return data[0]?.id as string | undefined;
  });
  await untilStatus(at, child, 'idle');
  await untilStatus(at, parent, 'idle');
  const { waiting_on: waitingOn } = await say(at, child, 'Delete everything.');
  return { parent, child, choice: waitingOn[0].id };
}
