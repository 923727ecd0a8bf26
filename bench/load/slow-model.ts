// The model of the load, in a thread of its own: an OpenAI-compatible endpoint that answers each request after the same
// time. What a person has said leads to one call of the first tool, what a tool has said to words.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { parentPort, Worker, workerData } from 'node:worker_threads';

export interface SlowModel {
  readonly url: string;
  close(): Promise<void>;
}

export async function startSlowModel(waitMs: number): Promise<SlowModel> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { waitMs } });
  const url = await new Promise<string>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return { url, close: async () => void (await worker.terminate()) };
}

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const about = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'slow' };
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

function answerTo({ messages, tools = [] }: ChatRequest, nth: number): string {
  const [tool] = tools;
  const isAsked = messages.at(-1)?.role === 'user' && tool !== undefined;
  const call = {
    ...{ index: 0, id: `call_${nth}`, type: 'function' },
    function: { name: tool?.function.name, arguments: JSON.stringify({ nth }) },
  };
  const delta = isAsked ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content: 'That is done.' };
  return [
    chunk(delta, null),
    chunk({}, isAsked ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify({ ...about, choices: [], usage })}\n\ndata: [DONE]\n\n`,
  ].join('');
}

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ ...about, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

if (parentPort !== null) {
  const { waitMs } = workerData as { readonly waitMs: number };
  const port = parentPort;
  let asked = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    void (async () => {
      const answer = answerTo((await json(request)) as ChatRequest, (asked += 1));
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      response.setHeader('content-type', 'text/event-stream');
      response.end(answer);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1', () => {
    port.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  });
}
