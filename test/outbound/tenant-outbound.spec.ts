// A tenant's own entries: they open what they name for its requests, to every client, and nothing of what stays closed.
import { tenantId } from '@dormouse/ports';
import {
  createGuardedFetch,
  createToolTransport,
  createWebhookTransport,
  parseOutboundAllow,
  type Resolver,
  tenantEntryProblem,
  type TenantOutbound,
} from '@dormouse/adapter-http';
import type { ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canary, httpServer, type Listener, toolServer } from './listeners.ts';

const acme = tenantId('acme');

const rulesOf = (text: string): TenantOutbound => ({ key: text, rules: parseOutboundAllow(text).rules });
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** What each tenant may call, as its record has it now. */
let entries: Map<string, string>;
beforeEach(() => {
  entries = new Map();
});
const outboundOf = async (tenant: string): Promise<TenantOutbound> => rulesOf(entries.get(tenant) ?? '');

/** Every client of requests for tenants, over the installation's list. */
function clients(installation: string, resolver: Resolver) {
  const common = { outboundAllow: parseOutboundAllow(installation).rules, outboundOf, resolver };
  const tools = createToolTransport({ ...common, secrets: async () => 'a secret' });
  const hooks = createWebhookTransport(common);
  const fetches = createGuardedFetch(common);
  closing.push(...[tools, hooks, fetches].map((each) => () => each.close()));
  const get = { timeoutMs: 2_000, bytesMax: 100 };
  const post = { id: 'm', body: '{}', secrets: [`whsec_${btoa('a secret of a spec')}`], timeoutMs: 2_000 };
  /** `code` of each client: dispatcher and notifier, discovery, webhooks, models and grants. */
  return async (url: string, tenant = acme): Promise<readonly string[]> => {
    const server = { ...toolServer(url), tenant };
    const [call, manifest, hook, model] = await Promise.all([
      tools.post({ server, url, body: '{}', headers: {}, timeoutMs: 2_000 }),
      tools.get({ server, url, ...get }),
      hooks.post({ tenant, url, ...post }),
      fetches
        .fetchOf(tenant)(url, { signal: AbortSignal.timeout(2_000) })
        .then(
          () => 'answered',
          (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'UNREACHABLE'),
        ),
    ]);
    return [
      call.sent ? 'answered' : call.code,
      manifest.ok ? 'answered' : manifest.code,
      hook.answered ? 'answered' : hook.code,
      model,
    ];
  };
}

/** Of this machine, and not loopback: connections to it leave no machine. Null where it has none. */
const ownAddress =
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

async function twoServers(): Promise<{ readonly url: string; readonly other: string }> {
  const answer = (_request: unknown, response: ServerResponse): void => void response.end('{}');
  const made = [await httpServer(answer, ownAddress ?? ''), await httpServer(answer, ownAddress ?? '')];
  closing.push(...made.map((each) => () => each.close()));
  return { url: made[0]?.url ?? '', other: made[1]?.url ?? '' };
}

const answered = Array.from({ length: 4 }, () => 'answered');
const forbidden = Array.from({ length: 4 }, () => 'OUTBOUND_FORBIDDEN');
const nowhere: Resolver = () => Promise.reject(new Error('no name'));
const resolvesTo =
  (address: string): Resolver =>
  () =>
    Promise.resolve([address]);
const isForbidden = (codes: readonly string[]): boolean => codes.every((code) => code === 'OUTBOUND_FORBIDDEN');
const isOpen = (codes: readonly string[]): boolean => !codes.includes('OUTBOUND_FORBIDDEN');

describe('entries of a tenant', () => {
  it.skipIf(ownAddress === null)('open what they name for its requests alone, in every client', async () => {
    const { url, other } = await twoServers();
    const codes = clients('', nowhere);
    entries.set('acme', url);
    expect(await codes(url)).toEqual(answered);
    expect(await codes(url, tenantId('other'))).toEqual(forbidden);
    expect(await codes(other)).toEqual(forbidden);
  });

  it.skipIf(ownAddress === null)('add to the list of the installation, and take nothing from it', async () => {
    const { url, other } = await twoServers();
    const codes = clients(other, nowhere);
    entries.set('acme', url);
    for (const each of [url, other]) expect(await codes(each), each).toEqual(answered);
  });

  it.skipIf(ownAddress === null)(
    'are in force as they are now: what is taken back is closed at once, also to a connection that is open',
    async () => {
      const { url, other } = await twoServers();
      const codes = clients('', nowhere);
      entries.set('acme', url);
      expect(await codes(url)).toEqual(answered);
      entries.set('acme', other);
      expect(await codes(url)).toEqual(forbidden);
    },
  );

  it('are what a registration is judged by', async () => {
    const common = { outboundAllow: [], outboundOf, resolver: nowhere };
    const judges = [createToolTransport({ ...common, secrets: async () => '' }), createWebhookTransport(common)];
    closing.push(...judges.map((each) => () => each.close()));
    entries.set('acme', 'http://10.1.0.0/16,http://tools.corp');
    for (const each of judges) {
      expect(await each.judge('http://10.1.2.3/', acme)).toEqual({ ok: true });
      expect(await each.judge('http://tools.corp/', acme)).toEqual({ ok: true }); // it has no address yet
      expect(await each.judge('http://10.1.2.3/', tenantId('other'))).toMatchObject({ ok: false });
      expect(await each.judge('http://10.2.2.3/', acme)).toMatchObject({ ok: false });
      expect(await each.judge('http://127.0.0.1/', acme)).toMatchObject({ ok: false });
    }
  });

  it('that cannot be read open nothing, and are read again', async () => {
    const failing = { outboundAllow: [], outboundOf: () => Promise.reject(new Error('away')), resolver: nowhere };
    const tools = createToolTransport({ ...failing, secrets: async () => '' });
    const hooks = createWebhookTransport(failing);
    closing.push(...[tools, hooks].map((each) => () => each.close()));
    const url = 'http://10.1.2.3/';
    const server = toolServer(url);
    expect(await tools.post({ server, url, body: '{}', headers: {}, timeoutMs: 200 })).toMatchObject({
      ...{ sent: false, reached: false, code: 'NAME_NOT_RESOLVED' },
    });
    const hook = { tenant: acme, url, id: 'm', body: '{}', secrets: [], timeoutMs: 200 };
    await expect(hooks.post(hook)).rejects.toThrow('away'); // the endpoint has not failed
  });

  const everything =
    'http://1.0.0.0/8,http://10.0.0.0/8,http://100.0.0.0/8,http://127.0.0.0/8,http://168.0.0.0/8,http://169.0.0.0/8,http://192.0.0.0/8,http://0.0.0.0/0,http://::/0,http://example,http://localhost,http://internal';

  it.each([
    ['a metadata service by its address', 'http://169.254.169.254/latest/meta-data/', nowhere],
    ['a metadata service by a short form of it', 'http://2852039166/', nowhere],
    ['a metadata service by its name', 'http://metadata.google.internal/', resolvesTo('10.0.0.1')],
    ['a name that resolves to a metadata service', 'http://tools.example/', resolvesTo('169.254.169.254')],
    ['a metadata service in IPv6', 'http://[fd00:ec2::254]/', nowhere],
    ['a metadata service inside IPv6', 'http://[::ffff:169.254.169.254]/', nowhere],
    ['a metadata service of Alibaba Cloud', 'http://100.100.100.200/', nowhere],
    ['Azure’s wire server', 'http://168.63.129.16/', nowhere],
    ['a link-local address', 'http://[fe80::1]/', nowhere],
    ['the address of this host', 'http://0.0.0.0/', nowhere],
    ['loopback', 'http://127.0.0.1/', nowhere],
    ['another address of loopback', 'http://127.9.9.9/', nowhere],
    ['loopback in IPv6', 'http://[::1]/', nowhere],
    ['loopback inside IPv6', 'http://[::ffff:127.0.0.1]/', nowhere],
    ['loopback inside NAT64', 'http://[64:ff9b::7f00:1]/', nowhere],
    ['a name that resolves to loopback', 'http://tools.example/', resolvesTo('127.0.0.1')],
    ['localhost', 'http://localhost/', resolvesTo('127.0.0.1')],
    [
      'a name with one address that is open and one that is not',
      'http://tools.example/',
      () => Promise.resolve(['10.0.0.1', '127.0.0.1']),
    ],
    ['a URL with a user', 'http://user@10.0.0.1/', nowhere],
    ['a port of another protocol', 'http://10.0.0.1:25/', nowhere],
    ['another scheme', 'ftp://10.0.0.1/', nowhere],
  ] satisfies readonly (readonly [string, string, Resolver])[])(
    'open %s to no client, whatever they say',
    async (_name, url, resolver) => {
      const listeners: Listener[] = [await canary(), await canary('::1')];
      closing.push(...listeners.map((each) => () => each.close()));
      entries.set('acme', everything);
      const codes = await clients('', resolver)(url);
      expect(isForbidden(codes.slice(0, 3)), codes.join()).toBe(true);
      expect(codes[3]).not.toBe('answered');
      expect(listeners.map((each) => each.connections())).toEqual([0, 0]);
    },
  );

  it('leave loopback to the installation: where its list has it, the tenant may call it', async () => {
    const listener = await canary();
    closing.push(() => listener.close());
    const codes = clients('http://127.0.0.0/8', nowhere);
    entries.set('acme', 'http://10.0.0.0/8');
    expect(isOpen(await codes(`http://127.0.0.1:${listener.port}/`))).toBe(true);
  });
});

describe('what a tenant’s entry may say', () => {
  it.each([
    ...['https://tools.internal:8443', 'http://10.20.0.0/16', 'tools.corp', '10.0.0.0/8', 'http://192.168.7.9:8080'],
    ...['[fd12:3456::/32]:443', 'fd12::/16', '.corp.example'],
  ])('takes %s', (entry) => {
    expect(tenantEntryProblem(entry)).toBeNull();
  });

  it.each([
    ['', 'must be'],
    ['a, b', 'must be'],
    ['ftp://tools.corp', 'must be'],
    ['tools.corp:0', 'must be'],
    ['*', 'must be'],
    ['0.0.0.0/0', 'never called'],
    ['10.0.0.0/7', 'at least 8 bits'],
    ['1.0.0.0/0', 'at least 8 bits'],
    ['::/0', 'never called'],
    ['fd00::/8', 'at least 16 bits'],
    ['127.0.0.1', 'this machine'],
    ['http://127.0.0.0/8', 'this machine'],
    ['[::1]:80', 'this machine'],
    ['::ffff:127.0.0.1', 'this machine'],
    ['localhost', 'this machine'],
    ['http://api.localhost:80', 'this machine'],
    ['169.254.169.254', 'never called'],
    ['http://169.254.0.0/16', 'never called'],
    ['fe80::/64', 'never called'],
    ['fd00:ec2::254', 'never called'],
  ])('does not take "%s": %s', (entry, why) => {
    expect(tenantEntryProblem(entry)).toContain(why);
  });
});
