// A third-party runtime, scripted after the protocol's reference: it knows nothing of ours.
//
// It sends no `Idempotency-Key` and nothing twice; its models count their calls anew in each answer, so ids repeat
// within a thread; ids may be of any length; an absent field is `null`; notices are sent one after the other, are not
// repeated, and their answers are not read. What arrives is kept as it is: no parser of ours judges it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './callback-sink.ts';

export type ForeignMessage = Readonly<Record<string, unknown>>;

export interface ForeignCall {
  readonly operation: string;
  readonly arguments?: unknown;
  readonly id: string;
  readonly thread?: string;
  /** The id from the model's provider. */
  readonly callId?: string | null;
}

export interface ForeignRuntime {
  /** Base URL of its callbacks. */
  readonly url: string;
  /** Everything that has arrived. */
  readonly messages: ForeignMessage[];
  /** Posts an invocation once; the status of the answer, null when there was none. */
  readonly invoke: (call: ForeignCall) => Promise<number | null>;
  /** The same, and the text of the result that it leads to. */
  readonly ask: (call: ForeignCall) => Promise<string>;
  /** The messages of one type about one call. */
  readonly about: (type: string, id: string) => readonly ForeignMessage[];
  /** The n-th of them, from 1. */
  readonly nth: (type: string, id: string, count: number) => Promise<ForeignMessage>;
  /** Picks an option of a `user_choice`; the status of the answer. */
  readonly choose: (question: ForeignMessage, selected: number) => Promise<number>;
  readonly cancel: (id: string, thread?: string) => Promise<void>;
  readonly closeThread: (thread?: string) => Promise<void>;
  /** Switches to a server at another address, as after a restart. */
  readonly use: (serverUrl: string) => void;
  readonly close: () => Promise<void>;
}

const threadDefault = 'conversation 1';

export async function startForeignRuntime(serverUrl: string): Promise<ForeignRuntime> {
  let base = serverUrl;
  const messages: ForeignMessage[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on('error', () => {}); // a sender that was killed
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      messages.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as ForeignMessage);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function post(address: string, body: unknown): Promise<number | null> {
    const headers = { 'content-type': 'application/json' };
    try {
      const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return null; // no retries
    }
  }

  let notices = Promise.resolve();
  const notify = (path: string, body: unknown): Promise<void> =>
    (notices = notices.then(() => post(`${base}${path}`, body)).then(() => {}));

  const about: ForeignRuntime['about'] = (type, id) =>
    messages.filter((each) => each['type'] === type && (each['id'] ?? each['tool_call_id']) === id);
  const nth: ForeignRuntime['nth'] = async (type, id, count) => {
    await eventually(
      () => about(type, id).length >= count,
      `message ${count} of type ${type} about ${id.slice(0, 40)}`,
    );
    return about(type, id)[count - 1] as ForeignMessage;
  };
  const invoke: ForeignRuntime['invoke'] = ({ operation, arguments: given = {}, id, thread = threadDefault, callId }) =>
    post(`${base}/invoke`, {
      operation,
      arguments: given,
      id,
      call_id: callId ?? null,
      callback_url: `${url}/callback`,
      group_id: thread,
      thread_ancestors: null,
      user_id: null,
      toolset_version: null,
    });

  return {
    url,
    messages,
    invoke,
    async ask(call) {
      const before = about('tool_result', call.id).length;
      const status = await invoke(call);
      if (status !== 200) throw new Error(`the invocation was answered ${status}`);
      return String((await nth('tool_result', call.id, before + 1))['text']);
    },
    about,
    nth,
    async choose(question, selected) {
      const { id, response_url: address } = question;
      const path = new URL(String(address)).pathname;
      return (await post(`${base}${path}`, { id, selected })) ?? 0;
    },
    cancel: (id, thread = threadDefault) => notify('/cancel_tool_call', { thread_id: thread, tool_call_id: id }),
    closeThread: (thread = threadDefault) => notify('/close_thread', { thread_id: thread }),
    use: (address) => void (base = address),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
