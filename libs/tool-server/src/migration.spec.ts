import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { MigrateHook } from './migration.ts';
import { bench, later } from './spec/bench.ts';
import { defineTool } from './tool.ts';

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
      expect(performance.now() - before).toBeLessThan(2_000);
      expect([response.status, text]).toEqual([status, expect.stringMatching(message)]);
      expect(text).not.toContain('pw=1');
    },
  );

  it('T38 T45 needs the authentication of an invocation', async () => {
    const at = await bench({ tools, migrate: async () => {}, auth: { bearer: 'correct-horse' } });
    expect((await at.post('/migrate', { session_id: 's', destination_url: 'http://127.0.0.1:9' })).status).toBe(401);
  });
});
