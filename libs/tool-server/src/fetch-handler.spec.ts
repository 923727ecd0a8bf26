import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseToolset } from '@dormouse/protocol';
import { createToolServer, type FetchHandler, type FetchHandlerOptions, toFetchHandler } from './fetch-handler.ts';
import type { ToolServerOptions } from './define/serve-options.ts';
import { later, nextId, quickDelivery } from './spec/bench.ts';
import { type CallbackSink, eventually, startSink } from './spec/callback-sink.ts';
import { defineTool } from './define/tool.ts';
import { serve } from './serve.ts';

const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string() }) },
  ({ text }) => text,
);
const pick = defineTool(
  { name: 'pick', description: 'Asks.', input: z.strictObject({}) },
  async (_given, context) => (await context.choose({ prompt: 'Which?', choices: ['left', 'right'], default: 0 })).label,
);
const slow = defineTool(
  { name: 'slow', description: 'Takes its time.', input: z.strictObject({}) },
  async (_given, { signal }) => sleep(50, 'done', { signal }),
);

interface Mounted {
  readonly handler: FetchHandler;
  readonly sink: CallbackSink;
  readonly log: readonly string[];
  readonly get: (path: string) => Promise<Response>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  readonly invoke: (operation: string, given?: unknown) => Promise<string>;
}

async function mounted(options: Partial<ToolServerOptions> = {}, where: FetchHandlerOptions = {}): Promise<Mounted> {
  const sink = await startSink();
  later(sink.close);
  const log: string[] = [];
  const server = await createToolServer({
    name: 'bench',
    tools: [echo, pick, slow],
    delivery: quickDelivery,
    log: (line) => log.push(line),
    ...options,
    limits: { closeMsMax: 100 },
  });
  later(server.close);
  const handler = toFetchHandler(server, where);
  const at = (path: string): string => `https://tools.example.com${where.basePath ?? ''}${path}`;
  const post: Mounted['post'] = (path, body, headers = {}) =>
    handler(
      new Request(at(path), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  const invoke: Mounted['invoke'] = async (operation, given = {}) => {
    const id = nextId();
    const call = { operation, arguments: given, id, callback_url: `${sink.url}/callback/${id}`, group_id: 'thr_1' };
    expect((await post('/invoke', call)).status).toBe(200);
    return id;
  };
  return { handler, sink, log, post, invoke, get: (path) => handler(new Request(at(path))) };
}

describe('a tool server as a function of a Request', () => {
  it('T1 T6 T8 gives its manifest, acknowledges, and sends the result', async () => {
    const at = await mounted();
    const manifest = parseToolset(await (await at.get('/.well-known/rap-toolset')).json());
    expect(manifest).toMatchObject({ ok: true, toolset: { endpoint: 'https://tools.example.com/invoke' } });
    const { text } = await at.sink.resultOf(await at.invoke('echo', { text: 'hello' }));
    expect(text).toBe('hello');
    expect((await at.get('/readyz')).status).toBe(200);
    expect((await at.get('/nowhere')).status).toBe(404);
  });

  it('T2 names the place where it is mounted, and answers nothing beside it', async () => {
    const at = await mounted({}, { basePath: '/api/tools/' });
    const place = 'https://tools.example.com/api/tools';
    const answer = await at.handler(new Request(`${place}/.well-known/rap-toolset`));
    expect(await answer.json()).toMatchObject({ endpoint: `${place}/invoke` });
    expect((await at.handler(new Request('https://tools.example.com/.well-known/rap-toolset'))).status).toBe(404);
    expect((await at.handler(new Request('https://tools.example.com/api/toolsets'))).status).toBe(404);
  });

  it('T2 takes the path of its publicUrl for the place', async () => {
    const at = await mounted({ publicUrl: 'https://public.example.com/t/' });
    const answer = await at.handler(new Request('http://127.0.0.1:3000/t/.well-known/rap-toolset'));
    expect(await answer.json()).toMatchObject({ endpoint: 'https://public.example.com/t/invoke' });
  });

  it('T43 asks a person under the address at which its call came', async () => {
    const at = await mounted({}, { basePath: '/tools' });
    const id = await at.invoke('pick');
    const [question] = await at.sink.until(1);
    if (question?.callback.type !== 'user_choice') throw new Error('no question');
    const url = new URL(question.callback.responseUrl);
    expect(url.href).toMatch(/^https:\/\/tools\.example\.com\/tools\/choice\//);
    const body = JSON.stringify({ id, selected: 1 });
    expect((await at.handler(new Request(url, { method: 'POST', body }))).status).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe('right');
  });

  it('T33 T38 judges the credential, and a body only up to its limit', async () => {
    const at = await mounted({ auth: { bearer: 'right-secret' } });
    expect((await at.post('/invoke', {})).status).toBe(401);
    const good = { authorization: 'Bearer right-secret' };
    expect((await at.post('/invoke', '{', good)).status).toBe(400);
    const endless = new ReadableStream<Uint8Array>({ pull: (out) => out.enqueue(new Uint8Array(65_536).fill(32)) });
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...good }, body: endless };
    const request = new Request('https://tools.example.com/invoke', { ...init, duplex: 'half' } as RequestInit);
    expect((await at.handler(request)).status).toBe(413);
  });

  it('says that the body was read before it came', async () => {
    const at = await mounted();
    const request = new Request('https://tools.example.com/invoke', { method: 'POST', body: '{}' });
    await request.text();
    expect((await at.handler(request)).status).toBe(500);
    expect(at.log).toEqual([expect.stringMatching(/without its body: something before toFetchHandler has read it/)]);
  });

  it('asks the platform to wait until the work of a call is sent', async () => {
    const at = await mounted();
    const waits: Promise<unknown>[] = [];
    const id = nextId();
    const call = { operation: 'slow', arguments: {}, id, callback_url: `${at.sink.url}/c`, group_id: 'thr_1' };
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(call) };
    const platform = { waitUntil: (work: Promise<unknown>) => void waits.push(work) };
    await at.handler(new Request('https://tools.example.com/invoke', init), {}, platform);
    await eventually(() => waits.length === 1, 'the wait');
    expect(at.sink.delivered).toEqual([]);
    await waits[0];
    expect(at.sink.delivered.map(({ callback }) => callback)).toMatchObject([{ type: 'tool_result', text: 'done' }]);
  });

  it('is made of options at its first request, and of a server that has a port', async () => {
    const lazy = toFetchHandler({ name: 'lazy', tools: [echo] });
    const answer = await lazy(new Request('https://lazy.example.com/.well-known/rap-toolset'));
    expect(await answer.json()).toMatchObject({ name: 'lazy', endpoint: 'https://lazy.example.com/invoke' });
    const server = await serve({ name: 'both', tools: [echo] });
    later(server.close);
    const other = await toFetchHandler(server)(new Request('https://x.example.com/.well-known/rap-toolset'));
    expect(await other.json()).toMatchObject({ name: 'both', endpoint: `${server.url}/invoke` });
  });

  it('T46 is not made of a manifest that cannot be served', async () => {
    await expect(createToolServer({ name: 'x', tools: [] })).rejects.toThrow(/the manifest is not valid/);
    await expect(toFetchHandler({ name: 'x', tools: [] })(new Request('https://a.example.com/'))).rejects.toThrow(
      /the manifest is not valid/,
    );
  });
});
