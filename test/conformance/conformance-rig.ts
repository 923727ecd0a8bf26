// The base of every conformance spec: a system, a recording model, recording tool servers, and their end.
import { randomBytes } from 'node:crypto';
import { eventsOf, openThread, type Step, type System } from '../e2e/conversation.ts';
import { cleanUp, type Json } from '../e2e/standalone-process.ts';
import { type Prompt, type RecordingModel, type Script, startRecordingModel } from './recording-model.ts';
import { recordToolServer, type RecordingToolServer, type ServerOptions } from './recording-tool-server.ts';
import { type ConformanceSystem, conformanceSystem } from './system.ts';

export interface Rig {
  readonly at: ConformanceSystem;
  /** A tool server that is registered and ends with the rig. */
  toolServer(options?: ServerOptions): Promise<RecordingToolServer>;
  /** A thread whose model plays a script, with these servers. */
  thread(script: readonly (readonly Step[])[], servers: readonly RecordingToolServer[], more?: More): Promise<string>;
  /** The same, and what its model was shown. */
  watchedThread(script: Script, servers: readonly RecordingToolServer[], more?: More): Promise<WatchedThread>;
  end(): Promise<void>;
}

/** Further fields of the agent, and of the thread. */
export interface More {
  readonly agent?: Readonly<Record<string, unknown>>;
  /** Further fields of the agent's model. */
  readonly model?: Readonly<Record<string, unknown>>;
  readonly thread?: Readonly<Record<string, unknown>>;
}

export interface WatchedThread {
  readonly thread: string;
  readonly prompts: readonly Prompt[];
}

export async function setRig(): Promise<Rig> {
  const [at, model] = await Promise.all([conformanceSystem(), startRecordingModel()]);
  const started: RecordingToolServer[] = [];
  return {
    at,
    async toolServer(options) {
      const server = await recordToolServer(at, options);
      started.push(server);
      return server;
    },
    async thread(script, servers, more = {}) {
      const model = { provider: 'scripted', parameters: { script } };
      return openThread(at, await makeAgent(at, model, servers, more), more.thread);
    },
    watchedThread: (script, servers, more) => watchedThread(at, model, { script, servers, more: more ?? {} }),
    async end() {
      await Promise.all([...started.map((server) => server.close()), model.close()]);
      await cleanUp();
    },
  };
}

async function watchedThread(
  at: System,
  recording: RecordingModel,
  wish: { readonly script: Script; readonly servers: readonly RecordingToolServer[]; readonly more: More },
): Promise<WatchedThread> {
  const { model, prompts } = recording.plays(wish.script);
  const { servers, more } = wish;
  const agent = await makeAgent(at, { ...model, ...more.model }, servers, more);
  return { thread: await openThread(at, agent, more.thread), prompts };
}

/** Its name is unique on the system. */
async function makeAgent(
  at: System,
  model: Readonly<Record<string, unknown>>,
  servers: readonly RecordingToolServer[],
  { agent = {} }: More,
): Promise<string> {
  const name = `conformance-${randomBytes(6).toString('hex')}`;
  const tool_servers = servers.map((server) => server.name);
  const answer = await at.request('POST', '/v1/agents', { name, model, tool_servers, ...agent });
  if (answer.status !== 201) throw new Error(`agent: ${answer.status} ${answer.text}`);
  return name;
}

/** Sends a message and does not wait. */
export async function tell(at: System, thread: string, text: string): Promise<Json> {
  const answer = await at.request('POST', `/v1/threads/${thread}/messages`, { text });
  if (answer.status !== 202) throw new Error(`message: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** The events of one type. */
export async function eventsOfType(at: System, thread: string, type: string): Promise<readonly Json[]> {
  return (await eventsOf(at, thread)).filter((event) => event.type === type);
}

/** What the log lists as discarded of a thread's callbacks. */
export const discardedOf = (at: System, thread: string): readonly Json[] =>
  at
    .output()
    .split('\n')
    .filter((line) => line.includes('"callback_discarded"') && line.includes(thread))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))));

/** For what must not happen: time in which it would. */
export const aWhile = (ms = 300): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
