// Thread tokens: what a browser holds instead of a key.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingChild, openThread, type System } from '../e2e/conversation.ts';
import type { Answer } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

interface Token {
  readonly token: string;
  readonly id: string;
  readonly expires_at: string;
}

async function tokenFor(thread: string, more: object = {}): Promise<Token> {
  const answer = await at.request('POST', `/v1/threads/${thread}/tokens`, {
    can: ['read', 'message', 'answer'],
    ...more,
  });
  expect(answer.status).toBe(201);
  return answer.json;
}

const as = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  at.request(method, path, body, { key });

/** The stream as a browser's EventSource reads it; resolves when the server ends it. */
async function streamed(
  thread: string,
  token: string,
): Promise<{ readonly status: number; readonly ended: Promise<number> }> {
  const answer = await fetch(`${at.url}/v1/threads/${thread}/events?access_token=${token}`, {
    headers: { accept: 'text/event-stream' },
  });
  const ended = (async () => {
    for await (const _chunk of answer.body ?? []);
    return performance.now();
  })();
  return { status: answer.status, ended };
}

describe('a token of a thread', () => {
  it('has an id and an end, and by default an hour', async () => {
    const thread = await openThread(at);
    const { id, expires_at: expiresAt } = await tokenFor(thread);
    expect(id).toMatch(/^tok_[0-9A-Z]{26}$/);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_500_000);
    expect((await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], scope: 'all' })).status).toBe(
      422,
    );
    expect((await at.request('POST', '/v1/threads/thr_none/tokens', { can: ['read'] })).status).toBe(404);
  });

  it('opens no other thread, and its family when it was made so', async () => {
    const { parent: root, child, choice } = await askingChild(at);
    const [alone, family] = [await tokenFor(root), await tokenFor(root, { scope: 'family' })];
    const other = await openThread(at);
    for (const [token, statuses] of [
      [alone.token, [200, 403, 403]],
      [family.token, [200, 200, 403]],
    ] as const) {
      const read = await Promise.all([root, child, other].map((thread) => as(token, 'GET', `/v1/threads/${thread}`)));
      expect(read.map(({ status }) => status)).toEqual(statuses);
    }
    expect((await as(family.token, 'GET', '/v1/choices')).status).toBe(403);
    expect((await as(alone.token, 'POST', `/v1/choices/${choice}`, { decision: 'deny' })).status).toBe(403);
    expect((await as(family.token, 'POST', `/v1/choices/${choice}`, { decision: 'deny' })).status).toBe(202);
    const reader = await tokenFor(root, { scope: 'family', can: ['read'] });
    expect((await as(reader.token, 'POST', `/v1/threads/${child}/messages`, { text: 'x' })).status).toBe(403);
    expect((await as(family.token, 'POST', `/v1/threads/${child}/messages`, { text: 'x' })).status).toBe(202);
  });

  it('is shown no answer that was given for a choice of another thread', async () => {
    const { parent: root, choice } = await askingChild(at);
    const [family, stranger] = [await tokenFor(root, { scope: 'family' }), await tokenFor(await openThread(at))];
    const answered = (token: string): Promise<Answer> => {
      const headers = { 'idempotency-key': 'the same' };
      return at.request('POST', `/v1/choices/${choice}`, { decision: 'deny' }, { key: token, headers });
    };
    const first = await answered(family.token);
    expect(first.status).toBe(202);
    expect((await answered(stranger.token)).status).toBe(422);
    expect((await answered((await tokenFor(root, { scope: 'family' })).token)).text).toBe(first.text);
  });
});

describe('the end of a token', () => {
  it('ends its streams within a second of its revocation, and no others', async () => {
    const thread = await openThread(at);
    const [one, other] = [await tokenFor(thread), await tokenFor(thread)];
    const [ending, staying] = [await streamed(thread, one.token), await streamed(thread, other.token)];
    expect([ending.status, staying.status]).toEqual([200, 200]);
    let isOver = false;
    void staying.ended.then(() => (isOver = true));
    const revoked = await at.request('DELETE', `/v1/threads/${thread}/tokens/${one.id}`);
    const revokedAt = performance.now();
    expect(revoked.status).toBe(204);
    expect((await as(one.token, 'GET', `/v1/threads/${thread}`)).status).toBe(401);
    expect((await ending.ended) - revokedAt).toBeLessThan(1_000);
    await sleep(1_000);
    expect(isOver).toBe(false);
    expect((await as(other.token, 'GET', `/v1/threads/${thread}`)).status).toBe(200);
    expect((await at.request('DELETE', `/v1/threads/${thread}/tokens/${one.id}`)).status).toBe(204);
    expect((await at.request('DELETE', `/v1/threads/${thread}/tokens/other`)).status).toBe(404);
    await at.request('DELETE', `/v1/threads/${thread}/tokens/${other.id}`);
    await staying.ended;
  });

  it('ends its streams within a second of its time', async () => {
    const thread = await openThread(at);
    const { token, expires_at: expiresAt } = await tokenFor(thread, { ttl_s: 1 });
    const { ended } = await streamed(thread, token);
    await ended;
    expect(Date.now() - Date.parse(expiresAt)).toBeLessThan(1_000);
    expect((await as(token, 'GET', `/v1/threads/${thread}`)).status).toBe(401);
  });
});
