import { describe, expect, it, vi } from 'vitest';
import { ask, createClient, everyItem } from './client.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
  readonly authorization: string | null;
  readonly body: string;
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const problem = (status: number, code: string): Response =>
  json(status, { type: 'x', title: code, status, code, detail: 'because' }, { 'retry-after': '0' });

function client(answers: readonly (Response | TypeError)[], totalMsMax = 1_000) {
  const seen: Seen[] = [];
  const left = [...answers];
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const request = input as Request;
    seen.push({
      method: request.method,
      url: request.url,
      key: request.headers.get('idempotency-key'),
      authorization: request.headers.get('authorization'),
      body: await request.text(),
    });
    const answer = left.shift() ?? json(200, { id: 'late' });
    if (answer instanceof TypeError) throw answer;
    return answer;
  };
  return {
    seen,
    ...createClient({
      baseUrl: 'http://x',
      key: 'secret',
      fetch,
      retry: { firstPauseMs: 1, pauseMsMax: 2, totalMsMax },
    }),
  };
}

const down = (): TypeError =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
const post = (api: ReturnType<typeof client>['api']) =>
  ask(api.POST('/v1/threads/{id}/messages', { params: { path: { id: 'thr_1' } }, body: { text: 'hi' } }));

describe('a request', () => {
  it('carries the key, and a POST an idempotency key of its own', async () => {
    const { api, seen } = client([json(202, { id: 'msg_1' }), json(202, { id: 'msg_2' })]);
    expect(await post(api)).toEqual({ id: 'msg_1' });
    await post(api);
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: 'http://x/v1/threads/thr_1/messages',
      authorization: 'Bearer secret',
      body: '{"text":"hi"}',
    });
    expect(seen[0]?.key).toMatch(/.{16,}/);
    expect(seen[1]?.key).not.toBe(seen[0]?.key);
  });

  it('carries one also in a page without TLS, where browsers have no randomUUID', async () => {
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
    const { api, seen } = client([json(202, { id: 'msg_1' }), json(202, { id: 'msg_2' })]);
    await post(api);
    await post(api);
    vi.unstubAllGlobals();
    expect(seen[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(seen[1]?.key).not.toBe(seen[0]?.key);
  });

  it('is sent again with the same key and body when nobody answers, on 503, 429, and while it still runs', async () => {
    const { api, seen } = client([
      down(),
      problem(503, 'UNAVAILABLE'),
      problem(429, 'RATE_LIMITED'),
      problem(409, 'IDEMPOTENCY_IN_PROGRESS'),
      json(202, { id: 'msg_1' }),
    ]);
    expect(await post(api)).toEqual({ id: 'msg_1' });
    expect(seen.length).toBe(5);
    expect(new Set(seen.map((each) => `${each.key} ${each.body}`)).size).toBe(1);
  });

  it('is not sent again after a refusal, which is an error with its code', async () => {
    for (const [status, code] of [
      [422, 'INVALID_BODY'],
      [409, 'THREAD_CLOSED'],
      [404, 'NOT_FOUND'],
      [500, 'INTERNAL'],
    ] as const) {
      const { api, seen } = client([problem(status, code)]);
      await expect(post(api)).rejects.toMatchObject({ name: 'ApiProblem', status, code, message: `${code}: because` });
      expect(seen.length).toBe(1);
    }
  });

  it('that a proxy answers with a page is an error too', async () => {
    const { api } = client([new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } })]);
    await expect(post(api)).rejects.toMatchObject({ name: 'ApiProblem', status: 502, code: 'HTTP_502' });
  });

  it('gives up after its time, and says who does not answer and why', async () => {
    const { api } = client(Array.from({ length: 1_000 }, down), 30);
    await expect(post(api)).rejects.toMatchObject({
      name: 'ConnectionProblem',
      message: 'http://x does not answer (ECONNREFUSED)',
    });
  });
});

describe('a list', () => {
  it('is read page by page until there is no cursor', async () => {
    const pages: Record<string, { data: number[]; next_cursor: string | null }> = {
      first: { data: [1, 2], next_cursor: 'b' },
      b: { data: [], next_cursor: 'c' },
      c: { data: [3], next_cursor: null },
    };
    const items: number[] = [];
    for await (const item of everyItem(async (cursor) => pages[cursor ?? 'first'] ?? { data: [], next_cursor: null }))
      items.push(item);
    expect(items).toEqual([1, 2, 3]);
  });
});
