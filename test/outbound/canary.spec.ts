// I-22: no request to a forbidden address is ever opened. The canary listens where the URLs lead.
import { createGuardedFetch, createToolTransport, parseOutboundAllow, type Resolver } from '@dormouse/adapter-http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hostileResolver, hostileUrls, metadata } from './hostile-urls.ts';
import { canary, httpServer, type HttpListener, type Listener, toolServer } from './listeners.ts';

const secrets = (): Promise<string> => Promise.resolve('a secret');
const allow = (text: string): ReturnType<typeof parseOutboundAllow>['rules'] => parseOutboundAllow(text).rules;
const closing: (() => Promise<void>)[] = [];
function transport(rules: string, resolver: Resolver, verdictTtlMs = 30_000): ReturnType<typeof createToolTransport> {
  const made = createToolTransport({ outboundAllow: allow(rules), resolver, secrets, verdictTtlMs });
  closing.push(() => made.close());
  return made;
}
function guarded(rules: string, resolver: Resolver): ReturnType<typeof createGuardedFetch>['fetch'] {
  const made = createGuardedFetch({ outboundAllow: allow(rules), resolver });
  closing.push(() => made.close());
  return made.fetch;
}
const post = { body: '{}', headers: {}, timeoutMs: 1_000 };
const get = { timeoutMs: 1_000, bytesMax: 1_000 };

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('I-22 hostile URLs', () => {
  let canaries: Listener[];
  let urls: readonly string[];

  beforeAll(async () => {
    const first = await canary();
    canaries = [first, await canary('::1', first.port)];
    urls = hostileUrls(first.port);
  });
  afterAll(() => Promise.all(canaries.map((one) => one.close())));
  const connections = (): readonly number[] => canaries.map((one) => one.connections());

  it('are many, and every one is refused by every client without a connection', async () => {
    expect(urls.length).toBeGreaterThanOrEqual(100);
    const tools = transport('', hostileResolver);
    const fetch = guarded('', hostileResolver);
    for (const url of urls) {
      const server = toolServer(url);
      expect(await tools.post({ server, url, ...post }), url).toMatchObject({
        sent: false,
        reached: false,
        code: 'OUTBOUND_FORBIDDEN',
      });
      expect(await tools.get({ server, url, ...get }), url).toMatchObject({ ok: false, code: 'OUTBOUND_FORBIDDEN' });
      await expect(fetch(url), url).rejects.toThrow(/\S/);
    }
    expect(connections()).toEqual([0, 0]);
  });

  it('lead nowhere by way of an allow-list for something else', async () => {
    const tools = transport('http://203.0.113.0/24,http://tools.corp.example,10.20.0.0/16', hostileResolver);
    for (const url of urls)
      expect(await tools.post({ server: toolServer(url), url, ...post }), url).toMatchObject({
        sent: false,
        code: 'OUTBOUND_FORBIDDEN',
      });
    expect(connections()).toEqual([0, 0]);
  });

  it('of metadata services are refused even when everything is allowed', async () => {
    const everything = 'http://0.0.0.0/0,http://::/0,http://metadata.example,http://example';
    const tools = transport(everything, hostileResolver);
    for (const url of metadata)
      expect(await tools.post({ server: toolServer(url), url, ...post }), url).toMatchObject({
        sent: false,
        code: 'OUTBOUND_FORBIDDEN',
      });
  });

  it('would have reached the canary without the guard: the canary can see', async () => {
    const before = connections();
    const open = transport('http://127.0.0.0/8,http://[::1]', hostileResolver);
    for (const url of [
      `http://127.0.0.1:${canaries[0]?.port}/`,
      `http://loop.example:${canaries[0]?.port}/`,
      `http://[::1]:${canaries[0]?.port}/`,
    ]) {
      expect(await open.post({ server: toolServer(url), url, ...post })).toMatchObject({ sent: false, reached: true });
    }
    expect(connections()).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1]);
  });
});

describe('I-22 a name that changes its mind', () => {
  let honest: HttpListener;
  let trap: Listener;

  beforeAll(async () => {
    honest = await httpServer((_request, response) => response.end('{}'), '127.0.0.2');
    trap = await canary('127.0.0.1', honest.port);
  });
  afterAll(() => Promise.all([honest.close(), trap.close()]));

  /** Good the first time, loopback ever after. */
  function rebinding(): { readonly resolver: Resolver; readonly asked: () => number } {
    let asked = 0;
    return { resolver: async () => ((asked += 1) === 1 ? ['127.0.0.2'] : ['127.0.0.1']), asked: () => asked };
  }
  const url = (): string => `http://rebind.example:${honest.port}/invoke`;

  it('is asked once, and only the checked address is connected to', async () => {
    const { resolver, asked } = rebinding();
    const tools = transport('http://127.0.0.2', resolver);
    for (let time = 0; time < 20; time += 1) {
      expect(await tools.post({ server: toolServer(url()), url: url(), ...post })).toMatchObject({
        sent: true,
        status: 200,
      });
    }
    const fetched = await guarded('http://127.0.0.2', rebinding().resolver)(url());
    expect(fetched.status).toBe(200);
    expect([asked(), trap.connections(), honest.received.length]).toEqual([1, 0, 21]);
    expect(honest.received[0]?.headers.host).toBe(`rebind.example:${honest.port}`);
  });

  it('is asked again after its time, and refused for what it says then', async () => {
    const { resolver } = rebinding();
    const tools = transport('http://127.0.0.2', resolver, 0);
    expect(await tools.post({ server: toolServer(url()), url: url(), ...post })).toMatchObject({ sent: true });
    expect(await tools.post({ server: toolServer(url()), url: url(), ...post })).toMatchObject({
      sent: false,
      code: 'OUTBOUND_FORBIDDEN',
    });
    expect(trap.connections()).toBe(0);
  });

  it('moves to another allowed address when that is what it says', async () => {
    const second = await httpServer((_request, response) => response.end('{}'), '127.0.0.3', honest.port);
    closing.push(() => second.close());
    let asked = 0;
    const tools = transport(
      'http://127.0.0.2,http://127.0.0.3',
      async () => ((asked += 1) === 1 ? ['127.0.0.2'] : ['127.0.0.3']),
      0,
    );
    for (let time = 0; time < 3; time += 1) await tools.post({ server: toolServer(url()), url: url(), ...post });
    expect([second.received.length, trap.connections()]).toEqual([2, 0]);
  });
});

describe('I-22 redirects', () => {
  it.each([301, 302, 303, 307, 308])('%s to metadata or inside is not followed by any client', async (status) => {
    const trap = await canary();
    const targets = ['http://169.254.169.254/latest/', `http://127.0.0.1:${trap.port}/`];
    let next = 0;
    const server = await httpServer((_request, response) => {
      response.writeHead(status, { location: targets[(next += 1) % 2] }).end();
    }, '127.0.0.2');
    closing.push(
      () => trap.close(),
      () => server.close(),
    );
    const tools = transport('http://127.0.0.2', hostileResolver);
    const fetch = guarded('http://127.0.0.2', hostileResolver);
    for (const _target of targets) {
      expect(await tools.post({ server: toolServer(server.url), url: server.url, ...post })).toMatchObject({
        sent: true,
        status,
      });
      expect(await tools.get({ server: toolServer(server.url), url: server.url, ...get })).toMatchObject({
        ok: true,
        status,
      });
      await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    }
    expect([trap.connections(), server.received.length]).toEqual([0, 6]);
  });
});
