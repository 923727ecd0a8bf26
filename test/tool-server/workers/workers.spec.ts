// A tool server in a real workerd, the runtime of Cloudflare Workers, as docs/guides/write-a-tool-server.md shows it.
// workerd compiles no code at run time and has no SQLite. Not shown: the limits of Cloudflare's own network.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Callback, parseCallback, parseToolset } from '@dormouse/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cleanUp, startStandalone } from '../../e2e/standalone-process.ts';
import { serviceCache } from '../../services/service-cache.ts';
import { workerd } from '../../services/workerd.ts';

const source = join(import.meta.dirname, 'tools-worker.ts');
const bearer = 'a shared secret';
let missing: string | null = null;
let folder: string;
let at: { readonly url: string; readonly stop: () => Promise<void> };
let callbacks: Callbacks;

interface Callbacks {
  readonly url: string;
  readonly came: readonly Callback[];
  /** Statuses of the next answers; 200 when none is left. */
  readonly answers: number[];
  readonly server: Server;
}

beforeAll(async () => {
  const found = await workerd(serviceCache, console.info);
  if (!found.available) {
    missing = found.reason;
    return;
  }
  folder = await mkdtemp(join(tmpdir(), 'dormouse-workers-'));
  found.workerd.bundle(source, join(folder, 'worker.js'), ['dormouse-source', 'workerd', 'worker', 'browser']);
  at = await found.workerd.start(folder, { module: 'worker.js', compatibilityDate: '2026-08-04' });
  callbacks = await takeCallbacks();
});
afterAll(async () => {
  await at?.stop();
  callbacks?.server.closeAllConnections();
  callbacks?.server.close();
  await cleanUp();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
beforeEach((context) => {
  if (missing !== null) context.skip(missing);
});

async function takeCallbacks(): Promise<Callbacks> {
  const [came, answers]: [Callback[], number[]] = [[], []];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      response.writeHead(answers.shift() ?? 200).end();
      const parsed = parseCallback(JSON.parse(text));
      if (parsed.ok) came.push(parsed.callback);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came, answers, server };
}

let calls = 0;
const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${at.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}`, ...headers },
    body: JSON.stringify(body),
  });
async function invoke(place: string, operation: string, given: object = {}): Promise<string> {
  const id = `call_${++calls}`;
  const call = { operation, arguments: given, id, callback_url: `${callbacks.url}/c/${id}`, group_id: 'thr_1' };
  expect((await post(`${place}/invoke`, call)).status).toBe(200);
  return id;
}
async function callback<Type extends Callback['type']>(
  type: Type,
  wanted: (callback: Extract<Callback, { type: Type }>) => boolean,
): Promise<Extract<Callback, { type: Type }>> {
  const find = (): Callback | undefined =>
    callbacks.came.find((each) => each.type === type && wanted(each as Extract<Callback, { type: Type }>));
  await expect.poll(find).toBeDefined();
  return find() as Extract<Callback, { type: Type }>;
}
const resultOf = async (id: string): Promise<string | undefined> =>
  (await callback('tool_result', (each) => each.id === id)).text;

/** A call that was cut off before the other specs run, and whose end the last one sees. */
let cutOff: string;
beforeAll(async () => {
  if (missing === null) cutOff = await invoke('/cut', 'hang');
});

describe.each(['/isolate', '/object'])('a tool server in Workers, at %s', (place) => {
  it('T1 T2 T38 has a manifest, and refuses a call without the credential', async () => {
    const answer = await fetch(`${at.url}${place}/.well-known/rap-toolset`);
    const manifest = parseToolset(await answer.json());
    if (!manifest.ok) throw new Error(JSON.stringify(manifest.problems));
    expect(manifest.toolset.endpoint).toBe(`${at.url}${place}/invoke`);
    expect((await fetch(manifest.toolset.endpoint, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await post(`${place}/invoke`, {})).status).toBe(422);
    expect((await fetch(`${at.url}${place}/readyz`)).status).toBe(200);
    expect((await fetch(`${at.url}${place}/nowhere`)).status).toBe(404);
  });

  it('T8 T9 acknowledges, sends the result after the answer, and judges arguments by their schema', async () => {
    expect(await resultOf(await invoke(place, 'echo', { text: 'hé' }))).toBe('hé');
    expect(await resultOf(await invoke(place, 'slow'))).toBe('done');
    expect(await resultOf(await invoke(place, 'echo', { text: '' }))).toMatch(/^Error: these arguments do not fit/);
  });

  it('T15 sends a result again after 5xx', async () => {
    callbacks.answers.push(503, 503);
    const id = await invoke(place, 'echo', { text: 'again' });
    expect(await resultOf(id)).toBe('again');
    await expect.poll(() => callbacks.came.filter((each) => 'id' in each && each.id === id).length).toBe(3);
  });

  it('remembers in its memory, from one request to the next', async () => {
    const [one, other] = [
      await resultOf(await invoke(place, 'remember')),
      await resultOf(await invoke(place, 'remember')),
    ];
    expect(Number(other)).toBe(Number(one) + 1);
  });

  it('T43 T10 takes an answer in another request than the one that asked', async () => {
    const id = await invoke(place, 'pick');
    const question = await callback('user_choice', (each) => each.id === id);
    const { pathname } = new URL(question.responseUrl);
    expect(pathname).toMatch(new RegExp(`^${place}/choice/`));
    expect((await post(pathname, { id, selected: 1 })).status).toBe(200);
    expect(await resultOf(id)).toBe('right');
  });

  it('T36 cancels a call in another request than its own', async () => {
    const id = await invoke(place, 'slow');
    const notice = { thread_id: 'thr_1', tool_call_id: id };
    expect((await post(`${place}/cancel_tool_call`, notice)).status).toBe(200);
    expect(await resultOf(await invoke(place, 'slow'))).toBe('done'); // which takes as long
    expect(callbacks.came.filter((each) => 'id' in each && each.id === id)).toEqual([]);
  });

  it('T28 T31 T30 subscribes, sends events of a webhook, and none after it is cancelled', async () => {
    const id = await invoke(place, 'watch');
    expect(await callback('tool_result', (each) => each.id === id)).toMatchObject({ subscription: true });
    const news = async (payload: object, secret = 'the secret of the source'): Promise<number> => {
      const signature = createHmac('sha256', secret).update(JSON.stringify(payload)).digest('hex');
      return (await post(`${place}/news`, payload, { 'x-hub-signature-256': `sha256=${signature}` })).status;
    };
    expect(await news({ title: 'forged' }, 'another')).toBe(401);
    expect(await news({ title: `one ${place}` })).toBe(202);
    const event = await callback('subscription_event', (each) => each.toolCallId === id);
    expect(event.text).toBe(JSON.stringify({ title: `one ${place}` }));
    expect((await post(`${place}/cancel_tool_call`, { thread_id: 'thr_1', tool_call_id: id })).status).toBe(200);
    expect(await news({ title: 'two' })).toBe(202);
    expect(await resultOf(await invoke(place, 'echo', { text: 'after it' }))).toBe('after it');
    expect(callbacks.came.filter((each) => each.type === 'subscription_event' && each.toolCallId === id)).toHaveLength(
      1,
    );
  });
});

describe('a tool server in Workers', () => {
  it('is probed, and called by an agent of a runtime', async () => {
    const runtime = await startStandalone();
    const secret = { value: bearer, origins: [at.url] };
    expect((await runtime.request('PUT', '/v1/secrets/worker', secret)).status).toBeLessThan(300);
    const server = { name: 'worker', base_url: `${at.url}/object`, auth: { type: 'bearer', secret: 'worker' } };
    const added = await runtime.request('POST', '/v1/tool-servers', server);
    expect(added.status, added.text).toBe(201);
    const { json: report } = await runtime.request('POST', '/v1/tool-servers/worker/probe');
    expect(report).toMatchObject({ ok: true, problems: [], toolset: { name: 'worker' } });
    const script = [[{ tool_call: { name: 'echo', arguments: { text: 'from a Worker' } } }], [{ text: 'done' }]];
    const agent = { name: 'asker', model: { provider: 'scripted', parameters: { script } }, tool_servers: ['worker'] };
    expect((await runtime.request('POST', '/v1/agents', agent)).status).toBe(201);
    const { json: thread } = await runtime.request('POST', '/v1/threads', { agent: 'asker', message: { text: 'go' } });
    const outcome = async (): Promise<unknown> => {
      const { json } = await runtime.request('GET', `/v1/threads/${thread.id}/events?limit=200`);
      return json.data.find(({ type }: { type: string }) => type === 'tool_call_settled')?.content[0].text;
    };
    await expect.poll(outcome).toBe('from a Worker');
  });

  it('has no data directory, and says so', async () => {
    const answer = await fetch(`${at.url}/durable/.well-known/rap-toolset`);
    expect([answer.status, await answer.text()]).toEqual([
      500,
      'a data directory needs Node 22.16 or newer (node:sqlite), and this is Cloudflare Workers; ' +
        'leave out `dataDir` to keep everything in memory.',
    ]);
  });

  it('T11 ends a call that the platform has cut off, at a later request', async () => {
    const found = async (): Promise<string | undefined> => {
      expect((await fetch(`${at.url}/cut/readyz`)).status).toBe(200);
      const result = callbacks.came.find((each) => each.type === 'tool_result' && each.id === cutOff);
      return result?.type === 'tool_result' ? result.text : undefined;
    };
    await expect.poll(found).toBe('Error: the tool did not finish within 1 s and was stopped.');
  });

  it('compiles no code when it runs, and is bundled without a port', () => {
    const bundle = readFileSync(join(folder, 'worker.js'), 'utf8');
    expect(bundle).toContain('toFetchHandler');
    expect(bundle).not.toContain('listen('); // `serve` is left out
    expect(bundle).not.toMatch(/from "ajv/);
  });
});
