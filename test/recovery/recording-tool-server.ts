// A tool server that records every POST: acknowledges at once, answers a little later, retries its callback while the
// runtime is away (never after a 4xx). It outlives the runtime that is being killed.
import { tenantId, type TenantId } from '@dormouse/ports';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedNotice, ReceivedPost, SentCallback } from '@dormouse/testing';
import { text } from 'node:stream/consumers';

export interface RecordingToolServer {
  readonly url: string;
  readonly posts: ReceivedPost[];
  readonly notices: ReceivedNotice[];
  readonly callbacks: SentCallback[];
  /** Callbacks that are still on their way. */
  readonly busy: () => number;
  /** The `Idempotency-Key`s of all POSTs, by call. */
  readonly keys: ReadonlyMap<string, ReadonlySet<string>>;
  /** Sends the result of every call again, each as it was. */
  sendAgain(): Promise<void>;
  close(): Promise<void>;
}

interface Invocation {
  readonly id: string;
  readonly group_id: string;
  readonly operation: string;
  readonly arguments: unknown;
  readonly callback_url: string;
}

export const serverName = 'recorder';

const tool = (name: string, annotations: object): object => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  annotations,
});

export interface RecordingOptions {
  /** Of a thread; default: `default`. */
  readonly tenantOf?: (thread: string) => TenantId;
  /** Until an answer; default: evenly, up to `answerWithinMs`. */
  readonly pauseMs?: () => number;
}

export async function startRecordingToolServer(
  answerWithinMs: number,
  { tenantOf = () => tenantId('default'), pauseMs = () => Math.random() * answerWithinMs }: RecordingOptions = {},
): Promise<RecordingToolServer> {
  const posts: ReceivedPost[] = [];
  const notices: ReceivedNotice[] = [];
  const callbacks: SentCallback[] = [];
  const keys = new Map<string, Set<string>>();
  const results = new Map<string, { readonly invocation: Invocation; readonly words: string }>();
  const stop = new AbortController();
  let busy = 0;

  const server: Server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { url = '' } = request;
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') return response.end(manifest());
      response.end();
      if (url === '/invoke') await invoked(JSON.parse(body) as Invocation, String(request.headers['idempotency-key']));
      else noticed(url, JSON.parse(body) as { readonly thread_id: string; readonly tool_call_id?: string });
      return undefined;
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const manifest = (): string =>
    JSON.stringify({
      name: serverName,
      endpoint: `${url}/invoke`,
      tools: [tool('work', {}), tool('wipe', { destructive: true })],
    });

  function noticed(
    path: string,
    { thread_id, tool_call_id }: { readonly thread_id: string; readonly tool_call_id?: string },
  ): void {
    const notice = path === '/close_thread' ? 'close_thread' : 'cancel_tool_call';
    notices.push({ toolServer: serverName, notice, subject: tool_call_id ?? thread_id });
  }

  async function invoked(invocation: Invocation, key: string): Promise<void> {
    const { id, group_id, operation } = invocation;
    keys.set(id, (keys.get(id) ?? new Set()).add(key));
    const receivedAt = Date.now();
    posts.push({
      toolServer: serverName,
      thread: group_id,
      toolCallId: id,
      operation,
      arguments: invocation.arguments,
      receivedAt,
      lookedUpAt: receivedAt,
    });
    busy += 1;
    try {
      await sleep(pauseMs(), undefined, { signal: stop.signal });
      const words = `done ${id} ${posts.length}`;
      results.set(id, { invocation, words });
      await callBack(invocation, words);
    } finally {
      busy -= 1;
    }
  }

  async function callBack({ id, group_id, callback_url }: Invocation, words: string): Promise<void> {
    const body = JSON.stringify({ type: 'tool_result', group_id, id, text: words });
    for (;;) {
      const status = await fetch(callback_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: stop.signal,
      }).then(
        (answer) => answer.status,
        () => null, // the runtime was killed, or is not back yet
      );
      callbacks.push({
        key: { tenant: tenantOf(group_id), thread: group_id },
        toolCallId: id,
        type: 'tool_result',
        text: words,
        legitimate: true,
        sentAt: Date.now(),
        status,
      });
      if (status !== null && status < 500) return;
      await sleep(50, undefined, { signal: stop.signal });
    }
  }

  return {
    url,
    posts,
    notices,
    callbacks,
    busy: () => busy,
    keys,
    sendAgain: async () => {
      await Promise.all([...results.values()].map(({ invocation, words }) => callBack(invocation, words)));
    },
    close: async () => {
      stop.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
