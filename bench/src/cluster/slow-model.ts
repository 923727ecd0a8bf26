// A slow model as a process of its own: an OpenAI-compatible endpoint that answers after as many milliseconds as its
// argument says, streamed where requested, and counts the requests for each message.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const waitMs = Number(process.argv[2]);

interface ChatRequest {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** By the text of the last user message: the number of requests to the model. */
let asked = new Map<string, number>();
let inFlight = 0;
let inFlightMost = 0;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  void (async () => {
    const { stream = false, messages } = (await json(request)) as ChatRequest;
    const last = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    asked.set(last, (asked.get(last) ?? 0) + 1);
    inFlight += 1;
    inFlightMost = Math.max(inFlightMost, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(stream ? streamed() : whole());
    }, waitMs);
  })();
});

const about = { id: 'chatcmpl-1', created: 0, model: 'slow' };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function whole(): string {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'thought about it' }, finish_reason: 'stop' }];
  return JSON.stringify({ ...about, object: 'chat.completion', choices, usage });
}

function streamed(): string {
  const chunk = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage })}\n\n`;
  return `${chunk({ role: 'assistant', content: 'thought about it' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
}

server.listen(0, '127.0.0.1', () => {
  process.on('message', (question: { readonly ask: 'base' | 'counts' }) => {
    if (question.ask === 'base') {
      process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
      return;
    }
    process.send?.({ calls: [...asked.values()], inFlightMost });
    asked = new Map();
    inFlightMost = inFlight;
  });
});
process.on('disconnect', () => process.exit(0));
