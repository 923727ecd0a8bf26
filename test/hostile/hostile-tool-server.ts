// A tool server with every kind of fault, one per tool; it counts its requests.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface HostileToolServer {
  readonly url: string;
  /** How often each tool was invoked, and with which ids. */
  readonly invoked: ReadonlyMap<string, readonly string[]>;
  /** Status of each callback a tool sent, in order. */
  readonly answers: ReadonlyMap<string, readonly number[]>;
  close(): Promise<void>;
}

interface Invocation {
  readonly id: string;
  readonly group_id: string;
  readonly operation: string;
  readonly callback_url: string;
}

/** Every tool is named after its server's fault. */
export const misdeeds = [
  'answers_500',
  'answers_404',
  'answers_409',
  'never_acknowledges',
  'never_answers',
  'cuts_the_connection',
  'sends_garbage',
  'sends_bad_utf8',
  'sends_too_much',
  'answers_before_acknowledging',
  'answers_twice',
  'lies_about_the_id',
  'redirects',
] as const;
export type Misdeed = (typeof misdeeds)[number];

export async function startHostileToolServer(): Promise<HostileToolServer> {
  const invoked = new Map<string, string[]>();
  const answers = new Map<string, number[]>();
  const note = <T>(map: Map<string, T[]>, tool: string, value: T): void =>
    void map.set(tool, [...(map.get(tool) ?? []), value]);

  async function callBack({ callback_url, operation }: Invocation, body: string | Uint8Array): Promise<void> {
    const answer = await fetch(callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body as string,
    });
    await answer.arrayBuffer();
    note(answers, operation, answer.status);
  }
  const result = ({ id, group_id }: Invocation, words: string): string =>
    JSON.stringify({ type: 'tool_result', group_id, id, text: words });

  const deeds: Record<Misdeed, (invocation: Invocation, response: ServerResponse) => Promise<void> | void> = {
    answers_500: (_, response) => void response.writeHead(500).end('<h1>oops</h1>'),
    answers_404: (_, response) => void response.writeHead(404).end(),
    answers_409: (_, response) => void response.writeHead(409).end('{"stale":true}'),
    never_acknowledges: () => undefined,
    never_answers: (_, response) => void response.writeHead(202).end('not even JSON'),
    cuts_the_connection: (_, response) => void response.destroy(),
    sends_garbage: async (invocation, response) => {
      response.end();
      await callBack(invocation, '{"type":"tool_result", "text": [}');
    },
    sends_bad_utf8: async (invocation, response) => {
      response.end();
      await callBack(
        invocation,
        Buffer.concat([Buffer.from('{"type":"tool_result","text":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      );
    },
    sends_too_much: async (invocation, response) => {
      response.end();
      await callBack(invocation, result(invocation, 'x'.repeat(5 * 1_024 * 1_024)));
    },
    answers_before_acknowledging: async (invocation, response) => {
      await callBack(invocation, result(invocation, 'early'));
      response.end();
    },
    answers_twice: async (invocation, response) => {
      response.end();
      await callBack(invocation, result(invocation, 'first'));
      await callBack(invocation, result(invocation, 'second'));
    },
    lies_about_the_id: async (invocation, response) => {
      response.end();
      await callBack(invocation, result({ ...invocation, id: 'call_of_somebody_else' }, 'forged'));
      await callBack(invocation, result({ ...invocation, group_id: 'thr_of_somebody_else' }, 'forged'));
      await callBack(invocation, result(invocation, 'true'));
    },
    redirects: (_, response) =>
      void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  };

  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (request.method === 'GET') return response.setHeader('content-type', 'application/json').end(manifest());
      if (request.url !== '/invoke') return response.end();
      const invocation = JSON.parse(body) as Invocation;
      note(invoked, invocation.operation, invocation.id);
      await deeds[invocation.operation as Misdeed](invocation, response);
      return undefined;
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const manifest = (): string =>
    JSON.stringify({
      name: 'hostile',
      endpoint: `${url}/invoke`,
      tools: misdeeds.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    });
  return {
    url,
    invoked,
    answers,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
