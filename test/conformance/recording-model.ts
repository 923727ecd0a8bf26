// A model endpoint that plays scripts and records its requests: the next request is what a model "sees". Each agent has
// a model name of its own, so that scripts do not mix.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Step } from '../e2e/conversation.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { chunk, done } from '../model/chat-server.ts';

/** One request: `messages` and `tools` as they were sent. */
export type Prompt = Json;
/** The n-th answer is the n-th list of steps, the last one for ever; or what a function returns for a prompt. */
export type Script = readonly (readonly Step[])[] | ((prompt: Prompt, index: number) => readonly Step[]);

export interface RecordingModel {
  /** Makes a model that plays this script: the `model` of an agent. */
  plays(script: Script): { readonly model: Readonly<Record<string, unknown>>; readonly prompts: readonly Prompt[] };
  close(): Promise<void>;
}

interface Played {
  readonly script: Script;
  readonly prompts: Prompt[];
}

export async function startRecordingModel(): Promise<RecordingModel> {
  const models = new Map<string, Played>();
  const server = createServer((request, response) => {
    void json(request).then((prompt: Prompt) => {
      const played = models.get(prompt.model);
      if (played === undefined) return void response.writeHead(404).end();
      const index = played.prompts.push(prompt) - 1;
      return answer(response, stepsOf(played.script, prompt, index));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    plays(script) {
      const name = `model-${models.size + 1}`;
      const played: Played = { script, prompts: [] };
      models.set(name, played);
      return { model: { provider: 'openai-compatible', name, base_url }, prompts: played.prompts };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const stepsOf = (script: Script, prompt: Prompt, index: number): readonly Step[] =>
  typeof script === 'function' ? script(prompt, index) : (script[Math.min(index, script.length - 1)] ?? []);

async function answer(response: ServerResponse, steps: readonly Step[]): Promise<void> {
  const failed = steps.find((step): step is { readonly fail: { readonly status: number } } => 'fail' in step);
  if (failed !== undefined) return void response.writeHead(failed.fail.status).end('{"error":{"message":"no"}}');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let calls = 0;
  for (const step of steps) {
    if ('wait_ms' in step) await new Promise((resolve) => setTimeout(resolve, Number(step['wait_ms'])));
    if ('text' in step) response.write(chunk({ content: step['text'] }));
    if ('tool_call' in step) response.write(chunk({ tool_calls: [toolCallOf(step['tool_call'], calls++)] }));
  }
  response.end(chunk({}, calls > 0 ? 'tool_calls' : 'stop') + done);
}

function toolCallOf({ name, arguments: args, id }: Json, index: number): object {
  const given = { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
  return { index, id: id ?? `provider-${index}`, type: 'function', function: given };
}

/** The result that a prompt shows for a call, as one text; undefined when it shows none. */
export function resultIn(prompt: Prompt, toolCallId: string): string | undefined {
  const shown = prompt.messages.filter((message: Json) => message.tool_call_id === toolCallId);
  if (shown.length > 1) throw new Error(`${toolCallId} has ${shown.length} results`);
  return shown[0]?.content;
}

/** Names of the tools that a prompt offers. */
export const offeredIn = (prompt: Prompt): readonly string[] =>
  (prompt.tools ?? []).map((one: Json) => one.function.name);

/** Calls in a prompt, in order. */
export const callsIn = (prompt: Prompt): readonly Json[] =>
  prompt.messages.flatMap((message: Json) => message.tool_calls ?? []);
