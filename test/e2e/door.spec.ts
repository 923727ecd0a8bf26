// The HTTP server from outside, at its edges: malformed requests, and requests with another host or origin.
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread, type System } from './conversation.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let port: number;
let thread: string;
beforeAll(async () => {
  at = await startSystem();
  port = Number(new URL(at.url).port);
  thread = await openThread(at);
});
afterAll(endSystems);

const traceId = '0af7651916cd43dd8448eb211c80319c';

/** Bytes as they are, and everything that comes back until the connection ends. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

/** fetch would not let us send these. */
function statusOf(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method };
    const sent = httpRequest({ ...options, headers: { authorization: `Bearer ${at.key}`, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end();
  });
}

describe('the door', () => {
  it('tells another media type by its name, on every route', async () => {
    const sent = { headers: { 'content-type': 'text/plain' } };
    for (const path of ['/v1/agents', '/v1/threads', `/v1/threads/${thread}/messages`, `/v1/threads/${thread}/retry`]) {
      const answer = await at.request('POST', path, 'hello', sent);
      expect({ path, status: answer.status, code: answer.json.code }).toEqual({
        path,
        status: 415,
        code: 'UNSUPPORTED_MEDIA_TYPE',
      });
    }
  });

  it('takes a request without a body whatever it says about the body', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const answer = await at.request('POST', `/v1/threads/${thread}/retry`, '', { headers: { 'content-type': type } });
      expect({ type, status: answer.status }).toEqual({ type, status: 202 });
    }
    expect((await at.request('POST', `/v1/threads/${thread}/retry`, {})).status).toBe(202);
  });

  it('refuses a body where none is shown', async () => {
    for (const verb of ['retry', 'close', 'toolsets/refresh', 'tool-calls/call_1/cancel']) {
      const answer = await at.request('POST', `/v1/threads/${thread}/${verb}`, { reason: 'x' });
      expect(answer).toMatchObject({ status: 422, json: { code: 'UNKNOWN_FIELD', errors: [{ pointer: '/reason' }] } });
      expect((await at.request('POST', `/v1/threads/${thread}/${verb}`, '{x')).json.code).toBe('INVALID_JSON');
    }
    expect((await at.request('GET', `/v1/threads/${thread}`)).json.status).not.toBe('closed');
  });

  it('takes a token in the query on the event stream alone', async () => {
    const path = `/v1/threads/${thread}/messages`;
    const { token } = (await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['message'], ttl_s: 60 })).json;
    for (const key of [null, at.key, token]) {
      const answer = await at.request('POST', `${path}?access_token=${token}`, { text: 'hi' }, { key });
      expect([answer.status, answer.json.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
    const unknown = await at.request('POST', `${path}?colour=red`, { text: 'hi' });
    expect(unknown).toMatchObject({ status: 422, json: { errors: [{ pointer: '/colour' }] } });
  });

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])(
    'knows no parameter, choice or thing called %s',
    async (name) => {
      for (const path of ['/v1/threads', '/v1/agents', `/v1/threads/${thread}`, `/v1/threads/${thread}/events`]) {
        const answer = await at.request('GET', `${path}?${name}=1`);
        expect({ path, status: answer.status, code: answer.json.code }).toEqual({
          path,
          status: 422,
          code: 'UNKNOWN_FIELD',
        });
      }
      for (const body of [{ decision: 'allow' }, { selected: 0 }, { dismiss: true }])
        expect((await at.request('POST', `/v1/threads/${thread}/choices/${name}`, body)).status).toBe(404);
      for (const path of ['agents', 'tool-servers', 'threads', 'parked'])
        expect((await at.request('GET', `/v1/${path}/${name}`)).status).toBe(404);
    },
  );

  it('finds nothing where an address cannot be one of ours', async () => {
    for (const path of [
      '/v1/threads/%zz',
      '/v1/threads/%ff',
      `/v1/threads/${'x'.repeat(5_000)}`,
      '/v1/agents/',
      '/v1',
    ]) {
      const { json, headers } = await at.request('GET', path);
      expect([json.code, headers.get('x-request-id')]).toEqual(['NOT_FOUND', json.instance]);
    }
  });

  it('says which methods a path takes to one that it does not take', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const refused = await at.request(method, '/v1/agents', undefined, { key: null });
      expect([refused.status, refused.json.code, refused.headers.get('allow')]).toEqual([
        ...[405, 'METHOD_NOT_ALLOWED', 'GET, HEAD, POST'],
      ]);
    }
    const page = await at.request('POST', '/openapi.json', {});
    expect([page.status, page.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await at.request('GET', `/v1/threads/${thread}/retry`)).headers.get('allow')).toBe('POST');
    expect((await at.request('PATCH', '/v1/nothing', {})).status).toBe(404);
  });

  it('answers HEAD of the event stream, and does not go on', async () => {
    expect(await statusOf('HEAD', `/v1/threads/${thread}/events`, { accept: 'text/event-stream' })).toBe(200);
  });

  it('says in a problem document what is no request at all', async () => {
    const large = await exchange(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    const garbage = await exchange('hello\r\n\r\n');
    expect(garbage).toMatch(/^HTTP\/1\.1 400 /);
    for (const [answer, code] of [[large, 'HEADERS_TOO_LARGE'] as const, [garbage, 'MALFORMED_REQUEST'] as const]) {
      expect(answer).toContain('content-type: application/problem+json');
      expect(answer).toContain(`"type":"/errors/${code}"`);
      expect((await at.request('GET', `/errors/${code}`)).status).toBe(200);
    }
  });

  it('names the scheme with a 401, and the trace of who sends one', async () => {
    const refused = await at.request('GET', '/v1/agents', undefined, { key: null });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    const traced = { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } };
    for (const path of ['/v1/threads/thr_x', '/v1/threads/thr_x/events', '/v1/nothing'])
      expect((await at.request('GET', path, undefined, traced)).json.trace_id).toBe(traceId);
    expect((await at.request('GET', '/v1/threads/thr_x')).json.trace_id).toBeNull();
  });

  it('points at the time zone that it does not know', async () => {
    const body = { cron: '0 9 * * 1', time_zone: 'Nowhere/Zone', message: 'm' };
    const answer = await at.request('POST', `/v1/threads/${thread}/schedules`, body);
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ pointer: '/time_zone' }] } });
  });
});
