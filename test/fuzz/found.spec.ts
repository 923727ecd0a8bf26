// What fuzzing has found, each by itself: requests as bytes, because no client of HTTP sends them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { exchange } from './exchange.ts';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone({ args: ['--no-example-tools'] });
});
afterAll(cleanUp);

/** The answers to requests that are sent in one write. */
async function sent(...requests: readonly (readonly [lines: readonly string[], body?: string])[]) {
  const bytes = requests.map(([lines, body = '']) => `${lines.join('\r\n')}\r\n\r\n${body}`).join('');
  const methods = requests.map(([[line = '']]) => line.split(' ')[0] ?? '');
  const { answers } = await exchange({
    ...{ host: '127.0.0.1', port: at.port, bytes: Buffer.from(bytes), methods, answersMax: requests.length },
    manner: 'whole',
    ...{ seed: 1, withinMs: 30_000 },
  });
  return answers.map(({ status, headers, body }) => ({
    status,
    type: headers.get('content-type'),
    json: JSON.parse(body.toString()),
  }));
}

const host = (): string => `host: 127.0.0.1:${at.port}`;
const problem = 'application/problem+json';

describe('a request', () => {
  it('without a Host is refused with a problem document', async () => {
    const [answer] = await sent([['GET /healthz HTTP/1.1']]);
    expect(answer).toMatchObject({ status: 400, type: problem, json: { code: 'MALFORMED_REQUEST', status: 400 } });
  });

  it('with an expectation that is none is answered as without it', async () => {
    const [answer] = await sent([['GET /healthz HTTP/1.1', host(), 'expect: something']]);
    expect(answer).toMatchObject({ status: 200, json: { status: 'ok' } });
  });

  it('that waits for 100 Continue behind another one is answered with nothing in its answer', async () => {
    const waiting = ['POST /v1/threads HTTP/1.1', host(), 'expect: 100-continue', 'content-length: 2'];
    const [first, second] = await sent([['GET /openapi.json HTTP/1.1', host()]], [waiting, '{}']);
    expect(first).toMatchObject({ status: 200, json: { openapi: '3.1.0' } });
    expect(second).toMatchObject({ status: 401, type: problem, json: { code: 'UNAUTHENTICATED' } });
  });
});

describe('a callback', () => {
  it('whose Content-Type is none is the mistake of its sender', async () => {
    const lines = ['POST /callback/x HTTP/1.1', host(), 'content-type: *', 'content-length: 2'];
    const [answer] = await sent([lines, '{}']);
    expect(answer).toMatchObject({ status: 415, json: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    expect(at.output()).not.toContain('callback_failed');
  });
});
