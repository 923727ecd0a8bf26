// A tool server that records every request as it came and answers as scripted: any manifest, any status, late or never,
// on any path. Its callbacks are sent by hand. Not here: the behaviour of a conforming tool server.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { eventually, type Step, type System } from '../e2e/conversation.ts';
import type { Json } from '../e2e/standalone-process.ts';

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** When its head came, in milliseconds. */
  readonly at: number;
  /** The body as JSON; fails when it is none. */
  readonly json: Json;
}

/** Ends the response, or does not. */
export type Reply = (response: ServerResponse, request: Recorded) => void;

export interface CallbackAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface RecordingToolServer {
  readonly name: string;
  readonly url: string;
  /** Where it is registered: `url` and the requested path. */
  readonly base: string;
  readonly requests: readonly Recorded[];
  /** The answer of discovery from now on: a manifest, or a text, or bytes. */
  publish(manifest: unknown): void;
  /** The manifest of these tools at this server. */
  manifest(tools: readonly unknown[], more?: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** The answers to requests on this path, one after the other; the last reply stays. */
  replies(path: string, ...replies: readonly Reply[]): void;
  posts(path: string): readonly Recorded[];
  discoveries(): readonly Recorded[];
  /** The n-th invocation, from 0. */
  invocation(index: number): Promise<Json>;
  invocations(): readonly Recorded[];
  /** Sends one message for an invocation; ids are filled in unless the message has its own. */
  send(invocation: Json, message: Step, headers?: Readonly<Record<string, string>>): Promise<CallbackAnswer>;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** Path of the base URL. */
  readonly basePath?: string;
  readonly tools?: readonly unknown[];
  /** Further fields of the registration. */
  readonly registration?: Readonly<Record<string, unknown>>;
}

export const status =
  (code: number, body = '', headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    void response.writeHead(code, headers).end(body);

/** Accepts the request and never answers. */
export const silence: Reply = () => undefined;
export const hangUp: Reply = (response) => void response.destroy();

export const tool = (
  name: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
  ...more,
});

/** Starts one and registers it with the system. */
export async function recordToolServer(at: System, options: ServerOptions = {}): Promise<RecordingToolServer> {
  const requests: Recorded[] = [];
  const replies = new Map<string, readonly Reply[]>();
  let published: string | Uint8Array = '';
  const server = createServer((request, response) => {
    const at = Date.now();
    const { method = '', url: path = '', headers } = request;
    void buffer(request).then((bytes) => {
      const recorded: Recorded = {
        ...{ method, path, headers, bytes, at },
        get json() {
          return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
        },
      };
      requests.push(recorded);
      const [reply, ...later] = replies.get(path) ?? [];
      if (later.length > 0) replies.set(path, later);
      if (reply !== undefined) return reply(response, recorded);
      if (method === 'GET') return void response.setHeader('content-type', 'application/json').end(published);
      return void response.end();
    }, ignore);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const base = url + (options.basePath ?? '');
  const name = `recording-${randomBytes(6).toString('hex')}`;

  const posts = (path: string): readonly Recorded[] =>
    requests.filter((request) => request.method === 'POST' && request.path === path);
  const recording: RecordingToolServer = {
    ...{ name, url, base, requests },
    publish: (manifest) => {
      published = typeof manifest === 'string' || manifest instanceof Uint8Array ? manifest : JSON.stringify(manifest);
    },
    manifest: (tools, more = {}) => ({ name: 'recording', endpoint: `${url}/invoke`, tools, ...more }),
    replies: (path, ...given) => void replies.set(path, given),
    posts,
    discoveries: () => requests.filter(({ method }) => method === 'GET'),
    invocations: () => posts('/invoke'),
    invocation: (index) => eventually(async () => posts('/invoke')[index]?.json),
    send: (invocation, message, headers) => sendCallback(invocation, message, headers),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  recording.publish(recording.manifest(options.tools ?? ['watch', 'work'].map((one) => tool(one))));
  const registered = await at.request('POST', '/v1/tool-servers', { name, base_url: base, ...options.registration });
  if (registered.status !== 201) throw new Error(`tool server: ${registered.status} ${registered.text}`);
  requests.length = 0; // a registration looks at the manifest
  return recording;
}

/** A client that hangs up in the middle of its request is ignored. */
const ignore = (): void => undefined;

function sendCallback(
  { group_id, id, callback_url }: Json,
  message: Step,
  headers: Readonly<Record<string, string>> = {},
): Promise<CallbackAnswer> {
  const about = message['type'] === 'subscription_event' ? { tool_call_id: id } : { id };
  const body = { group_id, ...(message['type'] === 'view_update' ? {} : about), ...message };
  return postCallback(callback_url, JSON.stringify(body), headers);
}

/** Sends these very bytes. */
export async function postCallback(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<CallbackAnswer> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as string,
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
