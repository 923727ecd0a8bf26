// The HTTP side of the transport against servers that behave, misbehave and attack.
import { createGuardedFetch, createToolTransport, parseOutboundAllow } from '@dormouse/adapter-http';
import { Fault, type SendOutcome, type ToolServer, tenantId } from '@dormouse/ports';
import { createHmac, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { slownessOfMachine } from '../machine-pace.ts';
import { httpServer, type HttpListener, rawServer, tlsServer, toolServer } from './listeners.ts';

type Transport = ReturnType<typeof createToolTransport>;
let transport: Transport;
let asked: string[];
let secret: string | Error;
/** By name, where one is not enough. */
let secrets: Readonly<Record<string, string>>;
const pem = (file: string): string => readFileSync(new URL(`certificates/${file}`, import.meta.url), 'utf8');
const closing: (() => Promise<void>)[] = [];

const outboundAllow = parseOutboundAllow('http://127.0.0.0/8').rules;
beforeEach(() => {
  asked = [];
  secret = 'the secret';
  secrets = {};
  transport = createToolTransport({
    outboundAllow,
    secrets: async (tenant, name, origin) => {
      asked.push(`${tenant} ${name} ${origin}`);
      if (secret instanceof Error) throw secret;
      return secrets[name] ?? secret;
    },
  });
});
afterEach(async () => {
  await transport.close();
  for (const close of closing.splice(0)) await close();
});

async function serve(...given: Parameters<typeof httpServer>): Promise<HttpListener> {
  const server = await httpServer(...given);
  closing.push(() => server.close());
  return server;
}
const send = (
  server: ToolServer,
  url: string,
  fields: { readonly timeoutMs?: number; readonly body?: string; readonly signal?: AbortSignal } = {},
): Promise<SendOutcome> =>
  transport.post({
    server,
    url,
    body: '{"a":"Zürich ☃"}',
    headers: { 'idempotency-key': 'call_1' },
    timeoutMs: 5_000,
    ...fields,
  });
const bearer = { type: 'bearer', secret: 'token' } as const;

describe('a POST', () => {
  it('R1 R2 is JSON in UTF-8 with exactly the bytes given', async () => {
    const server = await serve((_request, response) => response.end());
    expect(await send(toolServer(server.url), `${server.url}/invoke?x=1`)).toEqual({
      sent: true,
      status: 200,
      retryAfterMs: null,
    });
    const [got] = server.received;
    expect([got?.method, got?.path, got?.body.toString('utf8')]).toEqual(['POST', '/invoke?x=1', '{"a":"Zürich ☃"}']);
    expect(got?.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': 'call_1' });
    expect(got?.headers['authorization']).toBeUndefined();
  });

  it.each(['', '<html>garbage', '{"error":', '\u0000\u0001'])(
    'R4 does not care what the acknowledgement says: %j',
    async (body) => {
      const server = await serve((_request, response) => response.end(body));
      expect(await send(toolServer(server.url), server.url)).toMatchObject({ sent: true, status: 200 });
    },
  );

  it('tells status and Retry-After', async () => {
    const server = await serve(
      (_request, response) => void response.writeHead(503, { 'retry-after': '7' }).end('later'),
    );
    expect(await send(toolServer(server.url), server.url)).toEqual({ sent: true, status: 503, retryAfterMs: 7_000 });
  });

  it('is acknowledged by the status, however long the body drips', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    expect(await send(toolServer(server.url), server.url, { timeoutMs: 15_000 })).toMatchObject({
      sent: true,
      status: 200,
    });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('lets go of a server whose body drips for ever', async () => {
    const closed: number[] = [];
    const server = await serve((request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      request.socket.on('close', () => {
        clearInterval(drip);
        closed.push(1);
      });
    });
    await send(toolServer(server.url), server.url, { timeoutMs: 200 });
    await expect.poll(() => closed.length).toBe(1);
  });

  it('reads an endless body no further than it must', async () => {
    let written = 0;
    const server = await serve((request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!request.socket.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (!request.socket.destroyed) response.once('drain', more);
      };
      more();
    });
    expect(await send(toolServer(server.url), server.url)).toMatchObject({ sent: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(written).toBeLessThan(20 * 1_048_576);
  });

  it('is not for ever: a server that never answers', async () => {
    const server = await serve(() => {});
    expect(await send(toolServer(server.url), server.url, { timeoutMs: 200 })).toMatchObject({
      sent: false,
      reached: true,
      code: 'TIMEOUT',
    });
  });

  it('is not for ever: a server that drips its headers', async () => {
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-a: b\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    closing.push(() => server.close());
    expect(await send(toolServer(server.url), server.url, { timeoutMs: 300 })).toMatchObject({
      sent: false,
      reached: true,
      code: 'TIMEOUT',
    });
  });

  it.each([
    ['closes without an answer', 'HTTP', (socket: { destroy(): void }) => socket.destroy()],
    [
      'speaks another protocol',
      'not HTTP',
      (socket: { end(text: string): void }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
    ],
    [
      'wants another protocol',
      '101',
      (socket: { write(text: string): void }) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    [
      'has two lengths',
      'smuggling',
      (socket: { end(text: string): void }) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'),
    ],
    [
      'sends headers without end',
      'huge',
      (socket: { end(text: string): void }) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    ],
  ])('fails after it was sent when the server %s', async (_what, _how, answer) => {
    const server = await rawServer(answer);
    closing.push(() => server.close());
    expect(await send(toolServer(server.url), server.url)).toMatchObject({ sent: false, reached: true });
  });

  it('says that nothing was sent when nobody listens', async () => {
    const server = await httpServer(() => {});
    await server.close();
    expect(await send(toolServer(server.url), server.url)).toEqual({
      sent: false,
      reached: false,
      code: 'ECONNREFUSED',
      detail: 'the connection was refused',
    });
  });

  it('says that nothing was sent when the name is unknown', async () => {
    const url = 'https://nobody.invalid/';
    expect(await send(toolServer(url), url)).toMatchObject({ sent: false, reached: false, code: 'NAME_NOT_RESOLVED' });
  });

  it('says that nothing was sent while it waits for a connection', async () => {
    const one = createToolTransport({ outboundAllow, secrets: async () => '', connectionsPerOriginMax: 1 });
    closing.push(() => one.close());
    const server = await serve(() => {});
    const request = { server: toolServer(server.url), url: server.url, body: '{}', headers: {} };
    const first = one.post({ ...request, timeoutMs: 600 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await one.post({ ...request, timeoutMs: 200 })).toMatchObject({
      sent: false,
      reached: false,
      code: 'TIMEOUT',
    });
    expect(await first).toMatchObject({ sent: false, reached: true });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(server.received).toHaveLength(1);
  });

  it('ends when it is told to', async () => {
    const server = await serve(() => {});
    const stop = new AbortController();
    const sent = send(toolServer(server.url), server.url, { signal: stop.signal });
    setTimeout(() => stop.abort(), 100);
    expect(await sent).toMatchObject({ sent: false, reached: true, code: 'ABORTED' });
    expect(await send(toolServer(server.url), server.url, { signal: stop.signal })).toMatchObject({
      sent: false,
      reached: false,
      code: 'ABORTED',
    });
  });

  it('keeps connections for the next one', async () => {
    const server = await serve((_request, response) => response.end('ok'));
    for (let time = 0; time < 10; time += 1) await send(toolServer(server.url), server.url);
    expect(server.connections()).toBeLessThanOrEqual(2); // the next may start before the last body has ended
  });
});

describe('credentials', () => {
  it('R42 bearer goes to the registered origin, endpoint or base alike, and is read once', async () => {
    const server = await serve((_request, response) => response.end());
    const registered = toolServer(`${server.url}/base`, { auth: bearer });
    for (const path of ['/base/close_thread', '/elsewhere/invoke']) await send(registered, `${server.url}${path}`);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer the secret',
      'Bearer the secret',
    ]);
    expect(asked).toEqual([`acme token ${server.url}`]);
  });

  it('never go to an endpoint of another origin', async () => {
    const [registered, elsewhere] = [
      await serve((_request, response) => response.end()),
      await serve((_request, response) => response.end()),
    ];
    await send(toolServer(registered.url, { auth: bearer }), `${elsewhere.url}/invoke`);
    expect(elsewhere.received.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(asked).toEqual([]);
  });

  it('R42 hmac signs every request as Standard Webhooks do', async () => {
    const server = await serve((_request, response) => response.end());
    await send(toolServer(server.url, { auth: { type: 'hmac', secret: 'token' } }), server.url);
    const [got] = server.received;
    const timestamp = String(got?.headers['webhook-timestamp']);
    const expected = createHmac('sha256', 'the secret').update(`call_1.${timestamp}.{"a":"Zürich ☃"}`).digest('base64');
    expect(got?.headers).toMatchObject({ 'webhook-id': 'call_1', 'webhook-signature': `v1,${expected}` });
    expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(10);
  });

  it.each([
    [new Fault('SECRET_UNUSABLE', 'the secret names other origins'), 'SECRET_UNUSABLE'],
    [new Fault('UNAVAILABLE', 'the store is down'), 'UNAVAILABLE'],
  ])('nothing is sent without the credential that the registration wants: %s', async (error, code) => {
    const server = await serve((_request, response) => response.end());
    secret = error;
    const registered = toolServer(server.url, { auth: bearer });
    expect(await send(registered, server.url)).toMatchObject({ sent: false, reached: false, code });
    expect(await transport.get({ server: registered, url: server.url, timeoutMs: 1_000, bytesMax: 100 })).toMatchObject(
      { ok: false },
    );
    expect(server.received).toEqual([]);
    expect(JSON.stringify(await send(registered, server.url))).not.toContain('other origins');
  });

  it('R42 a client certificate is presented by the connection, to the server that asks for it', async () => {
    const before = getCACertificates();
    setDefaultCACertificates([...before, pem('ca.pem')]);
    const server = await tlsServer({ cert: pem('server.pem'), key: pem('server.key.pem'), ca: pem('ca.pem') });
    try {
      secrets = { certificate: pem('client.pem'), key: pem('client.key.pem') };
      const auth = { type: 'mtls', certificateSecret: 'certificate', keySecret: 'key' } as const;
      expect(await send(toolServer(server.url, { auth }), server.url)).toMatchObject({ sent: true, status: 200 });
      expect(server.clients).toEqual(['client']);
      expect(await send(toolServer(server.url), server.url)).toMatchObject({ sent: false });
    } finally {
      setDefaultCACertificates(before);
      await server.close();
    }
  });

  it.each([
    [{ type: 'mtls', certificateSecret: 'a', keySecret: 'b' }, 'over plain http'],
    [{ type: 'sigv4', region: 'a', service: 'b', accessKeySecret: 'c' }, 'with a secret that is no access key'],
  ] as const)('nothing is sent with %j %s', async (auth, _why) => {
    const server = await serve((_request, response) => response.end());
    expect(await send(toolServer(server.url, { auth }), server.url)).toMatchObject({
      sent: false,
      reached: false,
      code: 'SECRET_UNUSABLE',
    });
    expect(server.received).toEqual([]);
  });

  it.each(['a-key\n', 'a-key\r\nx-more: 1', 'a-key ☃'])(
    'nothing is sent with a token that no header can carry, of the registration or of a user: %j',
    async (unusable) => {
      const server = await serve((_request, response) => response.end());
      secret = unusable;
      const refused = { sent: false, reached: false, code: 'SECRET_UNUSABLE' };
      expect(await send(toolServer(server.url, { auth: bearer }), server.url)).toMatchObject(refused);
      const auth = { type: 'sigv4', region: 'a', service: 'b', accessKeySecret: 'c' } as const;
      secret = `id:key:${unusable}`;
      expect(await send(toolServer(server.url, { auth }), server.url)).toMatchObject(refused);
      const userToken = async (): Promise<string> => unusable;
      const ofUsers = createToolTransport({ outboundAllow, secrets: async () => '', userToken });
      closing.push(() => ofUsers.close());
      const call = { server: toolServer(server.url), url: server.url, body: '{}', headers: {}, timeoutMs: 5_000 };
      const answer = await ofUsers.post({ ...call, userId: 'ann' });
      expect(answer).toMatchObject(refused);
      expect(JSON.stringify(answer)).not.toContain('a-key');
      expect(server.received).toEqual([]);
    },
  );

  it.each([
    ['no certificate', 'client', 'client.key.pem'],
    ['a certificate without its own key', pem('client.pem'), 'server.key.pem'],
    ['a certificate without a key', pem('client.pem'), 'client.pem'],
  ])('nothing is sent with %s as a client certificate', async (_what, certificate, key) => {
    const server = await tlsServer({ cert: pem('server.pem'), key: pem('server.key.pem'), ca: pem('ca.pem') });
    try {
      secrets = { certificate, key: pem(key) };
      const auth = { type: 'mtls', certificateSecret: 'certificate', keySecret: 'key' } as const;
      expect(await send(toolServer(server.url, { auth }), server.url)).toMatchObject({
        ...{ sent: false, reached: false, code: 'SECRET_UNUSABLE' },
      });
    } finally {
      await server.close();
    }
  });

  it('R42 sigv4 covers the very bytes that are sent', async () => {
    const server = await serve((_request, response) => response.end());
    secret = 'AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
    const auth = { type: 'sigv4', region: 'eu-west-1', service: 'lambda', accessKeySecret: 's' } as const;
    await send(toolServer(server.url, { auth }), `${server.url}/invoke?x=1`);
    const [received] = server.received;
    if (received === undefined) throw new Error('nothing came');
    const { headers, body } = received;
    const date = String(headers['x-amz-date']);
    const scope = `${date.slice(0, 8)}/eu-west-1/lambda/aws4_request`;
    const [, named = ''] = /SignedHeaders=([^,]+),/.exec(String(headers.authorization)) ?? [];
    expect(named.split(';')).toEqual(expect.arrayContaining(['host', 'x-amz-date']));
    // As AWS describes it, step by step, over what has arrived.
    const canonical = ['POST', '/invoke', 'x=1', ...named.split(';').map((name) => `${name}:${String(headers[name])}`)];
    const request = [...canonical, '', named, hash('sha256', body)].join('\n');
    const text = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', request)].join('\n');
    const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
    const key = scope.split('/').reduce<string | Buffer>(hmac, 'AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${named}, Signature=${hmac(key, text).toString('hex')}`,
    );
  });

  it('P3 tenants and credentials share no connection', async () => {
    const server = await serve((_request, response) => response.end());
    await send(toolServer(server.url), server.url);
    await send(toolServer(server.url, { tenant: tenantId('other') }), server.url);
    await send(toolServer(server.url, { auth: bearer }), server.url);
    await send(toolServer(server.url), server.url);
    expect(server.connections()).toBe(3);
  });
});

describe('a manifest', () => {
  const fetchFrom = (server: HttpListener, bytesMax = 1_000): ReturnType<Transport['get']> =>
    transport.get({
      server: toolServer(server.url),
      url: `${server.url}/.well-known/rap-toolset`,
      timeoutMs: 500,
      bytesMax,
    });

  it('R17 is fetched as text, with or without a content type', async () => {
    const server = await serve((_request, response) => response.end('{"name":"☃"}'));
    expect(await fetchFrom(server)).toEqual({ ok: true, status: 200, body: '{"name":"☃"}' });
    expect(server.received[0]).toMatchObject({ method: 'GET', path: '/.well-known/rap-toolset' });
  });

  it('is capped, whatever its length claims', async () => {
    let written = 0;
    const server = await serve((request, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (written < 100 * 1_048_576 && !request.socket.destroyed && response.write(Buffer.alloc(65_536, 0x20)))
          written += 65_536;
        if (!request.socket.destroyed) response.once('drain', more);
      };
      more();
    });
    expect(await fetchFrom(server, 524_288)).toMatchObject({ ok: false, code: 'TOOLSET_INVALID' });
    expect(written).toBeLessThan(20 * 1_048_576);
  });

  it('at the limit is still taken', async () => {
    const server = await serve((_request, response) => response.end('x'.repeat(1_000)));
    expect(await fetchFrom(server)).toMatchObject({ ok: true });
    const longer = await serve((_request, response) => response.end('x'.repeat(1_001)));
    expect(await fetchFrom(longer)).toMatchObject({ ok: false, code: 'TOOLSET_INVALID' });
  });

  it.each([
    ['never comes', (): void => {}],
    ['drips', (response: { write(text: string): void }) => void setInterval(() => response.write(' '), 20).unref()],
  ])('that %s is unreachable in time', async (_what, answer) => {
    const server = await serve((_request, response) => answer(response));
    const startedAt = performance.now();
    expect(await fetchFrom(server)).toMatchObject({ ok: false, code: 'TOOLSET_UNREACHABLE' });
    expect(performance.now() - startedAt).toBeLessThan(2_000 * slownessOfMachine());
  });

  it('that is compressed is not asked for and not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const server = await serve(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    expect(await fetchFrom(server, 524_288)).toMatchObject({ ok: false, code: 'TOOLSET_INVALID' });
  });

  it('that is not UTF-8 is invalid', async () => {
    const server = await serve((_request, response) => response.end(Buffer.from([0x7b, 0xff, 0x7d])));
    expect(await fetchFrom(server)).toMatchObject({ ok: false, code: 'TOOLSET_INVALID' });
  });

  it('of a server that is down is unreachable', async () => {
    const server = await httpServer(() => {});
    await server.close();
    expect(await fetchFrom(server)).toMatchObject({ ok: false, code: 'TOOLSET_UNREACHABLE' });
  });
});

describe('a verdict', () => {
  it('is given without a request: forbidden addresses and forms, not servers that are down or names of later', async () => {
    const server = await serve((_request, response) => response.end());
    const judged = async (url: string): Promise<boolean> => (await transport.judge(url, tenantId('acme'))).ok;
    expect(await judged(`${server.url}/invoke`)).toBe(true);
    expect(await judged('http://127.0.0.1:7')).toBe(false); // a port that is never called
    expect(await judged('ftp://127.0.0.1/')).toBe(false);
    expect(await judged('http://10.1.2.3:8080')).toBe(false);
    expect(await judged('http://[::ffff:169.254.169.254]/')).toBe(false);
    expect(await judged('https://no-such-name.invalid')).toBe(true);
    expect(server.received).toEqual([]);
  });
});

describe('the guarded fetch', () => {
  it('sends, streams and aborts like any fetch', async () => {
    const guarded = createGuardedFetch({ outboundAllow });
    closing.push(() => guarded.close());
    const { fetch } = guarded;
    const server = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${request.body.toString('utf8')}\n\n`);
      if (request.path === '/end') response.end();
    });
    const ended = await fetch(`${server.url}/end`, {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body: '{"☃":1}',
    });
    expect([ended.status, ended.headers.get('content-type'), await ended.text()]).toEqual([
      200,
      'text/event-stream',
      'data: {"☃":1}\n\n',
    ]);
    expect(server.received[0]?.headers.authorization).toBe('Bearer k');
    const stop = new AbortController();
    const open = await fetch(new URL(`${server.url}/open`), { method: 'POST', body: 'x', signal: stop.signal });
    const reader = open.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: x\n\n');
    stop.abort();
    await expect(reader?.read()).rejects.toThrow('aborted');
  });
});
