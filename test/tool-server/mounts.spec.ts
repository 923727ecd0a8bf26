// A tool server inside real web frameworks, as docs/guides/write-a-tool-server.md shows it, called over HTTP.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serve as serveHono } from '@hono/node-server';
import { type Callback, parseCallback, parseToolset } from '@dormouse/protocol';
import { toFetchHandler, type ToolServer } from '@dormouse/tool-server';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { bearer, toolServer } from './mounted-tools.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

function closing(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function tools(): Promise<ToolServer> {
  const server = await toolServer();
  undo.push(server.close);
  return server;
}

const mounts: Readonly<Record<string, () => Promise<string>>> = {
  async hono() {
    const app = new Hono();
    const handler = toFetchHandler(await tools(), { basePath: '/tools' });
    app.get('/', (context) => context.text('the app'));
    app.all('/tools/*', (context) => handler(context.req.raw));
    // Its own Request and Response would take the place of Node's, also for the frameworks below.
    const settings = { port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false };
    const server = serveHono({ fetch: app.fetch, ...settings }) as Server;
    await new Promise((resolve) => server.once('listening', resolve));
    undo.push(() => closing(server));
    return urlOf(server);
  },
  async fastify() {
    const app = fastify();
    const handler = toFetchHandler(await tools(), { basePath: '/tools' });
    app.get('/', () => 'the app');
    app.register(
      async (part) => {
        part.removeAllContentTypeParsers();
        part.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
        part.all('/*', ({ method, url, host, headers, body }) =>
          handler(new Request(`http://${host}${url}`, { method, headers, body } as RequestInit)),
        );
      },
      { prefix: '/tools' },
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    undo.push(() => app.close());
    return urlOf(app.server);
  },
  async express() {
    const script = fileURLToPath(new URL('./express/main.ts', import.meta.url));
    const child = fork(script, {
      execArgv: ['--conditions=dormouse-source'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    undo.push(async () => {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    });
    let printed = '';
    for await (const chunk of child.stdout ?? []) {
      printed += String(chunk);
      if (printed.includes('\n')) break;
    }
    return /ready (\S+)/.exec(printed)?.[1] ?? '';
  },
};

async function startCallbacks(): Promise<{ readonly url: string; readonly next: Promise<Callback> }> {
  let came: (callback: Callback) => void;
  const next = new Promise<Callback>((resolve) => (came = resolve));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      response.end();
      const parsed = parseCallback(JSON.parse(text));
      if (parsed.ok) came(parsed.callback);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => closing(server));
  return { url: urlOf(server), next };
}

describe.each(Object.keys(mounts))('in %s', (name) => {
  it('T1 T2 T8 T38 a tool is found, refused without the credential, called, and sends its result', async () => {
    const url = await (mounts[name] as () => Promise<string>)();
    expect(await (await fetch(url)).text()).toBe('the app');
    const manifest = parseToolset(await (await fetch(`${url}/tools/.well-known/rap-toolset`)).json());
    if (!manifest.ok) throw new Error(JSON.stringify(manifest.problems));
    expect(manifest.toolset.endpoint).toBe(`${url}/tools/invoke`);
    const callbacks = await startCallbacks();
    const call = {
      operation: 'echo',
      arguments: { text: 'hé' },
      id: 'call_1',
      callback_url: callbacks.url,
      group_id: 't',
    };
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(manifest.toolset.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(call),
      });
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: `Bearer ${bearer}` })).status).toBe(200);
    expect(await callbacks.next).toMatchObject({ type: 'tool_result', id: 'call_1', text: 'hé' });
    expect((await fetch(`${url}/tools/nowhere`)).status).toBe(404);
  });
});
