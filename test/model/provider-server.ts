// A provider on loopback that is as strict as the real ones: OpenAI's Responses and Chat Completions, Anthropic's
// Messages. It refuses what they refuse, and answers by rule, in their streams.
//
// The rules of its answers: a user's "call NAME {…}" is answered with that call (several lines, several calls), "think"
// with reasoning first, results of tools with "results: …", anything else with "heard: …".
//
// Invariants:
//   V1. A request that a provider would refuse is answered with its 400 and kept in `refusals`; unknown fields are
//       refused.
//   V2. Every call has its result, directly behind it where the format demands it, and no result is without a call.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { anthropicEvents, chatEvents, responsesEvents } from './provider-streams.ts';

export interface ProviderServer {
  /** With `/v1`. */
  readonly url: string;
  readonly origin: string;
  readonly refusals: string[];
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: Body }[];
  /** Answers the next request with this, in place of a stream. */
  refuseNext(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export interface ProviderAnswer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

type Body = Readonly<Record<string, unknown>>;

const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const callId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const said = z.string().refine((text) => text.trim() !== '', 'text must hold more than white space');
const objectSchema = z.looseObject({ type: z.literal('object'), properties: z.looseObject({}) });
const dataUrl = z.string().regex(/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/);

const responsesItem = z.union([
  z.strictObject({ role: z.enum(['system', 'developer']), content: said }),
  z.strictObject({
    role: z.literal('user'),
    content: z
      .array(
        z.union([
          z.strictObject({ type: z.literal('input_text'), text: said }),
          z.strictObject({ type: z.literal('input_image'), image_url: dataUrl }),
        ]),
      )
      .min(1),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([said, z.array(z.strictObject({ type: z.literal('output_text'), text: said })).min(1)]),
  }),
  z.strictObject({ type: z.literal('function_call'), call_id: callId, name: toolName, arguments: z.string() }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: callId, output: said }),
]);

const responsesBody = z.strictObject({
  model: z.string().min(1),
  input: z.array(responsesItem).min(1),
  stream: z.literal(true),
  store: z.literal(false),
  max_output_tokens: z.int().min(16).optional(),
  temperature: z.number().min(0).max(2).optional(),
  reasoning: z.strictObject({ effort: z.string(), summary: z.string().optional() }).optional(),
  include: z.array(z.string()).optional(),
  tool_choice: z.literal('auto').optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        name: toolName,
        description: z.string().optional(),
        parameters: objectSchema,
        strict: z.literal(false),
      }),
    )
    .min(1)
    .optional(),
});

const chatMessage = z.union([
  z.strictObject({ role: z.enum(['system', 'developer']), content: said }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      said,
      z.array(
        z.union([
          z.strictObject({ type: z.literal('text'), text: said }),
          z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: dataUrl }) }),
        ]),
      ),
    ]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullable(),
    tool_calls: z
      .array(
        z.strictObject({
          id: callId,
          type: z.literal('function'),
          function: z.strictObject({ name: toolName, arguments: z.string() }),
        }),
      )
      .min(1)
      .optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: callId, content: said }),
]);

const chatBody = z.strictObject({
  model: z.string().min(1),
  messages: z.array(chatMessage).min(1),
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.literal(true) }),
  store: z.literal(false),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  tool_choice: z.literal('auto').optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: toolName, description: z.string().optional(), parameters: objectSchema }),
      }),
    )
    .min(1)
    .optional(),
});

const anthropicText = z.strictObject({ type: z.literal('text'), text: said });
const anthropicBlock = z.union([
  anthropicText,
  z.strictObject({
    type: z.literal('image'),
    source: z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.string().min(1) }),
  }),
  z.strictObject({ type: z.literal('tool_use'), id: callId, name: toolName, input: z.looseObject({}) }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: callId,
    content: z.union([said, z.array(anthropicText)]),
    is_error: z.boolean().optional(),
  }),
]);

const anthropicBody = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  system: z.union([said, z.array(anthropicText)]).optional(),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(anthropicBlock).min(1) })),
  stream: z.literal(true),
  temperature: z.number().min(0).max(1).optional(),
  thinking: z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024) }).optional(),
  tool_choice: z.strictObject({ type: z.literal('auto') }).optional(),
  tools: z
    .array(
      z.strictObject({
        name: toolName,
        description: z.string().optional(),
        input_schema: objectSchema,
        eager_input_streaming: z.boolean().optional(),
      }),
    )
    .min(1)
    .optional(),
});

/** The last message, and whether it holds results of tools. */
interface Last {
  readonly results: readonly string[];
  readonly text: string;
}

class Refused extends Error {}

const refuse = (why: string): never => {
  throw new Refused(why);
};

function readResponses(body: Body): Last {
  const { input } = valid(responsesBody, body);
  const open = new Set<string>();
  const results: string[] = [];
  let text = '';
  for (const item of input) {
    if ('type' in item && item.type === 'function_call') open.add(item.call_id);
    else if ('type' in item) {
      if (!open.delete(item.call_id))
        refuse(`No tool call found for function call output with call_id ${item.call_id}.`);
      results.push(item.output);
    } else if (item.role === 'user') {
      if (open.size > 0) refuse(`No tool output found for function call ${[...open].join(', ')}.`);
      text = item.content.map((part) => (part.type === 'input_text' ? part.text : '[image]')).join('\n');
      results.length = 0;
    }
  }
  if (open.size > 0) refuse(`No tool output found for function call ${[...open].join(', ')}.`);
  return { results, text };
}

function readChat(body: Body): Last {
  const { messages } = valid(chatBody, body);
  let open: string[] = [];
  let results: string[] = [];
  let text = '';
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id))
        refuse("messages with role 'tool' must follow a message with 'tool_calls'");
      open = open.filter((id) => id !== message.tool_call_id);
      results.push(message.content);
      continue;
    }
    if (open.length > 0) refuse(`tool_call_ids did not have response messages: ${open.join(', ')}`);
    if (message.role === 'assistant') {
      open = (message.tool_calls ?? []).map(({ id }) => id);
      results = [];
      if ((message.content ?? '') === '' && open.length === 0)
        refuse('an assistant message needs content or tool_calls');
    } else if (message.role === 'user') {
      const { content } = message;
      text =
        typeof content === 'string'
          ? content
          : content.map((part) => ('text' in part ? part.text : '[image]')).join('\n');
      results = [];
    }
  }
  if (open.length > 0) refuse(`tool_call_ids did not have response messages: ${open.join(', ')}`);
  return { results, text };
}

function readAnthropic(body: Body): Last {
  const { messages, thinking, max_tokens: most } = valid(anthropicBody, body);
  if (messages[0]?.role !== 'user') refuse('messages: first message must use the "user" role');
  if (thinking !== undefined && thinking.budget_tokens >= most) refuse('max_tokens must be greater than budget_tokens');
  let open: string[] = [];
  let results: string[] = [];
  let text = '';
  for (const { role, content } of messages) {
    const given = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
    if (role === 'assistant') {
      open = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
      if (given.length > 0) refuse('tool_result blocks are the user’s');
      continue;
    }
    const missing = open.filter((id) => !given.some((block) => block.tool_use_id === id));
    if (missing.length > 0)
      refuse(`tool_use ids were found without tool_result blocks immediately after: ${missing.join(', ')}`);
    if (given.some((block) => !open.includes(block.tool_use_id)))
      refuse('unexpected tool_use_id found in tool_result blocks');
    if (content.findLastIndex(({ type }) => type === 'tool_result') >= Math.max(given.length, 0) && given.length > 0)
      refuse('tool_result blocks must come first');
    open = [];
    results = given.map((block) =>
      typeof block.content === 'string' ? block.content : block.content.map((part) => part.text).join('\n'),
    );
    text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  }
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (thinking !== undefined && last?.content.some(({ type }) => type === 'tool_use') === true)
    refuse('Expected `thinking` or `redacted_thinking`, but found `tool_use`');
  if (messages.at(-1)?.role !== 'user') refuse('the conversation must end with a user message');
  return { results, text };
}

function valid<Value>(schema: z.ZodType<Value>, body: Body): Value {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  return refuse(`${z.prettifyError(parsed.error)}\n${JSON.stringify(body)}`);
}

function answerTo({ results, text }: Last): ProviderAnswer {
  const reasoning = text.includes('think') ? 'Let me think.' : '';
  if (results.length > 0) return { reasoning: '', text: `results: ${results.join(' | ')}`, calls: [] };
  const calls = [...text.matchAll(/^call (\S+) (\{.*\})$/gm)].map(([, name = '', given = '']) => ({
    name,
    arguments: given,
  }));
  return { reasoning, text: calls.length > 0 ? '' : `heard: ${text}`, calls };
}

interface Api {
  readonly read: (body: Body) => Last;
  readonly events: (answer: ProviderAnswer, model: string) => readonly string[];
  readonly keyOf: (headers: IncomingMessage['headers']) => string | undefined;
}

const bearer = ({ authorization }: IncomingMessage['headers']): string | undefined =>
  authorization?.match(/^Bearer (\S+)$/)?.[1];

const apis: Readonly<Record<string, Api>> = {
  '/v1/responses': { read: readResponses, events: responsesEvents, keyOf: bearer },
  '/v1/chat/completions': { read: readChat, events: chatEvents, keyOf: bearer },
  '/v1/messages': {
    read: readAnthropic,
    events: anthropicEvents,
    keyOf: (headers) => (headers['anthropic-version'] === '2023-06-01' ? (headers['x-api-key'] as string) : undefined),
  },
};

/** `key`: the only one that is taken. */
export async function startProviderServer(key: string): Promise<ProviderServer> {
  const refusals: string[] = [];
  const requests: ProviderServer['requests'] = [];
  let next: ((response: ServerResponse) => void) | null = null;
  const server = createServer((incoming, response) => {
    void (async () => {
      const path = new URL(incoming.url ?? '', 'http://provider').pathname;
      const isList = path === '/v1/models' && incoming.method === 'GET';
      const given = bearer(incoming.headers) ?? incoming.headers['x-api-key'];
      if (isList && given === key)
        return json(response, 200, { data: [{ id: 'model-one', max_input_tokens: 200_000 }, { id: 'model-two' }] });
      const api = apis[path];
      const body = JSON.parse((await textOf(incoming)) || '{}') as Body;
      if (api === undefined) return json(response, 404, { error: { message: 'no such path' } });
      requests.push({ path, headers: incoming.headers, body });
      if (api.keyOf(incoming.headers) !== key)
        return json(response, 401, { error: { message: 'Incorrect API key provided.' } });
      if (next !== null) {
        const answer = next;
        next = null;
        return answer(response);
      }
      try {
        const answer = answerTo(api.read(body));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const event of api.events(answer, String(body['model']))) {
          response.write(event);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refusals.push(error.message); // (V1)
        json(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: error.message } });
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/v1`,
    origin,
    refusals,
    requests,
    refuseNext: (status, body, headers) => {
      next = (response) => json(response, status, body, headers);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
