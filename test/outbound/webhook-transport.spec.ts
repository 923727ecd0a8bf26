// POSTs to endpoints of customers: what the guard keeps from being called, and what is signed.
import { createWebhookTransport, parseOutboundAllow, type Resolver } from '@dormouse/adapter-http';
import { Fault, tenantId, type WebhookRequest } from '@dormouse/ports';
import { Webhook as Svix } from 'svix';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answerWith, endReceivers, hang, startReceiver } from '../e2e/webhook-receiver.ts';
import { hostileResolver, hostileUrls } from './hostile-urls.ts';
import { canary, type Listener } from './listeners.ts';

const acme = tenantId('acme');

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const older = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const closing: (() => Promise<void>)[] = [];

function transport(rules: string, resolver: Resolver = hostileResolver): ReturnType<typeof createWebhookTransport> {
  const made = createWebhookTransport({ outboundAllow: parseOutboundAllow(rules).rules, resolver });
  closing.push(() => made.close());
  return made;
}

const requestTo = (url: string, more: Partial<WebhookRequest> = {}): WebhookRequest => ({
  ...{ tenant: acme, url, id: 'dlv_1', body: '{"type":"thread.idle"}', secrets: [secret], timeoutMs: 5_000 },
  ...more,
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(endReceivers);

describe('a URL that may not be called', () => {
  let canaries: readonly Listener[];
  let urls: readonly string[];
  beforeAll(async () => {
    const first = await canary();
    canaries = [first, await canary('::1', first.port)];
    urls = hostileUrls(first.port);
  });
  afterAll(() => Promise.all(canaries.map((one) => one.close())));

  it('K4 I-22 is not connected to where an address may not be called', async () => {
    const made = transport('');
    for (const url of urls) {
      expect(await made.post(requestTo(url)), url).toEqual({ answered: false, code: 'OUTBOUND_FORBIDDEN' });
      expect((await made.judge(url, acme)).ok, url).toBe(false);
    }
    expect(canaries.map((one) => one.connections())).toEqual([0, 0]);
  });

  it('is judged again at every delivery: a name that moves to a private address is not followed', async () => {
    let address = '93.184.215.14';
    const made = transport('', () => Promise.resolve([address]));
    expect(await made.judge('https://moving.example/', acme)).toEqual({ ok: true });
    address = '127.0.0.1';
    const url = `https://moving.example:${canaries[0]?.port}/`;
    expect(await made.post(requestTo(url))).toEqual({ answered: false, code: 'OUTBOUND_FORBIDDEN' });
    expect(canaries.map((one) => one.connections())).toEqual([0, 0]);
  });

  it('K4 has plain http without a rule for its name, also while the name has no address', async () => {
    const nowhere: Resolver = () => Promise.reject(new Error('ENOTFOUND'));
    const urlsOfOne = ['http://hooks.customer.example/', 'https://hooks.customer.example/'];
    const judged = (rules: string) =>
      Promise.all(urlsOfOne.map(async (url) => (await transport(rules, nowhere).judge(url, acme)).ok));
    expect(await judged('')).toEqual([false, true]);
    expect(await judged('http://customer.example')).toEqual([true, true]);
    expect(await judged('http://customer.example:8080')).toEqual([false, true]);
    expect(await transport('', nowhere).post(requestTo('https://hooks.customer.example/'))).toEqual({
      ...{ answered: false, code: 'UNREACHABLE' },
    });
  });
});

describe('what a tenant may call', () => {
  it('K5 throws while it cannot be read, which is no failure of the endpoint, and sends nothing', async () => {
    const receiver = await startReceiver();
    let away = true;
    const made = createWebhookTransport({
      outboundAllow: parseOutboundAllow('http://127.0.0.0/8').rules,
      outboundOf: () =>
        away ? Promise.reject(new Fault('UNAVAILABLE', 'the store is away')) : Promise.resolve({ key: '', rules: [] }),
    });
    closing.push(() => made.close());
    await expect(made.post(requestTo(receiver.url))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(receiver.posts).toEqual([]);
    away = false;
    expect(await made.post(requestTo(receiver.url))).toMatchObject({ answered: true, status: 204 });
  });
});

describe('a POST', () => {
  const loopback = () => transport('http://127.0.0.0/8');

  it('K1 is signed by every secret, and verified by another library with any of them', async () => {
    const receiver = await startReceiver();
    const outcome = await loopback().post(requestTo(receiver.url, { secrets: [secret, older] }));
    expect(outcome).toEqual({ answered: true, status: 204, aborts: false });
    const [posted] = receiver.posts;
    const headers = posted?.headers as Record<string, string>;
    for (const each of [secret, older]) new Svix(each).verify(posted?.text ?? '', headers);
    expect(() => new Svix(secret).verify('{"type":"thread.closed"}', headers)).toThrow('No matching signature found');
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it('K3 follows no redirect, and takes the word of an answer that aborts', async () => {
    const elsewhere = await startReceiver();
    const receiver = await startReceiver(answerWith(307, { location: elsewhere.url }));
    expect(await loopback().post(requestTo(receiver.url))).toMatchObject({ status: 307, aborts: false });
    receiver.answers(answerWith(400, { 'webhook-delivery': 'abort-message' }));
    expect(await loopback().post(requestTo(receiver.url))).toMatchObject({ status: 400, aborts: true });
    expect(elsewhere.posts).toEqual([]);
  });

  it('K3 has its answer at once, and ends the connection where the body goes on', async () => {
    let written = 0;
    const ended = Promise.withResolvers<void>();
    const receiver = await startReceiver((response) => {
      response.on('close', () => ended.resolve());
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        if (response.destroyed || written > 256 * 1_048_576) return;
        written += chunk.length;
        response.write(chunk, () => setImmediate(write));
      };
      write();
    });
    const begun = performance.now();
    expect(await loopback().post(requestTo(receiver.url, { timeoutMs: 60_000 }))).toMatchObject({ status: 200 });
    await ended.promise;
    expect(performance.now() - begun).toBeLessThan(60_000);
    expect(written).toBeLessThan(16 * 1_048_576); // what buffers of the system take
  });

  it('ends without an answer after its time, also when bytes of an answer come one by one', async () => {
    const dripping = await startReceiver((response) => {
      const { socket } = response;
      const bytes = 'HTTP/1.1 200 OK\r\nx-slow: '.split('').concat(Array.from({ length: 100 }, () => 'y'));
      const timer = setInterval(() => void socket?.write(bytes.shift() ?? 'y'), 20);
      socket?.on('close', () => clearInterval(timer));
    });
    expect(await loopback().post(requestTo(dripping.url, { timeoutMs: 500 }))).toEqual({
      ...{ answered: false, code: 'TIMEOUT' },
    });
  });

  it('ends without an answer after its time', async () => {
    const receiver = await startReceiver(hang);
    expect(await loopback().post(requestTo(receiver.url, { timeoutMs: 200 }))).toEqual({
      ...{ answered: false, code: 'TIMEOUT' },
    });
  });
});
