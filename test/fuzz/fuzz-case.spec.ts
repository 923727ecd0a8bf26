import { describe, expect, it } from 'vitest';
import { readAnswers } from './read-answers.ts';
import { caseOf } from './fuzz-case.ts';
import { treeOf, textOf } from './json-tree.ts';
import { limitsSaid, wrongEnd, wrongOf } from './judge.ts';
import { wrongLines } from './log-lines.ts';
import { encode } from './request-plan.ts';

const names = (name: string): string => (name.startsWith('host.') ? '127.0.0.1:1' : `<${name}>`);
const bytesOf = (seed: number, index: number): string =>
  Buffer.concat(caseOf(seed, index).plans.map((plan) => encode(plan, names).bytes)).toString('latin1');
const first = Array.from({ length: 600 }, (_, index) => index);

describe('a case', () => {
  it('is the same bytes for a seed and a number, and others for others', () => {
    expect(first.map((index) => bytesOf(3, index))).toEqual(first.map((index) => bytesOf(3, index)));
    expect(new Set(first.map((index) => bytesOf(3, index))).size).toBeGreaterThan(500);
    expect(bytesOf(3, 1)).not.toBe(bytesOf(4, 1));
  });

  it('takes every door, every manner and every kind of mutation', () => {
    const cases = first.map((index) => caseOf(5, index));
    const plans = cases.flatMap((each) => each.plans);
    expect(new Set(plans.map(({ door }) => door)).size).toBe(2);
    expect(new Set(cases.map(({ manner }) => manner)).size).toBe(6);
    expect(new Set(plans.flatMap(({ mutations }) => mutations.map(({ of }) => of))).size).toBe(4);
    expect(new Set(plans.map(({ name }) => name)).size).toBeGreaterThan(60);
  });
});

describe('a tree', () => {
  it('is the JSON of its value', () => {
    const value = { a: [1, 'x', null, { b: true }], 'ä"': {} };
    expect(JSON.parse(textOf(treeOf(value)))).toEqual(value);
  });
});

const answer = (
  status: number,
  body: object | string,
  headers = 'content-type: application/problem+json\r\nx-request-id: r\r\n',
) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const bytes = Buffer.from(
    `HTTP/1.1 ${status} X\r\n${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  const [read] = readAnswers(bytes, ['POST'], false).answers;
  if (read === undefined) throw new Error('no answer was read');
  return read;
};
const plan = { ...caseOf(5, 0).plans[0], door: 'api', mutations: [], method: 'POST', isForeign: false } as never;
const request = encode(plan, names);

describe('the judge', () => {
  it.each([
    [500, { code: 'INTERNAL', status: 500 }],
    [501, ''],
    [505, ''],
    [503, { code: 'UNAVAILABLE', status: 503, detail: 'The store does not answer.' }],
    [503, { code: 'UNAVAILABLE', status: 503, detail: 'too many messages; send it again later' }], // no Retry-After
  ])('takes no %s', (status, body) => {
    expect(wrongOf(answer(status, body), request, 'secret')).toBe(`answered ${status}`);
  });

  it('takes a 503 of a limit', () => {
    const body = { code: 'UNAVAILABLE', status: 503, detail: 'too many messages; send it again later' };
    expect(limitsSaid.some((said) => said.test(body.detail))).toBe(true);
    expect(wrongOf(answer(503, body, 'retry-after: 1\r\n'), request, 'secret')).toBeNull();
  });

  it('takes no refusal that is no problem document, no success of what is not the caller’s, no foreign text', () => {
    expect(wrongOf(answer(400, { code: 'INVALID_JSON', status: 400 }), request, 'secret')).toBeNull();
    expect(wrongOf(answer(400, ''), request, 'secret')).toBe('answered 400 without a code');
    expect(wrongOf(answer(400, { code: 'INVALID_JSON', status: 422 }), request, 'secret')).toMatch(/problem of 422/);
    expect(wrongOf(answer(202, '{}'), { ...request, isForeign: true }, 'secret')).toMatch(/not the caller's/);
    expect(wrongOf(answer(404, { code: 'NOT_FOUND', status: 404, detail: 'secret' }), request, 'secret')).toMatch(
      /tenant/,
    );
  });

  it('wants an answer for each request whose end is known, and an end for every other', () => {
    const none = { answers: [], rest: Buffer.alloc(0) };
    expect(wrongEnd([request], { ...none, ended: 'late' }, false)).toBe('0 of 1 answers in time');
    expect(wrongEnd([request], { ...none, ended: 'by_server' }, false)).toBe('closed after 0 of 1 answers');
    expect(wrongEnd([{ ...request, isFramed: false }], { ...none, ended: 'by_server' }, true)).toBeNull();
    expect(wrongEnd([{ ...request, isFramed: false }], { ...none, ended: 'late' }, true)).toMatch(/never ended/);
  });

  it('wants lines of JSON, and none of an error', () => {
    const known = new Set(['ready http://127.0.0.1:1']);
    expect(wrongLines('ready http://127.0.0.1:1\n{"level":"info"}\nhalf', known)).toEqual([]);
    expect(wrongLines('{"level":"info"}\nTypeError: x\n', known)).toEqual([expect.stringMatching(/no JSON object/)]);
    expect(wrongLines('{"level":"error","event":"request_failed"}\n', known)).toEqual([expect.stringMatching(/error/)]);
  });
});

describe('an answer', () => {
  it('is read out of a connection: chunks, interim answers, several, and one of HEAD', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n' +
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\nHTTP/1.1 404 N',
    );
    const { answers, rest } = readAnswers(bytes, ['HEAD', 'GET'], false);
    expect(answers.map(({ status, body }) => [status, body.toString()])).toEqual([
      [200, ''],
      [200, 'abc'],
    ]);
    expect(rest.toString()).toBe('HTTP/1.1 404 N');
  });
});
