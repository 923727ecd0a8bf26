// The protocol's own tutorial design: an Express server, history in memory, one request per tool call, one callback
// route. Nothing is durable: a restart forgets every thread and every pending call.
//
//   node tutorial.mjs --http fetch|undici --tools URL --port N
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import express from 'express';
import { Pool } from 'undici';
import { complete } from './scripted-model.mjs';

const { values: options } = parseArgs({
  options: { http: { type: 'string' }, tools: { type: 'string' }, port: { type: 'string' } },
});
const manifest = await (await fetch(`${options.tools}/.well-known/rap-toolset`)).json();
const callbackUrl = `http://127.0.0.1:${options.port}/callback`;
const headers = { 'content-type': 'application/json' };
const endpoint = new URL(manifest.endpoint);
const pool = new Pool(endpoint.origin, { connections: 128 });

/** id → { history, pending: call id → resolve } */
const threads = new Map();
const app = express();
app.use(express.json());

app.post('/threads', (request, response) => {
  const id = randomUUID();
  threads.set(id, { history: [], pending: new Map() });
  response.status(201).json({ id });
});

app.post('/threads/:id/messages', async (request, response) => {
  const thread = threads.get(request.params.id);
  if (!thread) return response.status(404).json({ error: 'no such thread' });
  thread.history.push({ role: 'user', text: request.body.text });
  response.json({ text: await turn(request.params.id, thread) });
});

app.post('/callback', (request, response) => {
  const { type, group_id, id, text } = request.body;
  const settle = type === 'tool_result' ? threads.get(group_id)?.pending.get(id) : undefined;
  settle?.(text);
  response.sendStatus(200);
});

async function turn(groupId, thread) {
  for (;;) {
    const message = complete(thread.history);
    thread.history.push(message);
    if (!message.toolCall) return message.text;
    const id = randomUUID();
    const result = new Promise((resolve) => thread.pending.set(id, resolve));
    await invoke({
      operation: message.toolCall.name,
      arguments: message.toolCall.arguments,
      id,
      callback_url: callbackUrl,
      group_id: groupId,
    });
    thread.history.push({ role: 'tool', id, text: await result });
    thread.pending.delete(id);
  }
}

async function invoke(invocation) {
  const body = JSON.stringify(invocation);
  if (options.http === 'undici') {
    const answer = await pool.request({ method: 'POST', path: endpoint.pathname, headers, body });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`the tool server answered ${answer.statusCode}`);
    return;
  }
  const answer = await fetch(manifest.endpoint, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the tool server answered ${answer.status}`);
}

const server = app.listen(Number(options.port), '127.0.0.1', () => process.stdout.write(`ready ${options.http}\n`));
server.keepAliveTimeout = 60_000;
