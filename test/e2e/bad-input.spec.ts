import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, openThread, say, type System, untilStatus } from './conversation.ts';
import type { Sent } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let thread: string;
beforeAll(async () => {
  at = await startSystem();
  thread = await openThread(at);
  await untilStatus(at, thread, 'idle');
});
afterAll(endSystems);

const megabytes = (count: number): string => 'x'.repeat(count * 1024 * 1024);
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const model = { provider: 'demo' };

interface Row {
  readonly what: string;
  readonly method?: string;
  readonly path: string | (() => string);
  readonly body?: unknown;
  readonly sent?: Sent;
  readonly status: number;
  readonly code: string;
  readonly pointer?: string;
}

const messages = (): string => `/v1/threads/${thread}/messages`;
const text = { text: 'hello' };

const rows: readonly Row[] = [
  { what: 'malformed JSON', path: messages, body: '{"text": "a"', status: 400, code: 'INVALID_JSON' },
  { what: 'malformed JSON elsewhere', path: '/v1/threads', body: '{agent: 1}', status: 400, code: 'INVALID_JSON' },
  { what: 'no body', path: '/v1/threads', status: 400, code: 'INVALID_JSON' },
  {
    what: 'invalid UTF-8',
    path: messages,
    body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    status: 400,
    code: 'INVALID_JSON',
    sent: { headers: { 'content-type': 'application/json' } },
  },
  {
    what: 'the same key twice',
    path: messages,
    body: '{"text":"a","text":"b"}',
    status: 400,
    code: 'INVALID_JSON',
    pointer: '/text',
  },
  {
    what: 'a key that reaches a prototype',
    path: '/v1/threads',
    body: '{"agent":"assistant","metadata":{"__proto__":{"a":1}}}',
    status: 400,
    code: 'INVALID_JSON',
  },
  { what: 'a lone surrogate', path: messages, body: '{"text":"\\ud800"}', status: 400, code: 'INVALID_JSON' },
  { what: 'an array', path: messages, body: '[]', status: 422, code: 'INVALID_BODY' },
  { what: 'a wrong type', path: messages, body: { text: 7 }, status: 422, code: 'INVALID_BODY' },
  { what: 'an empty text', path: messages, body: { text: '' }, status: 422, code: 'INVALID_BODY' },
  {
    what: 'an unknown field of a message',
    path: messages,
    body: { text: 'a', colour: 'red' },
    status: 422,
    code: 'UNKNOWN_FIELD',
    pointer: '/colour',
  },
  {
    what: 'an unknown field of a thread',
    path: '/v1/threads',
    body: { agent: 'assistant', colour: 'red' },
    status: 422,
    code: 'UNKNOWN_FIELD',
    pointer: '/colour',
  },
  {
    what: 'an unknown field deep inside',
    path: '/v1/agents',
    body: { name: 'a', model: { ...model, size: 1 } },
    status: 422,
    code: 'UNKNOWN_FIELD',
    pointer: '/model/size',
  },
  {
    what: 'a missing field',
    path: '/v1/agents',
    body: { name: 'a', model: { provider: 'openai-compatible', base_url: 'https://models.example' } },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/model/name',
  },
  {
    what: 'an unknown provider',
    path: '/v1/agents',
    body: { name: 'a', model: { provider: 'nobody' } },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/model/provider',
  },
  {
    what: 'more tool servers than an agent may have',
    path: '/v1/agents',
    body: { name: 'a', model, tool_servers: Array.from({ length: 21 }, (_, place) => `server-${place}`) },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/tool_servers',
  },
  {
    what: 'an unknown tool server',
    path: '/v1/agents',
    body: { name: 'a', model, tool_servers: ['none'] },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/tool_servers/0',
  },
  {
    what: 'an unknown secret',
    path: '/v1/tool-servers',
    body: { name: 'x', base_url: 'https://tools.example', auth: { type: 'bearer', secret: 'none' } },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/auth/secret',
  },
  {
    what: 'a URL that is none',
    path: '/v1/tool-servers',
    body: { name: 'x', base_url: 'file:///etc/passwd' },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/base_url',
  },
  ...[
    { what: 'an address that may never be called', body: { base_url: 'http://169.254.169.254' }, pointer: '/base_url' },
    { what: 'a port that is never called', body: { base_url: 'http://127.0.0.1:22' }, pointer: '/base_url' },
    {
      what: 'an endpoint that may never be called',
      body: { base_url: 'http://127.0.0.1:1024', endpoint_override: 'http://10.0.0.1/' },
      pointer: '/endpoint_override',
    },
  ].map(({ what, body, pointer }) => ({
    what: `a tool server at ${what}`,
    path: '/v1/tool-servers',
    body: { name: 'x', ...body },
    status: 422,
    code: 'INVALID_BODY',
    pointer,
  })),
  {
    what: 'an unknown agent',
    path: '/v1/threads',
    body: { agent: 'nobody' },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/agent',
  },
  {
    what: 'an unknown version of an agent',
    path: '/v1/threads',
    body: { agent: 'assistant', agent_version: 99 },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/agent_version',
  },
  { what: 'an unknown thread', path: '/v1/threads/thr_nothing/messages', body: text, status: 404, code: 'NOT_FOUND' },
  { what: 'an unknown path', path: '/v1/nothing', body: text, status: 404, code: 'NOT_FOUND' },
  {
    what: 'an image that is no image',
    path: messages,
    body: { content: [{ type: 'image', data: '!!!!', media_type: 'image/png' }] },
    status: 422,
    code: 'INVALID_BODY',
  },
  {
    what: 'too many items',
    path: messages,
    body: { content: Array.from({ length: 65 }, () => ({ type: 'text', text: 'a' })) },
    status: 422,
    code: 'INVALID_BODY',
  },
  {
    what: 'an oversized body',
    path: messages,
    body: JSON.stringify({ text: megabytes(9) }),
    status: 413,
    code: 'BODY_TOO_LARGE',
  },
  { what: 'an oversized text', path: messages, body: { text: megabytes(5) }, status: 422, code: 'INVALID_BODY' },
  { what: 'a deep body', path: messages, body: `{"text":${nested(40)}}`, status: 422, code: 'BODY_TOO_DEEP' },
  { what: 'a bomb of brackets', path: messages, body: nested(1_000_000), status: 422, code: 'BODY_TOO_DEEP' },
  {
    what: 'another media type',
    path: messages,
    body: 'text=hello',
    sent: { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'another charset',
    path: messages,
    body: '{"text":"a"}',
    sent: { headers: { 'content-type': 'application/json; charset=utf-16' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    what: 'an unknown query parameter',
    method: 'GET',
    path: () => `/v1/threads/${thread}?colour=red`,
    status: 422,
    code: 'UNKNOWN_FIELD',
    pointer: '/colour',
  },
  {
    what: 'a limit that is too large',
    method: 'GET',
    path: '/v1/threads?limit=100000',
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/limit',
  },
  {
    what: 'a position that is none',
    method: 'GET',
    path: () => `/v1/threads/${thread}/events?after=-1`,
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/after',
  },
  {
    what: 'a wrong decision',
    path: () => `/v1/threads/${thread}/choices/chc_1`,
    body: { decision: 'maybe' },
    status: 422,
    code: 'INVALID_BODY',
    pointer: '/decision',
  },
  {
    what: 'an idempotency key that is too long',
    path: messages,
    body: text,
    sent: { headers: { 'idempotency-key': 'k'.repeat(300) } },
    status: 422,
    code: 'INVALID_BODY',
  },
];

describe('bad input', () => {
  it.each(rows)(
    '$what is answered $status $code',
    async ({ method = 'POST', path, body, sent, status, code, pointer }) => {
      const answer = await at.request(method, typeof path === 'string' ? path : path(), body, sent);
      expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        status,
        type: 'application/problem+json',
      });
      const problem = answer.json;
      expect(problem).toMatchObject({
        code,
        status,
        type: `/errors/${code}`,
        instance: answer.headers.get('x-request-id'),
      });
      if (pointer !== undefined)
        expect(problem.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
      expect((await fetch(at.url + problem.type)).status).toBe(200);
    },
  );

  it('stores nothing, and the process lives on', async () => {
    const events = await eventsOf(at, thread);
    expect(events.map(({ type }) => type)).toEqual(['thread_opened', 'toolsets_requested', 'toolsets_loaded']);
    expect((await at.request('GET', '/v1/agents')).json.data).toHaveLength(1);
    expect((await at.request('GET', '/v1/tool-servers')).json.data).toHaveLength(1);
    expect((await at.request('GET', '/v1/threads')).json.data).toHaveLength(1);
    expect((await say(at, thread, 'What is the weather in Lisbon?')).status).toBe('idle');
    expect(at.output()).not.toMatch(/request_failed/);
  });
});
