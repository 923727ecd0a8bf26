/**
 * Owns: the HTTP side: the routing of requests, and their answers.
 *
 * F1. An invocation is stored, acknowledged, and only then examined. T6 T7
 * F2. An invocation that cannot run but says where its error may go is acknowledged; one without that is refused. T10
 * F3. /close_thread and /cancel_tool_call answer 200 without a body, whatever they contain and whatever fails inside.
 *     T35
 * F4. Before the server is ready, and after it began to close, everything that would be lost is answered 503. T3
 * F5. A request that its head already decides is answered before its body is read.
 */
import { checkJson, inexactNumberOf } from '@dormouse/json';
import { parseCancelToolCall, parseCloseThread, parseInvocation, type ToolInvocation } from '@dormouse/protocol';
import type { Authentication } from './authentication.ts';
import { addressWithin, postedCall, type PostedCall } from '../call/call-address.ts';
import { splitCallbackUrl } from '../outbox/callback-delivery.ts';
import { choicePath, type Choices } from '../ask/choices.ts';
import type { DoorRequest, DoorResponse } from './exchange.ts';
import { handoverPath } from '../outbox/handover.ts';
import { manifestPath } from '../define/manifest.ts';
import { migrate, type MigrateHook } from '../call/migration.ts';
import { redirectPath } from '../ask/oauth-provider.ts';
import type { RateLimit } from './rate-limit.ts';
import { textOf } from './body-text.ts';
import { isTooLarge, type ReadBody } from './request-body.ts';
import type { Route, RouteAnswer } from './route.ts';
import type { ToolServer } from '../define/tool-server.ts';
import { traceOfRequest } from '../trace/call-trace.ts';

export const invocationPath = '/invoke';

/** `opening`: the manifest and the endpoint answer, readiness does not. */
export type DoorState = 'starting' | 'opening' | 'ready' | 'closing';

export interface DoorParts {
  readonly state: () => DoorState;
  /** `base` is the address under which a mounted server was reached. */
  readonly manifest: (base: string | undefined) => string;
  readonly reachedAt: (base: string | undefined) => void;
  readonly name: string;
  readonly authentication: Authentication;
  /** Refuse invocations of another version with 409. T48 */
  readonly version: string | null;
  readonly invocations: RateLimit;
  readonly notices: RateLimit;
  readonly isFull: () => boolean;
  readonly admit: (invocation: ToolInvocation) => number | null;
  readonly mayCall: (callbackUrl: string) => boolean;
  /** Stores a call, and returns the work to do once it is acknowledged. (F1) */
  readonly take: (posted: PostedCall) => () => Promise<void>;
  readonly closeThread: (threadId: string) => void;
  readonly cancelToolCall: (threadId: string, toolCallId: string) => void;
  readonly choices: Choices;
  readonly login: (query: URLSearchParams) => Promise<RouteAnswer>;
  readonly migration: { readonly hook: MigrateHook; readonly migrateMsMax: number } | null;
  /** Accepts a piece of a family that moves here; null where no handover is configured. */
  readonly handOver: ((body: Uint8Array) => number) | null;
  readonly routes: readonly Route[];
  readonly readBody: ReadBody;
  readonly server: () => ToolServer;
  readonly log: (line: string) => void;
}

export type Door = (request: DoorRequest, response: DoorResponse) => Promise<void>;

export function createDoor(parts: DoorParts): Door {
  return async (request, response) => {
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    const { method } = request;
    if (path === '/healthz') return send(response, { status: 200 });
    if (path === '/readyz') return send(response, { status: parts.state() === 'ready' ? 200 : 503 });
    if (parts.state() === 'starting') return send(response, busy(1_000)); // (F4)
    if (method === 'GET' && path === manifestPath) return send(response, jsonAnswer(parts.manifest(request.base))); // T1
    if (method === 'GET' && path === redirectPath) return send(response, await parts.login(new URLSearchParams(query)));
    const route = parts.routes.find((each) => each.method === method && each.path === path);
    if (route !== undefined) return takeRoute(parts, route, request, response, query);
    if (method !== 'POST') return send(response, { status: 404 });
    return takePost(parts, request, response, path);
  };
}

async function takeRoute(
  parts: DoorParts,
  route: Route,
  request: DoorRequest,
  response: DoorResponse,
  query: string,
): Promise<void> {
  const { headers } = request;
  if (route.mayTake?.(headers) === false) return send(response, { status: 401 }); // (F5)
  await answerBody(parts, request, response, (body) =>
    route.handle({ headers, query: new URLSearchParams(query), body }, parts.server()),
  );
}

/** Answers with what becomes of the body, or says why it cannot be read. */
async function answerBody(
  { readBody }: DoorParts,
  request: DoorRequest,
  response: DoorResponse,
  answerTo: (body: Buffer) => RouteAnswer | Promise<RouteAnswer>,
): Promise<void> {
  const reading = await readBody(request);
  send(response, reading.ok ? await answerTo(reading.body) : reading.answer);
}

async function takePost(parts: DoorParts, request: DoorRequest, response: DoorResponse, path: string): Promise<void> {
  if (path.startsWith(choicePath)) {
    if (!parts.choices.isAsked(path)) return send(response, { status: 404 }); // (F5)
    return answerBody(parts, request, response, (body) => {
      const json = checkJson(textOf(body) ?? '');
      return { status: parts.choices.answer(path, json.ok ? json.value : null) }; // the path is the credential
    });
  }
  if (path === handoverPath && parts.handOver !== null) {
    const { handOver } = parts;
    if (parts.state() !== 'ready') return send(response, busy(1_000)); // (F4)
    return answerBody(parts, request, response, (body) => ({ status: handOver(body) })); // its seal is the credential
  }
  const { authentication } = parts;
  if (!authentication.mayAccept(request.headers)) return send(response, { status: 401 }); // T33 T38
  const refusal = refusalOfHead(parts, request, path);
  if (refusal !== null) return send(response, refusal);
  const reading = await parts.readBody(request);
  if (reading.ok && !authentication.accepts(request.headers, reading.body)) return send(response, { status: 401 });
  if (path === '/close_thread' || path === '/cancel_tool_call')
    return takeNotice(parts, reading.ok ? reading.body : null, response, path);
  if (!reading.ok) return send(response, reading.answer);
  if (path === '/migrate') return takeMigration(parts, reading.body, response);
  return takeInvocation(parts, request, reading.body, response);
}

/** (F5) */
function refusalOfHead(parts: DoorParts, request: DoorRequest, path: string): RouteAnswer | null {
  switch (path) {
    case '/close_thread':
    case '/cancel_tool_call':
      return null; // (F3)
    case '/migrate':
      return parts.migration === null ? { status: 404 } : null; // T5
    case invocationPath:
      if (parts.state() === 'closing') return busy(1_000); // (F4)
      if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return { status: 415 };
      return isTooLarge(request) ? tooLarge : null;
    default:
      return { status: 404 };
  }
}

function takeNotice(
  parts: DoorParts,
  body: Buffer | null,
  response: DoorResponse,
  path: '/close_thread' | '/cancel_tool_call',
): void {
  send(response, { status: 200 }); // (F3), also for an unreadable notice
  if (!parts.notices.take().ok) return parts.log(`too many notices: one ${path} is not looked at`); // T23
  const json = checkJson(textOf(body ?? Buffer.of()) ?? '');
  if (!json.ok) return;
  if (path === '/close_thread') {
    const parsed = parseCloseThread(json.value);
    if (parsed.ok) parts.closeThread(parsed.notice.threadId);
    return;
  }
  const parsed = parseCancelToolCall(json.value);
  if (parsed.ok) parts.cancelToolCall(parsed.notice.threadId, parsed.notice.toolCallId);
}

function takeInvocation(parts: DoorParts, request: DoorRequest, body: Buffer, response: DoorResponse): void {
  if (parts.state() === 'closing') return send(response, busy(1_000)); // (F4), it may have begun to close meanwhile
  const text = textOf(body) ?? '';
  const json = checkJson(text);
  if (!json.ok) return send(response, { status: 400 });
  const parsed = parseInvocation(json.value);
  const address = addressWithin(json.value);
  if (address === null || splitCallbackUrl(address.callbackUrl) === null) return send(response, { status: 422 }); // (F2)
  if (!parts.mayCall(address.callbackUrl)) return send(response, { status: 403 });
  parts.reachedAt(request.base);
  const { 'idempotency-key': deliveryKey } = request.headers;
  const trace = traceOfRequest(request.headers);
  const delivery = {
    ...(typeof deliveryKey === 'string' ? { deliveryKey } : {}),
    ...(trace === null ? {} : { trace }),
  };
  if (!parsed.ok) {
    const problem = `this is not a valid invocation: ${parsed.problems.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}.`;
    const unreadable = { operation: 'unreadable', arguments: {}, rootThreadId: address.groupId, problem };
    return acknowledge(parts, { ...address, ...unreadable, ...delivery }, response);
  }
  const { invocation } = parsed;
  if (parts.version !== null && (invocation.toolsetVersion ?? parts.version) !== parts.version)
    return send(response, { status: 409 }); // T48
  const refusal = parts.admit(invocation);
  if (refusal !== null) return send(response, { ...busy(1_000), status: refusal });
  return acknowledge(parts, { ...postedCall(invocation), ...numberProblem(text), ...delivery }, response);
}

const numberCharactersMax = 100;

/** A handler would compute with another number than the one in the request. T9 */
function numberProblem(text: string): { readonly problem?: string } {
  const number = inexactNumberOf(text, 'arguments');
  if (number === null) return {};
  const named = number.slice(0, numberCharactersMax);
  return { problem: `the number ${named} cannot be taken exactly; send it as a string if the tool takes one.` };
}

/** (F1) Overload is answered 503: runtimes send that again, and never what was answered 429. T23 */
function acknowledge(parts: DoorParts, call: PostedCall, response: DoorResponse): void {
  const token = parts.invocations.take();
  if (!token.ok || parts.isFull()) return send(response, busy(token.ok ? 1_000 : token.afterMs));
  response.once('close', parts.take(call));
  send(response, { status: 200 });
}

async function takeMigration(parts: DoorParts, body: Buffer, response: DoorResponse): Promise<void> {
  if (parts.migration === null) return send(response, { status: 404 }); // T5
  const json = checkJson(textOf(body) ?? '');
  const server = { ...parts.migration, name: parts.name, log: parts.log };
  const { status, message } = await migrate(json.ok ? json.value : null, server);
  send(response, message === undefined ? { status } : jsonAnswer(JSON.stringify({ error: message }), status));
}

const tooLarge: RouteAnswer = { status: 413, headers: { connection: 'close' } };

const busy = (afterMs: number): RouteAnswer => ({
  status: 503,
  headers: { 'retry-after': String(Math.max(1, Math.ceil(afterMs / 1_000))) },
});

const jsonAnswer = (body: string, status = 200): RouteAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body,
});

/** Null for a sender that has disconnected. */
export function send(response: DoorResponse, answer: RouteAnswer | null): void {
  if (response.headersSent || answer === null) return;
  const { status, headers = {}, body = '' } = answer;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
