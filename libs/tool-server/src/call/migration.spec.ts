import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { MigrateHook } from './migration.ts';
import { type Bench, bench, later } from '../spec/bench.ts';
import { defineTool } from '../define/tool.ts';
import type { Subscription } from './subscription.ts';

const tools = [defineTool({ name: 'ping', description: 'Answers.', input: z.strictObject({}) }, () => 'pong')];

async function destination(answer: 'same' | 'other' | 'silent'): Promise<string> {
  const manifest = {
    name: answer === 'same' ? 'bench' : 'stranger',
    endpoint: 'http://x.test/',
    tools: [] as unknown[],
  };
  manifest.tools.push({ name: 'ping', description: 'Answers.', inputSchema: { type: 'object' } });
  const server = createServer((_request, response) => {
    if (answer !== 'silent') response.end(JSON.stringify(manifest));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('/migrate', () => {
  it('T5 is there only for a server that needs it', async () => {
    const body = { session_id: 'thr_1', destination_url: await destination('same') };
    const plain = await bench({ tools });
    expect((await plain.post('/migrate', body)).status).toBe(404);
    const moving = await bench({ tools, migrate: async () => {} });
    const manifest = await (await fetch(`${moving.server.url}/.well-known/rap-toolset`)).json();
    expect(manifest).toMatchObject({ needsMigration: true });
    expect((await moving.post('/migrate', body)).status).toBe(200);
  });

  it('T45 answers 200 only when the destination has everything', async () => {
    let moved = false;
    const hook: MigrateHook = async ({ sessionId }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      moved = sessionId === 'thr_1';
    };
    const at = await bench({ tools, migrate: hook });
    const response = await at.post('/migrate', { session_id: 'thr_1', destination_url: await destination('same') });
    expect([response.status, moved]).toEqual([200, true]);
  });

  it.each<[string, () => Promise<unknown>, MigrateHook, number, RegExp]>([
    ['a dead destination', async () => 'http://127.0.0.1:9/', async () => {}, 502, /does not answer/],
    ['another server', () => destination('other'), async () => {}, 502, /another server/],
    ['no URL', async () => 'nowhere', async () => {}, 422, /destination_url/],
    ['a hook that fails', () => destination('same'), () => Promise.reject(new Error('pw=1')), 500, /failed/],
    ['a hook that hangs', () => destination('same'), () => new Promise(() => {}), 504, /not finish in time/],
  ])(
    'T45 answers %s quickly with an error and a message without secrets',
    async (_what, url, migrate, status, message) => {
      const at = await bench({ tools, migrate, limits: { migrateMsMax: 60 } });
      const before = performance.now();
      const response = await at.post('/migrate', { session_id: 'thr_1', destination_url: await url() });
      const text = await response.text();
      expect(performance.now() - before).toBeLessThan(10_000);
      expect([response.status, text]).toEqual([status, expect.stringMatching(message)]);
      expect(text).not.toContain('pw=1');
    },
  );

  it('T38 T45 needs the authentication of an invocation', async () => {
    const at = await bench({ tools, migrate: async () => {}, auth: { bearer: 'correct-horse' } });
    expect((await at.post('/migrate', { session_id: 's', destination_url: 'http://127.0.0.1:9' })).status).toBe(401);
  });
});

describe('a family that is handed over', () => {
  const key = new Uint8Array(32).fill(1);
  const resumed: Subscription[] = [];
  const ended: string[] = [];
  const watch = defineTool(
    {
      name: 'watch',
      description: 'Watches.',
      input: z.strictObject({ what: z.string().default('door') }),
      resume: (subscription) => void resumed.push(subscription),
      ended: ({ id }) => void ended.push(id),
    },
    async ({ what }, context) => {
      context.memory.set('last', what);
      await context.subscribe({ data: { what } });
    },
  );
  const recall = defineTool({ name: 'recall', description: 'Recalls.', input: z.strictObject({}) }, (_, { memory }) =>
    JSON.stringify(memory.get('last')),
  );
  const serving = (more: object = {}): Promise<Bench> => bench({ tools: [watch, recall], handoverKey: key, ...more });
  const move = (from: Bench, to: string): Promise<Response> =>
    from.post('/migrate', { session_id: 'thr_1', destination_url: to });
  const events = (at: Bench): readonly unknown[] =>
    at.sink.delivered
      .map(({ body }): unknown => JSON.parse(body))
      .filter((message) => (message as { type: string }).type === 'subscription_event');

  it('T5 T45 goes on at its destination: subscriptions of the root and its children, and what was remembered', async () => {
    const [from, to] = [await serving(), await serving()];
    expect(await (await fetch(`${from.server.url}/.well-known/rap-toolset`)).json()).toMatchObject({
      needsMigration: true,
    });
    const root = await from.invoke('watch', {}, { call_id: 'p_1' });
    const child = await from.invoke('watch', { what: 'window' }, { group_id: 'thr_2', thread_ancestors: ['thr_1'] });
    await from.invoke('watch', { what: 'other' }, { group_id: 'thr_9' });
    await from.sink.until(3);
    const kept = from.server.subscriptions('watch').find(({ callId }) => callId === root);
    expect((await move(from, to.server.url)).status).toBe(200);
    expect(from.server.subscriptions().map(({ threadId }) => threadId)).toEqual(['thr_9']);
    expect([kept?.emit('from here'), kept?.signal.aborted, ended]).toEqual(['ended', true, []]);
    const woken = new Map(resumed.map((subscription) => [subscription.callId, subscription]));
    expect([root, child].map((id) => [id, woken.get(id)?.data])).toEqual([
      [root, { what: 'door' }],
      [child, { what: 'window' }],
    ]);
    expect(woken.get(root)?.emit('from there', { associative: true })).toBe('emitted');
    await from.sink.until(4); // the callback URL is the same
    expect(events(from)).toEqual([
      {
        type: 'subscription_event',
        group_id: 'thr_1',
        tool_call_id: root,
        text: 'from there',
        associative: true,
        final: false,
      },
    ]);
    expect(await to.ask('recall')).toBe('"window"');
    await to.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: root });
    await expect.poll(() => to.server.subscriptions().length).toBe(1);
  });

  it('T45 comes back from its destination as it went: another server of the same family may have refused', async () => {
    const [from, to] = [await serving(), await serving()];
    const id = await from.invoke('watch', {});
    await from.sink.until(1);
    expect((await move(from, to.server.url)).status).toBe(200);
    resumed.length = 0;
    expect((await move(to, from.server.url)).status).toBe(200);
    expect(to.server.subscriptions()).toEqual([]);
    expect(resumed.map(({ callId, data }) => [callId, data])).toEqual([[id, { what: 'door' }]]);
    expect(resumed[0]?.emit('back home')).toBe('emitted');
    await from.sink.until(2);
    expect(events(from)).toMatchObject([{ tool_call_id: id, text: 'back home' }]);
    expect(await from.ask('recall')).toBe('"door"');
  });

  it('T45 stays where it is when the destination has another key, or no key', async () => {
    const from = await serving();
    await from.ask('watch');
    for (const other of [{ handoverKey: new Uint8Array(32).fill(2) }, { handoverKey: undefined }]) {
      const to = await serving(other);
      const response = await move(from, to.server.url);
      expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('failed')]);
      expect(to.server.subscriptions()).toEqual([]);
      expect(from.server.subscriptions()).toHaveLength(1);
    }
  });

  it('T32 T45 travels sealed, is taken once, and cannot be brought back later', async () => {
    const [from, to] = [await serving(), await serving()];
    const bodies: Uint8Array[] = [];
    const between = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
        const body = Buffer.concat(chunks);
        if (request.method === 'POST') bodies.push(body);
        const sent = request.method === 'POST' ? { method: 'POST', body } : {};
        const answer = await fetch(`${to.server.url}${request.url}`, sent);
        response.statusCode = answer.status;
        response.end(Buffer.from(await answer.arrayBuffer()));
      })();
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    later(async () => void between.close());
    await from.ask('watch', { what: 'very secret door' });
    expect((await move(from, `http://127.0.0.1:${(between.address() as AddressInfo).port}`)).status).toBe(200);
    const [piece] = bodies;
    expect(bodies).toHaveLength(1);
    for (const secret of [from.sink.url, 'very secret door', 'thr_1'])
      expect(Buffer.from(piece ?? []).includes(secret)).toBe(false);
    const again = (body: Uint8Array | undefined): Promise<Response> =>
      fetch(`${to.server.url}/handover`, { method: 'POST', body: new Uint8Array(body ?? []) });
    expect((await again(piece)).status).toBe(200);
    expect(to.server.subscriptions()).toHaveLength(1);
    expect((await again(Buffer.from('no piece at all'))).status).toBe(403);
    const flipped = Buffer.from(piece ?? []);
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    expect((await again(flipped)).status).toBe(403);
    const now = Date.now;
    later(async () => void (Date.now = now));
    Date.now = () => now() + 301_000;
    expect((await again(piece)).status).toBe(410);
  });
});
