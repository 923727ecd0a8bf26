/**
 * Owns: a runtime for tests of tools: it calls them as a real one does, and gives what they send to the test.
 * Not here: a model, a log, repeated deliveries.
 *
 * R1. A message counts for the call that it names, in the order in which messages come.
 * R2. What does not come in time ends the test with a sentence that says what came instead.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Callback, isErrorResult, parseCallback } from '@dormouse/protocol';
import { createToolServer, toFetchHandler } from '../fetch-handler.ts';
import type { ToolServerOptions } from '../define/serve-options.ts';

const waitMsDefault = 5_000;
const lookEveryMs = 5;
const base = 'http://tools.test';

export interface TestResult {
  /** What the model gets. */
  readonly text: string;
  readonly isError: boolean;
  /** Whether the call goes on as a subscription. */
  readonly subscribed: boolean;
}

export interface TestEvent {
  readonly text: string;
  readonly associative: boolean;
  readonly final: boolean;
}

export interface TestQuestion {
  readonly prompt: string;
  readonly choices: readonly string[];
  readonly default: number;
  /** Answers as a person does, with a label or its index. */
  readonly answer: (choice: string | number) => Promise<void>;
}

export interface TestCall {
  readonly id: string;
  /** @throws Error when none comes in time (R2) */
  readonly result: () => Promise<TestResult>;
  /** The next event of a subscription. @throws Error when none comes in time (R2) */
  readonly event: () => Promise<TestEvent>;
  /** The next question to a person. @throws Error when none comes in time (R2) */
  readonly question: () => Promise<TestQuestion>;
  /** The address of a login. @throws Error when none comes in time (R2) */
  readonly login: () => Promise<string>;
  /** As when a call is interrupted, or a subscription is ended. */
  readonly cancel: () => Promise<void>;
}

export interface TestCallOptions {
  /** Default: `thread-1`. */
  readonly threadId?: string;
  readonly userId?: string;
}

export interface TestRuntime {
  /** The manifest, as the runtime reads it. */
  readonly manifest: () => Promise<unknown>;
  /** @throws Error when the server does not take the call */
  readonly call: (operation: string, given?: object, options?: TestCallOptions) => Promise<TestCall>;
  /** The views that are shown in a thread, by type. */
  readonly views: (threadId?: string) => ReadonlyMap<string, object>;
  readonly closeThread: (threadId?: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const threadDefault = 'thread-1';

/** Serves the tools of `options` without a port, and calls them. `waitMs` is how long one message may take. */
export async function startTestRuntime(
  options: ToolServerOptions,
  { waitMs = waitMsDefault }: { readonly waitMs?: number } = {},
): Promise<TestRuntime> {
  const messages: Callback[] = [];
  const inbox = createServer((request, response) => {
    void json(request).then((body) => {
      const parsed = parseCallback(body);
      if (parsed.ok) messages.push(parsed.callback);
      response.writeHead(parsed.ok ? 200 : 422).end();
    });
  });
  await new Promise<void>((resolve) => inbox.listen(0, '127.0.0.1', resolve));
  const callbackUrl = `http://127.0.0.1:${(inbox.address() as AddressInfo).port}/callback/`;
  const bearer = randomBytes(24).toString('base64url');
  const server = await createToolServer({ log: () => {}, ...options, auth: { bearer }, publicUrl: base });
  const handler = toFetchHandler(server);
  let calls = 0;

  async function post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` };
    const answer = await handler(
      new Request(new URL(path, base), { method: 'POST', headers, body: JSON.stringify(body) }),
    );
    if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}`);
  }

  function callOf(id: string, operation: string, threadId: string): TestCall {
    const taken = new Set<Callback>();
    const next = async <Type extends Callback['type']>(type: Type): Promise<Extract<Callback, { type: Type }>> => {
      const until = performance.now() + waitMs;
      for (;;) {
        const found = messages.find((each) => each.type === type && idIn(each) === id && !taken.has(each)); // (R1)
        if (found !== undefined) {
          taken.add(found);
          return found as Extract<Callback, { type: Type }>;
        }
        if (performance.now() > until) {
          const came = messages.filter((each) => idIn(each) === id);
          throw missing(type, operation, came); // (R2)
        }
        await sleep(lookEveryMs);
      }
    };
    return {
      id,
      async result() {
        const result = await next('tool_result');
        return { text: textIn(result), isError: isErrorResult(result), subscribed: result.subscription };
      },
      async event() {
        const { text, associative, final } = await next('subscription_event');
        return { text, associative, final };
      },
      async question() {
        const { prompt, choices, default: fallback, responseUrl } = await next('user_choice');
        const answer: TestQuestion['answer'] = async (choice) => {
          const selected = typeof choice === 'number' ? choice : choices.indexOf(choice);
          if (selected < 0) throw new Error(`"${choice}" is none of: ${choices.join(', ')}`);
          await post(new URL(responseUrl).pathname, { id, selected });
        };
        return { prompt, choices, default: fallback, answer };
      },
      login: async () => (await next('oauth')).authUrl,
      cancel: () => post('/cancel_tool_call', { thread_id: threadId, tool_call_id: id }),
    };
  }

  return {
    manifest: async () => (await handler(new Request(`${base}/.well-known/rap-toolset`))).json(),
    async call(operation, given = {}, { threadId = threadDefault, userId } = {}) {
      const id = `call-${(calls += 1)}`;
      const call = { operation, arguments: given, id, group_id: threadId, user_id: userId };
      await post('/invoke', { ...call, callback_url: `${callbackUrl}${id}` });
      return callOf(id, operation, threadId);
    },
    views(threadId = threadDefault) {
      const shown = new Map<string, object>();
      for (const each of messages)
        if (each.type === 'view_update' && each.groupId === threadId) shown.set(each.viewType, each.content);
      return shown;
    },
    closeThread: (threadId = threadDefault) => post('/close_thread', { thread_id: threadId }),
    async close() {
      await server.close();
      inbox.closeAllConnections();
      await new Promise((resolve) => inbox.close(resolve));
    },
  };
}

const idIn = (message: Callback): string | undefined =>
  'toolCallId' in message ? message.toolCallId : 'id' in message ? message.id : undefined;

function textIn({ text, content = [] }: Extract<Callback, { type: 'tool_result' }>): string {
  const texts = content.flatMap((item) => (item.type === 'text' ? [item.text] : []));
  return texts.length > 0 ? texts.join('') : (text ?? '');
}

function missing(type: Callback['type'], operation: string, came: readonly Callback[]): Error {
  const list = came.map((each) => (each.type === 'tool_result' ? `tool_result "${textIn(each)}"` : each.type));
  return new Error(`${operation} has sent no ${type} in time; it has sent ${list.join(', ') || 'nothing'}`);
}
