// What every conformance spec stands on: a system, a model that records, tool servers that record, and their end.
import { eventsOf, openThread, scriptedAgent, type Step, type System } from '../e2e/conversation.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { type Prompt, type RecordingModel, type Script, startRecordingModel } from './recording-model.ts';
import { recordToolServer, type RecordingToolServer, type ServerOptions } from './recording-tool-server.ts';

export interface Stage {
  readonly at: System;
  /** A tool server that is registered and ends with the stage. */
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

/** Impatient, so that what has to give up gives up soon. */
const settings = {
  DORMOUSE_TOOL_ACK_TIMEOUT_MS: '1500',
  DORMOUSE_TOOL_RETRY_FIRST_MS: '200',
  DORMOUSE_TOOL_RETRY_TOTAL_MS: '2000',
  DORMOUSE_MODEL_RETRY_TOTAL_MS: '1500',
};

export async function setStage(): Promise<Stage> {
  const [at, model] = await Promise.all([startSystem(settings), startRecordingModel()]);
  const started: RecordingToolServer[] = [];
  return {
    at,
    async toolServer(options) {
      const server = await recordToolServer(at, options);
      started.push(server);
      return server;
    },
    async thread(script, servers, more = {}) {
      const agent = await scriptedAgent(at, script, { tool_servers: servers.map(({ name }) => name), ...more.agent });
      return openThread(at, agent, more.thread);
    },
    watchedThread: (script, servers, more) => watchedThread(at, model, { script, servers, more: more ?? {} }),
    async end() {
      await Promise.all([...started.map((server) => server.close()), model.close()]);
      await endSystems();
    },
  };
}

async function watchedThread(
  at: System,
  recording: RecordingModel,
  wish: { readonly script: Script; readonly servers: readonly RecordingToolServer[]; readonly more: More },
): Promise<WatchedThread> {
  const { model, prompts } = recording.plays(wish.script);
  const { agent = {}, model: modelMore = {}, thread = {} } = wish.more;
  const tool_servers = wish.servers.map(({ name }) => name);
  const name = await scriptedAgent(at, [], { tool_servers, ...agent, model: { ...model, ...modelMore } });
  return { thread: await openThread(at, name, thread), prompts };
}

/** Says something and does not wait. */
export async function tell(at: System, thread: string, text: string): Promise<Json> {
  const answer = await at.request('POST', `/v1/threads/${thread}/messages`, { text });
  if (answer.status !== 202) throw new Error(`message: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** The events of one type. */
export async function eventsOfType(at: System, thread: string, type: string): Promise<readonly Json[]> {
  return (await eventsOf(at, thread)).filter((event) => event.type === type);
}

/** For what must not happen: time in which it would. */
export const aWhile = (ms = 300): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
