// The tool server that every contestant calls: a process of its own, as small and fast as node:http allows.
//
// Owns: the manifest, the acknowledgement, the result that follows it, and exact counts of both.
//
// Invariants:
//   B1. An invocation is acknowledged with an empty 202 before its result is sent, and the result is sent at once.
//   B2. The result of `work` is `done: <text>`, so that an answer shows which call it came from. `hold` never answers.
//   B3. Every contestant gets the same: one warm pool per callback origin, the same bodies, keep-alive both ways.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'undici';
import type { ToolCounts } from './driver-job.ts';

interface Invocation {
  readonly id: string;
  readonly call_id?: string | null;
  readonly group_id: string;
  readonly operation: string;
  readonly callback_url: string;
  readonly arguments: { readonly text?: string };
}

const connectionsPerOrigin = 128;
const pools = new Map<string, Pool>();
let duplicateChance = 0;
const counted: { -readonly [name in keyof ToolCounts]: number } = {
  invocations: 0,
  held: 0,
  callbacks: 0,
  callbacksRefused: 0,
  others: 0,
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === 'POST' && request.url === '/invoke') invoke(request, response);
  else if (request.method === 'GET' && request.url === '/.well-known/rap-toolset') describe(response);
  else {
    counted.others += 1; // close and cancel notices
    request.resume();
    response.writeHead(204).end();
  }
});

function describe(response: ServerResponse): void {
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const manifest = {
    name: 'bench',
    endpoint: `${base()}/invoke`,
    tools: [
      { name: 'work', description: 'Does a piece of work.', inputSchema },
      { name: 'hold', description: 'Accepts a call and never answers.', inputSchema },
    ],
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(manifest));
}

function invoke(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const invocation = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Invocation;
    counted.invocations += 1;
    response.writeHead(202, { 'content-length': 0 }).end(); // (B1)
    if (invocation.operation === 'hold') counted.held += 1;
    else {
      void sendResult(invocation);
      // Later than results that were sent after it: duplicates come out of order.
      if (Math.random() < duplicateChance) setTimeout(() => void sendResult(invocation), Math.random() * 50);
    }
  });
}

async function sendResult(invocation: Invocation): Promise<void> {
  const { group_id, id, call_id, callback_url } = invocation;
  const text = `done: ${invocation.arguments.text ?? ''}`; // (B2)
  const body = JSON.stringify({ type: 'tool_result', group_id, id, call_id: call_id ?? undefined, text });
  const url = new URL(callback_url);
  const headers = { 'content-type': 'application/json' };
  try {
    const answer = await poolOf(url.origin).request({ method: 'POST', path: url.pathname + url.search, headers, body });
    counted.callbacks += 1;
    if (answer.statusCode >= 300) counted.callbacksRefused += 1;
    await answer.body.dump();
  } catch {
    counted.callbacksRefused += 1; // a contestant that is being stopped
  }
}

function poolOf(origin: string): Pool {
  const known = pools.get(origin);
  if (known) return known;
  const pool = new Pool(origin, { connections: connectionsPerOrigin });
  pools.set(origin, pool);
  return pool;
}

function base(): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the tool server does not listen on a port');
  return `http://127.0.0.1:${address.port}`;
}

server.listen(0, '127.0.0.1', () => {
  process.on('message', (question: { readonly ask: 'base' | 'counts' | 'duplicate'; readonly chance?: number }) => {
    if (question.ask === 'duplicate') duplicateChance = question.chance ?? 0;
    process.send?.(question.ask === 'base' ? base() : counted);
  });
});
process.on('disconnect', () => process.exit(0));
