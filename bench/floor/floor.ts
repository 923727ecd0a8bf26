// What is left of a turn without Dormouse: its requests, and its two commits, sealed, through its writer. No key is
// checked, nothing is validated, decided, deduplicated or shown. Not for use; it shows how much time a turn has for
// that.
//
//   node floor.ts --tools URL --port N --data DIR
//
// Invariant:
//   B34. The commits are as large as those of a turn of Dormouse's, on disk when Dormouse's would be, and checked by
//        the store. Requests that arrive together continue together. Rows of debts are not written.
import { atEndOfTick } from '@dormouse/collections';
import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openSqlite } from '@dormouse/adapter-sqlite';
import { type Append, tenantId } from '@dormouse/ports';
import { sealCommit } from '@dormouse/runtime';
import type { RecordedEvent, ThreadEffect, ThreadEvent } from '@dormouse/thread';
import { fastify } from 'fastify';
import { Pool } from 'undici';

interface Thread {
  readonly id: string;
  version: number;
  lastHash: string;
  messageId: string;
  answer: (text: string) => void;
}

interface ToolResult {
  readonly group_id: string;
  readonly id: string;
  readonly text: string;
}

const { values: options } = parseArgs({
  options: { tools: { type: 'string' }, port: { type: 'string' }, data: { type: 'string' } },
});
const manifestUrl = `${options.tools ?? ''}/.well-known/rap-toolset`;
const { endpoint } = (await (await fetch(manifestUrl)).json()) as { readonly endpoint: string };
const callbackUrl = `http://127.0.0.1:${options.port ?? ''}/callback`;
const tools = new URL(endpoint);
const pool = new Pool(tools.origin, { connections: 128 });
const { log } = await openSqlite({ directory: options.data ?? '' });
const threads = new Map<string, Thread>();
const sha256 = 'dda4362b11f0d5633db41e59b65932515d311f34231d3dcd803b99d8444514f2';
const usage = { inputTokens: 38, outputTokens: 7 };
let ids = 0;

const newId = (prefix: string): string => `${prefix}_${String(++ids).padStart(26, '0')}`;

/** The consequences of one input. */
interface Decided {
  readonly input: string;
  readonly events: readonly ThreadEvent[];
  readonly effects: readonly ThreadEffect[];
}

function next(thread: Thread, decided: readonly Decided[]): Append {
  const turnId = thread.messageId;
  const recorded = decided.flatMap(({ input, events }) =>
    events.map((event): RecordedEvent => ({ ...event, turnId, cause: { kind: 'message', id: input } })),
  );
  const commit = sealCommit({
    key: { tenant: tenantId('floor'), thread: thread.id },
    version: thread.version,
    inputs: decided.map(({ input }) => input),
    at: Date.now(),
    nonce: randomBytes(16).toString('base64url'),
    trace: null,
    prev: thread.lastHash,
    events: recorded,
    effects: decided.flatMap(({ effects }) => effects),
  });
  thread.version += recorded.length;
  thread.lastHash = commit.hash;
  return { commit, owes: false };
}

/** (B34) */
async function store(thread: Thread, ...decided: readonly Decided[]): Promise<void> {
  const [outcome] = await log.append([next(thread, decided)]);
  if (outcome !== 'appended') throw new Error(`not stored: ${String(outcome)}`);
}

async function take(thread: Thread, text: string): Promise<string> {
  await new Promise<void>(atEndOfTick);
  const asked = /"([^"]*)"/.exec(text)?.[1] ?? '';
  const [completionId, toolCallId] = [newId('cmp'), newId('call')];
  const providerCallId = `demo_${completionId}_0`;
  const call = { toolCallId, operation: 'work', toolServer: 'bench', arguments: { text: asked }, providerCallId };
  thread.messageId = newId('msg');
  const message = { messageId: thread.messageId, content: [{ type: 'text', text }] } as const;
  await store(
    thread,
    {
      input: `c:${thread.messageId}`,
      events: [
        { type: 'MessageAccepted', ...message },
        { type: 'CompletionRequested', completionId, model: 'demo' },
      ],
      effects: [{ do: 'RequestCompletion', id: completionId, completionId }],
    },
    {
      input: `m:${completionId}`,
      events: [
        { ...completion(completionId, ''), finishReason: 'tool_calls', final: false },
        { type: 'ToolCallRequested', ...call, argumentsHash: sha256 },
      ],
      effects: [
        {
          do: 'InvokeTool',
          id: toolCallId,
          ...call,
          ...{ toolsetSha256: sha256, userId: null, delivery: 'at_least_once', callbackExpiresAt: null },
        },
      ],
    },
  );
  const answered = new Promise<string>((resolve) => (thread.answer = resolve));
  const id = { id: toolCallId, call_id: providerCallId, group_id: thread.id };
  const invocation = { ...id, operation: 'work', arguments: { text: asked }, callback_url: callbackUrl };
  const body = JSON.stringify(invocation);
  const headers = { 'content-type': 'application/json' };
  const acknowledged = await pool.request({ method: 'POST', path: tools.pathname, headers, body });
  await acknowledged.body.dump();
  return answered;
}

async function settle(thread: Thread, { id, text }: ToolResult): Promise<void> {
  await new Promise<void>(atEndOfTick);
  const completionId = newId('cmp');
  const said = `work says: ${text}`;
  await store(
    thread,
    {
      input: `r:${id}`,
      events: [
        { type: 'ToolCallSettled', toolCallId: id, outcome: 'result', content: [{ type: 'text', text }] },
        { type: 'CompletionRequested', completionId, model: 'demo' },
      ],
      effects: [{ do: 'RequestCompletion', id: completionId, completionId }],
    },
    { input: `m:${completionId}`, events: [completion(completionId, said)], effects: [] },
  );
  thread.answer(said);
}

const completion = (completionId: string, text: string): Extract<ThreadEvent, { type: 'CompletionRecorded' }> => ({
  type: 'CompletionRecorded',
  completionId,
  message: { text },
  finishReason: 'stop',
  usage,
  interrupted: false,
  final: true,
});

function threadOf(id: string): Thread {
  const thread = threads.get(id);
  if (thread === undefined) throw new Error(`no thread ${id}`);
  return thread;
}

const server = fastify({ keepAliveTimeout: 60_000 });
server.post('/threads', () => {
  const id = randomUUID();
  threads.set(id, { id, version: 0, lastHash: '', messageId: '', answer: () => {} });
  return { id };
});
server.post<{ Params: { id: string }; Body: { text: string } }>('/threads/:id/messages', async ({ params, body }) => ({
  text: await take(threadOf(params.id), body.text),
}));
server.post<{ Body: ToolResult }>('/callback', async ({ body }) => {
  await settle(threadOf(body.group_id), body);
  return {};
});
await server.listen({ host: '127.0.0.1', port: Number(options.port) });
process.stdout.write('ready\n');
