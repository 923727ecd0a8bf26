// Load that lasts until it is stopped, and servers that fail as they are told.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openThread, type System } from '../e2e/conversation.ts';

export interface Repeated {
  stop(): Promise<void>;
}

/** Does it again and again. What fails is the fault that is under test, not this load. */
export function repeat(everyMs: number, work: () => Promise<unknown>): Repeated {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await work().catch(() => {});
      await sleep(everyMs, null, { signal: stopped.signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** Turns with a tool: every share of a rule has its denominator. */
export const chatting = (at: System): Repeated =>
  repeat(500, async () => {
    const thread = await openThread(at);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'What is the weather in Oslo?' });
  });

export interface ModelServer {
  /** `model` of an agent. */
  readonly model: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** An endpoint that answers with this status, or never. */
export async function startModelServer(status: number | null): Promise<ModelServer> {
  const server = createServer((request, response) => {
    request.resume();
    if (status !== null) response.writeHead(status).end('{"error":{"message":"no"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    model: { provider: 'openai-compatible', name: `of-${base_url}`, base_url },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let agents = 0;

/** Registers an agent of this model and gives its name. */
export async function agentOf(at: System, model: object, more: object = {}): Promise<string> {
  const name = `long-${++agents}`;
  const answer = await at.request('POST', '/v1/agents', { name, model, ...more });
  if (answer.status !== 201) throw new Error(`agent: ${answer.status} ${answer.text}`);
  return name;
}

/** Opens a thread of this agent whose first message begins a turn. */
export async function beginTurn(at: System, agent: string): Promise<string> {
  const answer = await at.request('POST', '/v1/threads', { agent, message: { text: 'go' } });
  if (answer.status !== 201) throw new Error(`thread: ${answer.status} ${answer.text}`);
  return answer.json.id;
}
