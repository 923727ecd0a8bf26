// The console's files as a server sends them: an HTTP server in this process over a directory of the test.
import { request } from 'node:http';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createManualClock, createMemoryWorld, createSeededEntropy } from '@dormouse/adapter-memory';
import { createHttpServer, type HttpServer } from '@dormouse/host';
import { createIngress } from '@dormouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory } from './standalone-process.ts';

const index = '<!doctype html><script type="module" src="/assets/index-3f2a.js"></script>';
const script = 'console.log("here")';
let consoleDir: string;
let server: HttpServer;
let url: string;

async function build(directory: string): Promise<void> {
  await mkdir(join(directory, 'assets'), { recursive: true });
  await writeFile(join(directory, 'index.html'), index);
  await writeFile(join(directory, 'assets', 'index-3f2a.js'), script);
  await writeFile(join(directory, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
}

beforeAll(async () => {
  const outside = await scratchDirectory();
  consoleDir = join(outside, 'console');
  await build(consoleDir);
  await writeFile(join(outside, 'secret.txt'), 'not for you');
  const clock = createManualClock();
  const ports = createMemoryWorld({ clock }).ports('console');
  const ingress = createIngress({
    ...ports,
    ...{ bus: ports.inputs, idempotencyKeys: ports.idempotency, clock, entropy: createSeededEntropy(1) },
    ...{
      sealer: { seal: (_owner, value) => value, open: (_owner, sealed) => sealed },
      signingKey: Buffer.alloc(32, 1),
      auditSigner: { kid: 'unused', sign: () => '', keys: { keys: [] } },
      ...{ callbackTokens: { url: () => '', verify: () => ({ ok: false }) as never }, validateArguments: null },
    },
  });
  const logger = { info: () => {}, warn: () => {}, error: () => {} } as never;
  server = await createHttpServer({
    ...{
      ingress,
      models: { list: async () => [] },
      callbacks: null,
      gate: { pass: async () => ({}) },
      logger,
      clock,
      devClock: null,
    },
    ...{ hosts: new Set<string>(), version: '0', ready: async () => null, consoleDir },
  });
  url = await server.listen('127.0.0.1', 0);
});
afterAll(async () => {
  await server.close();
  await cleanUp();
});

interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The path goes out as it is: `fetch` would make it another one. */
function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Page> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(url);
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      text(response).then((body) => resolve({ status, headers: answered, text: body }), reject);
    });
    sent.on('error', reject).end();
  });
}

const policyOf = ({ headers }: Page): string => String(headers['content-security-policy']);

describe('the console', () => {
  it.each(['/', '/threads', '/threads/thr_1?at=4', '/agents/gpt-5.1', '/parked'])('is at %s', async (path) => {
    const page = await get(path, { accept: 'text/html' });
    expect(page).toMatchObject({ status: 200, text: index });
    expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  });

  it('has a policy under which nothing inline and nothing from elsewhere runs', async () => {
    for (const path of ['/', '/assets/index-3f2a.js', '/favicon.svg']) {
      const page = await get(path);
      const policy = policyOf(page);
      for (const directive of ['object-src', 'frame-ancestors', 'base-uri'])
        expect(policy).toContain(`${directive} 'none'`);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(page.headers['x-content-type-options']).toBe('nosniff');
    }
  });

  it('lets browsers keep what has a hash in its name for ever, and asks about everything else', async () => {
    const hashed = await get('/assets/index-3f2a.js');
    expect(hashed.text).toBe(script);
    expect(hashed.headers).toMatchObject({ 'cache-control': 'public, max-age=31536000, immutable' });
    expect(String(hashed.headers['content-type'])).toMatch(/javascript/);
    const icon = await get('/favicon.svg');
    expect(icon.headers['cache-control']).toBe('no-cache');
    expect((await get('/favicon.svg', { 'if-none-match': String(icon.headers['etag']) })).status).toBe(304);
    expect(await get('/', {}, 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it('shadows nothing of the API', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/errors',
      '/docs/nothing/here',
      '/metrics',
      '/callback',
      '/hooks/x',
    ]) {
      const answer = await get(path, { accept: 'text/html' });
      expect([path, answer.status, JSON.parse(answer.text).code]).toEqual([path, 404, 'NOT_FOUND']);
    }
    expect((await get('/v1/agents', { accept: 'text/html' })).status).toBe(401);
    expect(JSON.parse((await get('/openapi.json')).text).openapi).toBe('3.1.0');
    expect((await get('/healthz')).text).toBe('{"status":"ok"}');
    expect(await get('/', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%5csecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '//secret.txt',
    '/%00',
    '/assets/index-3f2a.js%00.html',
    '/assets',
    '/assets/',
    '/assets/gone-1234.js',
    '/gone.js.map',
    '/.env.json',
  ])('sends nothing for %s', async (path) => {
    const answer = await get(path, { accept: '*/*' });
    expect(answer.text).not.toContain('not for you');
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/problem+json']);
  });

  it('is no answer to what wants no page, or comes through another name', async () => {
    expect((await get('/threads', { accept: 'application/json' })).status).toBe(404);
    expect((await get('/', { host: 'evil.example' })).status).toBe(403);
  });

  it('is what was built last, and says how to build it where it is not', async () => {
    const away = `${consoleDir}-away`;
    await rename(consoleDir, away);
    const page = await get('/');
    expect([page.status, page.headers['cache-control']]).toEqual([503, 'no-store']);
    expect(page.text).toContain('npm run build');
    expect(policyOf(page)).toContain("default-src 'none'");
    await build(consoleDir);
    await writeFile(join(consoleDir, 'assets', 'index-9c1d.js'), 'newer');
    expect((await get('/')).text).toBe(index);
    expect((await get('/assets/index-9c1d.js')).text).toBe('newer');
    await rm(away, { recursive: true });
  });
});
