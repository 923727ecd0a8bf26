// A tool server that does nothing by itself: it acknowledges, remembers every request it got, and the scenario sends
// its callbacks by hand.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually, type Step, type System } from './conversation.ts';
import type { Json } from './standalone-process.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

export interface DrivenToolServer {
  readonly name: string;
  readonly url: string;
  readonly requests: readonly Received[];
  /** The n-th invocation, from 0. */
  invocation(index: number): Promise<Json>;
  /** Sends one message for an invocation; ids are filled in. Answers the status. */
  send(invocation: Json, message: Step, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** From now on requests to this path are answered 500. */
  failAt(path: string): void;
  /** Requests to a path other than the invocations. */
  others(path: string): readonly Received[];
  close(): Promise<void>;
}

let servers = 0;

const tool = (name: string): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
});

/** Starts one and registers it with the system. */
export async function driveToolServer(at: System, manifest: object = {}): Promise<DrivenToolServer> {
  const requests: Received[] = [];
  const failing = { path: '' };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = '', headers } = request;
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json');
        return response.end(
          JSON.stringify({
            name: 'driven',
            endpoint: `${url}/invoke`,
            tools: ['watch', 'work'].map(tool),
            ...manifest,
          }),
        );
      }
      requests.push({ path, headers, body: JSON.parse(body) });
      if (path === failing.path) response.statusCode = 500;
      return response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const name = `driven-${++servers}-${process.pid}`;
  const registered = await at.request('POST', '/v1/tool-servers', { name, base_url: url });
  if (registered.status !== 201) throw new Error(`tool server: ${registered.status} ${registered.text}`);

  const invocations = (): readonly Received[] => requests.filter(({ path }) => path === '/invoke');
  return {
    name,
    url,
    requests,
    invocation: (index) => eventually(async () => invocations()[index]?.body),
    others: (path) => requests.filter((request) => request.path === path),
    failAt: (path) => {
      failing.path = path;
    },
    async send(invocation, message, headers = {}) {
      const { group_id, id, callback_url } = invocation;
      const about = message['type'] === 'subscription_event' ? { tool_call_id: id } : { id };
      const answer = await fetch(callback_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ group_id, ...(message['type'] === 'view_update' ? {} : about), ...message }),
      });
      return answer.status;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const toolCall = (name: string, args: Readonly<Record<string, unknown>> = {}): Step => ({
  tool_call: { name, arguments: args },
});
