// A small RAP tool server on node:http: documentation by example, the demo's peer, and the tests'.
//
// Invariants:
//   X1. A call is acknowledged at once and worked on afterwards. T6 T7
//   X2. A call that cannot be run is acknowledged too, and answered with an error result, as long as we know where. T10
//   X3. /close_thread and /cancel_tool_call always answer 200 with nothing, and clean up behind it. T35 T37
//   X4. Nothing listens before the manifest is known to be valid. T3 T46
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { timingSafeEqual } from 'node:crypto';
import {
  checkJson,
  isJsonObject,
  parseCancelToolCall,
  parseCloseThread,
  parseInvocation,
  parseToolset,
} from '@dormouse/protocol';
import { type CallAddress, type Calls, createCalls } from './calls.ts';
import { readBody } from './request-body.ts';
import { type DeliverySettings, deliverySettings } from './result-delivery.ts';
import type { ExampleTool } from './tool.ts';
import { createTools } from './tools.ts';

export interface ExampleToolsOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** The address the manifest names; default: the one it listens on. */
  readonly publicUrl?: string;
  /** When set, every POST needs `Authorization: Bearer <bearer>`. T38 */
  readonly bearer?: string;
  /** Calls with another version get 409. T48 */
  readonly toolsetVersion?: string;
  readonly delivery?: Partial<DeliverySettings>;
  readonly log?: (line: string) => void;
}

export interface ExampleTools {
  /** Base URL: what a tool server is registered with. */
  readonly url: string;
  close(): Promise<void>;
}

interface Server {
  readonly tools: ReadonlyMap<string, ExampleTool>;
  readonly calls: Calls;
  readonly toolsetVersion: string;
  readonly bearer: string | null;
  manifest: string;
}

export async function startExampleTools(options: ExampleToolsOptions): Promise<ExampleTools> {
  const tools = createTools();
  const calls = createCalls({ delivery: { ...deliverySettings, ...options.delivery }, log: options.log ?? (() => {}) });
  const toolsetVersion = options.toolsetVersion ?? '1';
  const server: Server = {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    calls,
    toolsetVersion,
    bearer: options.bearer ?? null,
    manifest: '',
  };
  const http = createServer((request, response) => {
    void answer(server, request, response).catch(() => response.destroy());
  });
  server.manifest = manifestOf(tools, toolsetVersion, 'http://localhost'); // (X4)
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(options.port, options.host, resolve));
  const { address, family, port } = http.address() as AddressInfo;
  const url = options.publicUrl ?? `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  server.manifest = manifestOf(tools, toolsetVersion, url);
  return {
    url,
    async close() {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      await calls.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

function manifestOf(tools: readonly ExampleTool[], toolsetVersion: string, url: string): string {
  const manifest = {
    name: 'example-tools',
    description: 'A clock, the weather, a slow job, a flaky tool, a destructive one, and dice.',
    endpoint: `${url}/invoke`,
    toolset_version: toolsetVersion,
    tools: tools.map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      inputSchema,
      annotations,
    })),
  };
  const parsed = parseToolset(manifest);
  if (!parsed.ok)
    throw new Error(
      `invalid manifest: ${parsed.problems.map((problem) => `${problem.pointer} ${problem.detail}`).join('; ')}`,
    );
  return JSON.stringify(manifest, null, 2);
}

async function answer(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').replace(/\?.*$/, '');
  if (request.method === 'GET' && path === '/.well-known/rap-toolset') return send(response, 200, server.manifest); // T1
  if (request.method === 'GET' && path === '/healthz') return send(response, 200);
  if (request.method !== 'POST') return send(response, 404);
  if (!isAuthorized(server, request)) return send(response, 401);
  if (path === '/close_thread' || path === '/cancel_tool_call') return takeNotice(server, request, response, path);
  if (path !== '/invoke') return send(response, 404);
  return takeInvocation(server, request, response);
}

async function takeNotice(
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
  path: '/close_thread' | '/cancel_tool_call',
): Promise<void> {
  const body = await readBody(request);
  send(response, 200); // (X3), also for what nobody understands
  const json = body === null ? null : checkJson(body);
  if (json === null || !json.ok) return;
  if (path === '/close_thread') {
    const parsed = parseCloseThread(json.value);
    if (parsed.ok) server.calls.closeThread(parsed.notice.threadId);
    return;
  }
  const parsed = parseCancelToolCall(json.value);
  if (parsed.ok) server.calls.cancel(parsed.notice.threadId, parsed.notice.toolCallId);
}

async function takeInvocation(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return send(response, 415);
  const body = await readBody(request);
  if (body === null) return send(response.setHeader('connection', 'close'), 413);
  const json = checkJson(body);
  if (!json.ok) return send(response, 400);
  const parsed = parseInvocation(json.value);
  if (!parsed.ok) return refuse(server, json.value, parsed.problems, response);
  const { invocation } = parsed;
  if (invocation.toolsetVersion !== undefined && invocation.toolsetVersion !== server.toolsetVersion)
    return send(response, 409);
  const tool = server.tools.get(invocation.operation) ?? null;
  if (tool?.refuses?.(invocation.arguments, server.calls.attempt(invocation)) === true) return send(response, 503);
  send(response, 200); // (X1)
  server.calls.take(addressOf(invocation), tool, invocation.operation, invocation.arguments);
}

/** (X2) */
function refuse(
  server: Server,
  json: unknown,
  problems: readonly { readonly pointer: string; readonly detail: string }[],
  response: ServerResponse,
): void {
  const { id, call_id: callId, group_id: groupId, callback_url: callbackUrl } = isJsonObject(json) ? json : {};
  if (typeof id !== 'string' || typeof groupId !== 'string' || typeof callbackUrl !== 'string')
    return send(response, 422);
  send(response, 200);
  const address = { id, groupId, callbackUrl, ...(typeof callId === 'string' ? { callId } : {}) };
  server.calls.refuse(
    address,
    `this is not a valid invocation: ${problems.map((problem) => `${problem.pointer} ${problem.detail}`).join('; ')}.`,
  );
}

const addressOf = ({ id, callId, groupId, callbackUrl }: CallAddress): CallAddress => ({
  id,
  groupId,
  callbackUrl,
  ...(callId === undefined ? {} : { callId }),
});

function isAuthorized(server: Server, request: IncomingMessage): boolean {
  if (server.bearer === null) return true;
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${server.bearer}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function send(response: ServerResponse, status: number, json?: string): void {
  if (json === undefined) response.writeHead(status).end();
  else response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(json);
}
