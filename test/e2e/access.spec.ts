import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../services/free-ports.ts';
import { openThread, scriptedAgent, type System } from './conversation.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let port: number;
beforeAll(async () => {
  at = await startSystem();
  port = Number(new URL(at.url).port);
});
afterAll(endSystems);

/** fetch would not let us send these headers. */
function statusWith(headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path: '/v1/agents',
        headers: { authorization: `Bearer ${at.key}`, ...headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', reject).end();
  });
}

describe('access', () => {
  it('needs a key, always', async () => {
    for (const key of [null, 'wrong', `${at.key}x`]) {
      const answer = await at.request('GET', '/v1/agents', undefined, { key });
      expect([answer.status, answer.json.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });

  it('answers to its own names only, so that no page can reach it through a name of its own', async () => {
    expect(await statusWith({ host: `localhost:${port}` })).toBe(200);
    expect(await statusWith({ host: 'evil.example' })).toBe(403);
    expect(await statusWith({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusWith({ origin: 'null' })).toBe(403);
    expect(await statusWith({ origin: `http://127.0.0.1:${port}` })).toBe(200);
  });

  it('gives a key no more than its scopes, and nothing after it expired', async () => {
    const make = async (body: object): Promise<string> =>
      (await at.request('POST', '/v1/api-keys', { name: 'k', ...body })).json.key;
    const reader = await make({ scopes: ['read'] });
    expect((await at.request('GET', '/v1/agents', undefined, { key: reader })).status).toBe(200);
    const refused = await at.request('POST', '/v1/threads', { agent: 'assistant' }, { key: reader });
    expect([refused.status, refused.json.code]).toEqual([403, 'FORBIDDEN']);
    const past = { name: 'k', scopes: ['read'], expires_at: '2020-01-01T00:00:00.000Z' };
    expect((await at.request('POST', '/v1/api-keys', past)).status).toBe(422);
    const soon = await make({ scopes: ['read'], expires_at: new Date(Date.now() + 1_500).toISOString() });
    await expect.poll(async () => (await at.request('GET', '/v1/agents', undefined, { key: soon })).status).toBe(401);
  });

  it('lists keys without their text, and takes one back at once', async () => {
    const made = (await at.request('POST', '/v1/api-keys', { name: 'short', scopes: ['read'] })).json;
    const listed = (await at.request('GET', '/v1/api-keys')).text;
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.key);
    const lastUse = async (): Promise<string | null | undefined> =>
      (await at.request('GET', '/v1/api-keys')).json.data.find(({ id }: Json) => id === made.id)?.last_used_at;
    expect(await lastUse()).toBeNull();
    expect((await at.request('GET', '/v1/agents', undefined, { key: made.key })).status).toBe(200);
    await expect.poll(lastUse).toMatch(/^\d{4}-/);
    expect((await at.request('DELETE', `/v1/api-keys/${made.id}`)).status).toBe(204);
    expect((await at.request('GET', '/v1/agents', undefined, { key: made.key })).status).toBe(401);
    expect((await at.request('DELETE', '/v1/api-keys/key_none')).status).toBe(404);
    const { data } = (await at.request('GET', '/v1/api-keys')).json;
    expect(data.find(({ id }: Json) => id === made.id)?.revoked_at).toMatch(/^\d{4}-/);
  });

  it('gives no answer to who still waits for it with a key that was revoked meanwhile', async () => {
    const agent = await scriptedAgent(at, [[{ wait_ms: 8_000 }, { text: 'an answer' }]], { tool_servers: [] });
    const thread = await openThread(at, agent);
    const made = (await at.request('POST', '/v1/api-keys', { name: 'waiting', scopes: ['threads:write'] })).json;
    const sent = { key: made.key, headers: { prefer: 'wait=60' } };
    const waiting = at.request('POST', `/v1/threads/${thread}/messages`, { text: 'hello' }, sent);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await at.request('DELETE', `/v1/api-keys/${made.id}`)).status).toBe(204);
    const answer = await waiting;
    expect([answer.status, answer.text]).toEqual([202, expect.not.stringContaining('an answer')]);
  });

  it('shows the same key or token again to who repeats the request', async () => {
    const thread = await openThread(at);
    const again = { headers: { 'idempotency-key': 'shown-once' } };
    const posted = (path: string, body: object) => at.request('POST', path, body, again);
    for (const [path, body] of [
      ['/v1/api-keys', { name: 'kept', scopes: ['read'] }],
      [`/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 }],
    ] as const) {
      const first = await posted(path, body);
      const second = await posted(path, body);
      expect(second.headers.get('idempotency-replayed')).toBe('true');
      expect(second.json).toEqual(first.json);
    }
  });

  it('lets a thread token do what it can, in its thread only', async () => {
    const [thread, other] = [await openThread(at), await openThread(at)];
    const { token: key } = (
      await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read', 'message'], ttl_s: 60, user_id: 'ann' })
    ).json;
    const status = async (method: string, path: string, body?: unknown): Promise<number> =>
      (await at.request(method, path, body, { key })).status;
    expect(await status('GET', `/v1/threads/${thread}`)).toBe(200);
    expect(await status('POST', `/v1/threads/${thread}/messages`, { text: 'hi' })).toBe(202);
    expect(await status('POST', `/v1/threads/${thread}/choices/chc_1`, { decision: 'allow' })).toBe(403);
    expect(await status('POST', `/v1/threads/${thread}/close`)).toBe(403);
    expect(await status('GET', `/v1/threads/${other}`)).toBe(403);
    expect(await status('GET', '/v1/threads')).toBe(403);
    expect(await status('POST', `/v1/threads/${thread}/tokens`, { can: ['answer'], ttl_s: 60 })).toBe(403);
  });

  it('never gives a secret back', async () => {
    const value = 'canary-secret-value';
    expect((await at.request('PUT', '/v1/secrets/llm', { value, origins: ['https://models.example'] })).status).toBe(
      204,
    );
    const list = await at.request('GET', '/v1/secrets');
    expect(list.json.data).toMatchObject([{ name: 'llm', origins: ['https://models.example'] }]);
    expect(list.text).not.toContain(value);
    await at.request('POST', '/v1/tool-servers', {
      name: 'uses',
      base_url: 'https://models.example',
      auth: { type: 'bearer', secret: 'llm' },
    });
    expect((await at.request('DELETE', '/v1/secrets/llm')).json.code).toBe('SECRET_IN_USE');
    expect((await at.request('DELETE', '/v1/tool-servers/uses')).status).toBe(204);
    expect((await at.request('DELETE', '/v1/secrets/llm')).status).toBe(204);
  });

  it('keeps an agent that threads use', async () => {
    expect((await at.request('DELETE', '/v1/agents/assistant')).json.code).toBe('AGENT_IN_USE');
  });

  it('probes a tool server on demand', async () => {
    const report = (await at.request('POST', '/v1/tool-servers/example-tools/probe')).json;
    expect(report).toMatchObject({ ok: true, problems: [], toolset: { name: 'example-tools' } });
    expect(report.sha256).toMatch(/^[0-9a-f]{64}$/);
    await at.request('POST', '/v1/tool-servers', { name: 'gone', base_url: `http://127.0.0.1:${await freePort()}` });
    expect((await at.request('POST', '/v1/tool-servers/gone/probe')).json).toMatchObject({ ok: false, toolset: null });
  });
});
