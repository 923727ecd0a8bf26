// Clients that send messages while processes and servers die, and everything that a judge needs afterwards: what was
// sent and answered, and the logs as they are in the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { tenantId, type Commit } from '@dormouse/ports';
import { emptyHistory, type History, type SentRequest } from '@dormouse/testing';
import type { System } from '../e2e/conversation.ts';
import { type RecordingToolServer, serverName } from './recording-tool-server.ts';

export interface Workload {
  /** Registers the tool server and three agents, one per policy of interruption, and opens a thread for each client. */
  prepare(tools: string, personCount: number): Promise<readonly string[]>;
  /**
   * Sends one message after another for as long as `talking`, and continues in a new thread where the script of one has
   * been played: the load does not end before the faults do. Returns the number of messages.
   */
  talk(thread: string, talking: () => boolean, pauseMs?: PauseMs): Promise<number>;
  /** A thread of the agent of this name; its requests and their outcomes are part of the history. */
  open(agent: string): Promise<string>;
  /** Sends the message of this place, until it is accepted. */
  say(thread: string, place: number): Promise<void>;
  /** Interrupts the thread, until that is accepted. */
  interrupt(thread: string): Promise<void>;
  isIdle(thread: string): Promise<boolean>;
  /** Waits until everything is at rest, `withinMs` at most, and reads the logs of all threads. */
  history(tools: RecordingToolServer, withinMs: number): Promise<History>;
}

/** Between two messages of one client, evenly. */
export interface PauseMs {
  readonly from: number;
  readonly to: number;
}

const tenant = tenantId('default');
const messagesPerThreadMax = 400;
const shortPause: PauseMs = { from: 0, to: 60 };
/** How a message affects the turn that runs, and the name of the agent with that policy. */
export const onInterrupts = ['cancel', 'keep', 'queue'] as const;

/** Every turn calls two tools, one of them at most once, then answers. */
const script = Array.from({ length: messagesPerThreadMax * 2 }, (_, place) => {
  const call = (name: string): object => ({ tool_call: { name, arguments: { place } } });
  return place % 2 === 0 ? [call('work'), call('wipe')] : [{ wait_ms: 5 }, { text: `answer ${place}` }];
});

/** The input's id as it stands in the log, from the message's: they carry the same characters. */
const inputIdOf = (publicId: string): string => `c:${publicId.slice(publicId.indexOf('_') + 1)}`;

export function createWorkload(request: System['request']): Workload {
  const requests: SentRequest[] = [];
  const threads: string[] = [];
  const agents = new Map<string, string>();

  /** Sends until there is an answer; the key makes it one request however often it is sent. */
  async function send(method: string, path: string, body?: object, key?: string) {
    for (;;) {
      try {
        const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
        const answer = await request(method, path, body, { headers });
        // 409: the first try is still running, or was when its process was killed
        if (answer.status < 500 && answer.status !== 409) return answer;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // a connection that was cut or refused
      }
      await sleep(20);
    }
  }

  async function commitsOf(thread: string): Promise<readonly Commit[]> {
    const commits: Commit[] = [];
    for (let cursor = ''; ;) {
      const { json } = await send('GET', `/v1/threads/${thread}/commits?limit=200${cursor}`);
      const page = json as { readonly data: readonly Commit[]; readonly next_cursor: string | null };
      commits.push(...page.data);
      if (page.next_cursor === null || page.data.length === 0) return commits;
      cursor = `&cursor=${page.next_cursor}`;
    }
  }

  async function openThread(agent: string): Promise<string> {
    const place = threads.push('') - 1;
    const id = (await send('POST', '/v1/threads', { agent }, `thread-${place}`)).json.id as string;
    threads[place] = id;
    agents.set(id, agent);
    return id;
  }

  async function say(thread: string, place: number): Promise<void> {
    const sentAt = Date.now();
    const body = { text: `message ${place}` };
    const { status, json } = await send('POST', `/v1/threads/${thread}/messages`, body, `${thread}-${place}`);
    if (status !== 202) throw new Error(`a message was answered ${status}`);
    const { id } = json as { readonly id: string };
    const key = { tenant, thread };
    requests.push({ key, kind: 'message', inputId: inputIdOf(id), messageId: id, sentAt, answeredAt: Date.now() });
  }

  async function interrupt(thread: string): Promise<void> {
    const sentAt = Date.now();
    const { status, json } = await send('POST', `/v1/threads/${thread}/interrupt`, undefined, `${thread}-interrupt`);
    if (status !== 202) throw new Error(`an interruption was answered ${status}`);
    const inputId = inputIdOf((json as { readonly id: string }).id);
    const key = { tenant, thread };
    requests.push({ key, kind: 'interrupt', inputId, messageId: null, sentAt, answeredAt: Date.now() });
  }

  async function statusOf(thread: string): Promise<string> {
    return ((await send('GET', `/v1/threads/${thread}`)).json as { readonly status: string }).status;
  }

  /** Why the runtime is not at rest yet; empty when it is. */
  async function unrest(tools: RecordingToolServer): Promise<readonly string[]> {
    const why = tools.busy() > 0 ? [`${tools.busy()} callbacks are on their way`] : [];
    for (const thread of threads) {
      const status = await statusOf(thread);
      if (status !== 'idle') why.push(`${thread} is ${status}`);
    }
    return why;
  }

  /** Twice in a row: between an answer and its input a thread looks idle. */
  async function rest(tools: RecordingToolServer, withinMs: number) {
    let why: readonly string[] = ['not looked yet'];
    for (let calm = 0, deadline = Date.now() + withinMs; calm < 2 && Date.now() < deadline;) {
      why = await unrest(tools);
      calm = why.length === 0 ? calm + 1 : 0;
      await sleep(200);
    }
    return why;
  }

  return {
    prepare: async (tools, personCount) => {
      await send('POST', '/v1/tool-servers', { name: serverName, base_url: tools }, 'server');
      const model = { provider: 'scripted', parameters: { script } };
      for (const name of onInterrupts) {
        const policies = { on_interrupt: name, approve: { mode: 'none' } };
        await send('POST', '/v1/agents', { name, model, tool_servers: [serverName], policies }, `agent-${name}`);
      }
      const opened: string[] = [];
      for (let person = 0; person < personCount; person++)
        opened.push(await openThread(onInterrupts[person % onInterrupts.length] ?? ''));
      return opened;
    },
    open: openThread,
    ...{ say, interrupt },
    isIdle: async (thread) => (await statusOf(thread)) === 'idle',
    talk: async (first, talking, { from, to } = shortPause) => {
      let thread = first;
      let said = 0;
      for (; talking(); said++) {
        const place = said % messagesPerThreadMax;
        if (said > 0 && place === 0) thread = await openThread(agents.get(first) ?? '');
        await say(thread, place);
        await sleep(from + Math.random() * (to - from));
      }
      return said;
    },
    history: async (tools, withinMs) => {
      const why = await rest(tools, withinMs);
      return {
        ...emptyHistory,
        threads: await Promise.all(
          threads.map(async (thread) => ({ key: { tenant, thread }, commits: await commitsOf(thread) })),
        ),
        requests,
        callbacks: tools.callbacks,
        posts: tools.posts,
        notices: tools.notices,
        unrest: why,
      };
    },
  };
}
