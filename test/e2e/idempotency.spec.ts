import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, untilStatus, type System } from './conversation.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

describe('idempotency keys', () => {
  it('I-01 give the first answer to the same message, and the thread has it once', async () => {
    const thread = await openThread(at);
    const path = `/v1/threads/${thread}/messages`;
    const first = await at.request('POST', path, { text: 'once' }, keyed('k-1'));
    const second = await at.request('POST', path, { text: 'once' }, keyed('k-1'));
    expect(second.json).toEqual(first.json);
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    await untilStatus(at, thread, 'idle');
    expect((await eventsOf(at, thread)).filter(({ type }) => type === 'message_accepted')).toHaveLength(1);
  });

  it('refuse another body', async () => {
    const thread = await openThread(at);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'a' }, keyed('k-2'));
    const other = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'b' }, keyed('k-2'));
    expect(other).toMatchObject({ status: 422 });
    expect(other.json.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('open one thread, however often it is asked for', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => at.request('POST', '/v1/threads', { agent: 'assistant' }, keyed('open-1'))),
    );
    const opened = answers.filter(({ status }) => status === 201);
    expect(new Set(opened.map(({ json }) => json.id)).size).toBe(1);
    for (const { status, json } of answers) if (status !== 201) expect(json.code).toBe('IDEMPOTENCY_IN_PROGRESS');
  });

  it('are free again after a refusal', async () => {
    const refused = await at.request('POST', '/v1/threads', { agent: 'nobody' }, keyed('k-3'));
    expect(refused.status).toBe(422);
    expect((await at.request('POST', '/v1/threads', { agent: 'assistant' }, keyed('k-3'))).status).toBe(201);
  });
});

describe('creating the same again', () => {
  it('answers 200 for an identical agent, and the next version for another', async () => {
    const body = { name: 'versioned', model: { provider: 'demo' } };
    const first = await at.request('POST', '/v1/agents', body);
    const same = await at.request('POST', '/v1/agents', body);
    const next = await at.request('POST', '/v1/agents', { ...body, instructions: 'Be brief.' });
    expect([first, same, next].map(({ status, json }) => [status, json.version])).toEqual([
      [201, 1],
      [200, 1],
      [201, 2],
    ]);
    expect((await at.request('GET', '/v1/agents/versioned/versions/1')).json).toEqual(first.json);
    expect(next.json.id).toBe(first.json.id);
  });

  it('answers 200 for an identical tool server and 409 for another of that name', async () => {
    const body = { name: 'twice', base_url: 'https://tools.example' };
    const create = (more: object): Promise<{ readonly status: number }> =>
      at.request('POST', '/v1/tool-servers', { ...body, ...more });
    const same = await Promise.all([create({}), create({})]);
    expect(same.map(({ status }) => String(status)).toSorted()).toEqual(['200', '201']);
    expect((await create({ base_url: 'https://other.example' })).status).toBe(409);
  });

  it('follows if_exists for a taken external id', async () => {
    const body = { agent: 'assistant', external_id: 'ticket-7', title: 'one' };
    const first = await at.request('POST', '/v1/threads', body);
    const same = await at.request('POST', '/v1/threads', body);
    const other = await at.request('POST', '/v1/threads', { ...body, title: 'two' });
    const returned = await at.request('POST', '/v1/threads', { ...body, title: 'two', if_exists: 'return' });
    const failed = await at.request('POST', '/v1/threads', { ...body, if_exists: 'fail' });
    expect([first, same, other, returned, failed].map(({ status }) => status)).toEqual([201, 200, 409, 200, 409]);
    expect(returned.json.id).toBe(first.json.id);
    expect(other.json.code).toBe('ALREADY_EXISTS');
  });
});
