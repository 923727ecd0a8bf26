// Pages of other sites in a browser that is signed in to a local runtime: a page under a name that leads here (DNS
// rebinding), a page of another port, a page of another site. None of them reads or changes anything.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStandalone } from '../e2e/standalone-process.ts';
import { consoleSpecs } from './browser.ts';

const system = consoleSpecs(startStandalone);

let attacker: Server;
let attackerPort: number;
beforeAll(async () => {
  attacker = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>another site</title>');
  });
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
  attackerPort = (attacker.address() as AddressInfo).port;
});
afterAll(() => {
  attacker.closeAllConnections();
  attacker.close();
});

/** Runs in the page: everything that a script may try without a key. What it could read, or `nothing`. */
async function attack(target: string): Promise<readonly string[]> {
  const body = JSON.stringify({ agent: 'assistant', title: 'from another site' });
  const credentials = 'include';
  const tries: readonly (readonly [string, object])[] = [
    ['/v1/threads', { credentials }],
    ['/v1/session', { credentials }],
    ['/v1/threads', { method: 'POST', body, credentials, headers: { 'content-type': 'application/json' } }],
    ['/v1/threads', { method: 'POST', body, credentials, mode: 'no-cors', headers: { 'content-type': 'text/plain' } }],
    ['/v1/session', { method: 'DELETE', credentials }],
    ['/v1/events', { credentials, headers: { accept: 'text/event-stream' } }],
  ];
  const read = async ([path, init]: readonly [string, object]): Promise<string> => {
    try {
      return (await (await fetch(target + path, init)).text()) || 'nothing';
    } catch {
      return 'nothing';
    }
  };
  return Promise.all(tries.map(read));
}

/** Runs in the page: a form needs no permission to be sent, and its answer is not read. */
function sendForm(target: string): void {
  const { document } = globalThis as unknown as {
    readonly document: {
      createElement(name: string): {
        innerHTML: string;
        action: string;
        method: string;
        enctype: string;
        submit(): void;
      };
      readonly body: { append(element: unknown): void };
    };
  };
  const form = document.createElement('form');
  Object.assign(form, { action: `${target}/v1/threads`, method: 'post', enctype: 'text/plain' });
  form.innerHTML = `<input name='{"agent":"assistant","title":"' value='from a form"}'>`;
  document.body.append(form);
  form.submit();
}

const threads = async (): Promise<string> => (await system.runtime.request('GET', '/v1/threads')).text;
const portOf = (): string => new URL(system.runtime.url).port;

describe('a browser that is signed in', () => {
  it.each([
    ['of another port of this host', () => `http://127.0.0.1:${attackerPort}/`],
    ['of another site', () => `http://attacker.localhost:${attackerPort}/`],
  ])('gives a page %s nothing, and changes nothing for it', async (_what, address) => {
    const before = await threads();
    const { context, page: own } = await system.open('/');
    const isSignedIn = (): Promise<boolean> => own.evaluate(async () => (await fetch('/v1/session')).ok);
    await expect.poll(isSignedIn).toBe(true);
    const page = await context.newPage();
    await page.goto(address());
    expect(await page.evaluate(attack, system.runtime.url)).toEqual(Array.from({ length: 6 }, () => 'nothing'));
    const answered = page.waitForResponse((response) => response.url().startsWith(system.runtime.url));
    await page.evaluate(sendForm, system.runtime.url);
    expect((await answered).status()).toBeGreaterThanOrEqual(400);
    expect(await threads()).toBe(before);
    expect(await isSignedIn()).toBe(true);
    await context.close();
  });

  it('gives nothing to a name that leads to this port', async () => {
    const before = await threads();
    const { context } = await system.open('/');
    const page = await context.newPage();
    const rebound = `http://rebound.localhost:${portOf()}`;
    for (const path of ['/', '/v1/threads', '/v1/session', '/healthz'])
      expect((await page.goto(rebound + path))?.status(), path).toBe(path === '/healthz' ? 200 : 403);
    const read = await page.evaluate(attack, rebound);
    expect(read.filter((text) => !text.includes('"FORBIDDEN"') && text !== 'nothing')).toEqual([]);
    expect(await threads()).toBe(before);
    await context.close();
  });
});
