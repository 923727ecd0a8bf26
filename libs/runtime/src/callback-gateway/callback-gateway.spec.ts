import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  plainSealer,
  type ManualClock,
  type MemoryPorts,
} from '@dormouse/adapter-memory';
import {
  answerOwner,
  type BusInput,
  Fault,
  type LogFields,
  loginOwner,
  type ThreadKey,
  tenantId,
  type TenantId,
} from '@dormouse/ports';
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createCallbackGateway, type CallbackAnswer, type CallbackGateway } from './callback-gateway.ts';
import { answered } from '../ingress-gateway/refusal.ts';
import type { CallbackRequest } from './callback-body.ts';
import { faulty } from '../tool-dispatcher/spec/faulty.ts';
import { createCallbackTokens, type CallbackScope } from './callback-token.ts';

const acme = tenantId('acme');

const scope: CallbackScope = {
  tenant: acme,
  thread: 'thr_1',
  toolCallId: 'call_1',
  toolServer: 'weather',
  expiresAt: null,
};
const keys = [{ id: 'k1', secret: Buffer.alloc(32, 1), since: 0, revoked: false }];
const tokens = createCallbackTokens({ keys, publicBase: 'https://agents.example' });
const tokenOf = (fields: Partial<CallbackScope> = {}): string =>
  tokens
    .url({ ...scope, ...fields }, 0)
    .split('/')
    .at(-1) ?? '';

let clock: ManualClock;
let ports: MemoryPorts;
let published: { readonly key: ThreadKey; readonly input: BusInput; readonly trace: string | null }[];
let fails: Error | null;
/** Inputs that are published in spite of that. */
let spared: BusInput['kind'] | null;
let dedupFails: Error | null;
let blobsFail: Error | null;
let loginsFail: Error | null;
let lines: { readonly event: string; readonly fields: LogFields | undefined }[];
let gateway: CallbackGateway;
let tallied: string[];
/** Threads with too many unseen inputs. */
let full: Set<string>;
const rate = { perSecond: 100, burst: 20 };

beforeEach(() => {
  clock = createManualClock();
  ports = createMemoryWorld({ clock }).ports('gateway');
  [published, lines, fails, spared, dedupFails, blobsFail, loginsFail] = [[], [], null, null, null, null, null];
  const say = (event: string, fields?: LogFields): void => void lines.push({ event, fields });
  tallied = [];
  full = new Set();
  gateway = createCallbackGateway({
    tokens,
    inputs: {
      publish: async (key, input, trace = null) => {
        if (fails !== null && input.kind !== spared) throw fails;
        published.push({ key, input, trace });
      },
      consume: (consumer) => ports.inputs.consume(consumer),
    },
    blobs: faulty(ports.blobs, 'put', () => blobsFail),
    dedup: faulty(
      faulty(ports.dedup, 'seen', () => dedupFails),
      'remember',
      () => dedupFails,
    ),
    logins: faulty(ports.logins, 'put', () => loginsFail),
    sealer: plainSealer,
    idempotency: ports.idempotency,
    rates: ports.rates,
    rate,
    limits: { mayEnter: () => answered(null), isFull: (_tenant, thread) => full.has(thread) },
    entropy: createSeededEntropy(1),
    clock,
    logger: { info: say, warn: say, error: say },
    tally: {
      duplicate: ({ toolCallId }) => void tallied.push(`duplicate of ${toolCallId}`),
      refused: ({ toolCallId }) => void tallied.push(`refused for ${toolCallId}`),
      flush: async () => {},
    },
  });
});

const receive = (body: unknown, request: Partial<CallbackRequest> = {}, token = tokenOf()): Promise<CallbackAnswer> =>
  gateway.receive(token, {
    contentType: 'application/json',
    headers: {},
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    ...request,
  });
const result = { type: 'tool_result', group_id: 'thr_1', id: 'call_1', text: 'sunny' };
const inputs = (): readonly BusInput[] => published.map(({ input }) => input);
const rejections = (): readonly unknown[] =>
  inputs().map((input) =>
    input.kind === 'CallbackRejection' ? { code: input.code, settles: input.settles } : input.kind,
  );
const resultInput = (): Extract<BusInput, { kind: 'ToolResult' }> => {
  const input = inputs()[0];
  if (input?.kind !== 'ToolResult') throw new Error('no result');
  return input;
};

describe('a result', () => {
  it('R33 R36 becomes the input of its thread and is answered 200', async () => {
    expect(await receive({ ...result, call_id: 'toolu_7', extra: { ignored: true } })).toEqual({ status: 200 });
    expect(published).toEqual([
      {
        key: { tenant: 'acme', thread: 'thr_1' },
        trace: null,
        input: {
          kind: 'ToolResult',
          id: 'r:call_1',
          toolCallId: 'call_1',
          toolServer: 'weather',
          content: [{ type: 'text', text: 'sunny' }],
          displayAs: null,
          subscription: false,
        },
      },
    ]);
  });

  it('R33 without a group id belongs to the thread of the token', async () => {
    const { group_id: _group, ...rest } = result;
    expect(await receive(rest)).toEqual({ status: 200 });
    expect(lines.map(({ event }) => event)).toContain('callback_without_group_id');
  });

  it('tolerates null in every optional field, and bytes', async () => {
    const body = { ...result, group_id: null, call_id: null, content: null, display_as: null, subscription: null };
    expect(await receive(Buffer.from(JSON.stringify(body)))).toEqual({ status: 200 });
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    'application/problem+json',
    undefined,
    null,
    '',
  ])('is read with content type %s', async (contentType) => {
    expect(await receive(result, { contentType })).toEqual({ status: 200 });
  });

  it('R38 needs no other credential: a foreign Authorization header is ignored', async () => {
    expect(await receive(result, { headers: { authorization: 'Bearer nonsense' } })).toEqual({ status: 200 });
  });

  it('R44 content wins over text, unknown items and segments are skipped', async () => {
    await receive({
      ...result,
      content: [
        { type: 'chart', data: 1 },
        { type: 'text', text: 'both' },
      ],
      display_as: [
        { type: 'chart' },
        { type: 'text', content: 'shown' },
        { type: 'diff', content: { path: 'a.ts', patch: '@@' } },
      ],
    });
    expect(resultInput()).toMatchObject({
      content: [{ type: 'text', text: 'both' }],
      displayAs: [
        { type: 'text', content: 'shown' },
        { type: 'diff', content: { path: 'a.ts', patch: '@@' } },
      ],
    });
  });

  it('R46 plain text is text', async () => {
    await receive({ ...result, text: 'not json {' });
    expect(resultInput().content).toEqual([{ type: 'text', text: 'not json {' }]);
  });

  it('R49 loses its control characters', async () => {
    await receive({ ...result, text: 'a\u0000b\u001b[31mred\u001b[0m\n' });
    expect(resultInput().content).toEqual([{ type: 'text', text: 'abred\n' }]);
  });

  it('says that it subscribes as it was said', async () => {
    await receive({ ...result, subscription: true });
    expect(resultInput().subscription).toBe(true);
  });

  it('an error that says it subscribes is handed on as an error without a subscription', async () => {
    await receive({ ...result, text: 'Error: no', subscription: true });
    expect(resultInput().subscription).toBe(false);
  });
});

describe('large results', () => {
  const long = '☃ä'.repeat(20_000); // 100 000 bytes

  it('R106 text over 64 KiB goes to the blob store first, with a preview in the log', async () => {
    expect(await receive({ ...result, text: long })).toEqual({ status: 200 });
    const sha256 = createHash('sha256').update(long).digest('hex');
    expect(resultInput().content).toEqual([
      { type: 'text', blob: sha256, bytes: 100_000, preview: long.slice(0, 1_000) },
    ]);
    const blob = await ports.blobs.get(acme, sha256);
    expect([Buffer.from(blob?.bytes ?? []).toString('utf8') === long, blob?.mediaType]).toEqual([
      true,
      'text/plain; charset=utf-8',
    ]);
  });

  it('R106 megabytes are worked on in turns, and nothing of them is lost at the seams', async () => {
    const text = `${'x'.repeat(131_071)}😀é\u001b[31m`.repeat(12);
    const clean = Buffer.from(`${'x'.repeat(131_071)}😀é`.repeat(12));
    const image = Buffer.alloc(900_001, 'dormouse');
    let turns = 0;
    let others = setImmediate(function turn() {
      turns++;
      others = setImmediate(turn);
    });
    await receive({
      ...result,
      content: [
        { type: 'text', text },
        { type: 'image', data: image.toString('base64'), mediaType: 'image/png' },
      ],
      display_as: [{ type: 'text', content: text }],
    });
    clearImmediate(others);
    expect(turns).toBeGreaterThan(5);
    const hashes = [clean, image].map((bytes) => createHash('sha256').update(bytes).digest('hex'));
    expect(resultInput()).toMatchObject({
      content: [
        { type: 'text', blob: hashes[0], bytes: clean.length },
        { type: 'image', blob: hashes[1], bytes: image.length },
      ],
      displayAs: [], // S3
    });
    const kept = await Promise.all(hashes.map((sha256) => ports.blobs.get(acme, sha256)));
    expect(
      kept.map((blob, index) => Buffer.compare(Buffer.from(blob?.bytes ?? []), [clean, image][index] ?? clean)),
    ).toEqual([0, 0]);
  });

  it('C6 of many long ones all are taken, and whoever sends one does not wait for all of another tenant', async () => {
    const order: string[] = [];
    const send = async (tenant: TenantId, id: string): Promise<number> => {
      const body = Buffer.from(JSON.stringify({ ...result, id, text: long.repeat(8) }));
      const { status } = await receive(body, {}, tokenOf({ tenant, toolCallId: id }));
      order.push(id);
      return status;
    };
    const flood = Array.from({ length: rate.burst }, (_, index) => send(acme, `call_${index}`));
    expect(await send(tenantId('other'), 'call_other')).toBe(200);
    expect(order.length).toBeLessThan(rate.burst * 0.75);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([200]));
    expect(inputs()).toHaveLength(rate.burst + 1);
  });

  it('R106 the bound is on the whole result, not on each item', async () => {
    const text = 'x'.repeat(40_000);
    await receive({
      ...result,
      content: [
        { type: 'text', text },
        { type: 'text', text: `${text}y` },
        { type: 'text', text: 'end' },
      ],
    });
    expect(resultInput().content.map((item) => ('blob' in item ? 'blob' : 'inline'))).toEqual([
      'inline',
      'blob',
      'inline',
    ]);
  });

  it('images go to the blob store as bytes, in items and in segments', async () => {
    const data = Buffer.from([1, 2, 3, 255]).toString('base64');
    const sha256 = createHash('sha256')
      .update(Buffer.from([1, 2, 3, 255]))
      .digest('hex');
    await receive({
      ...result,
      content: [{ type: 'image', data, mediaType: 'image/png' }],
      display_as: [{ type: 'image', content: { data, mediaType: 'image/png' } }],
    });
    expect(resultInput()).toMatchObject({
      content: [{ type: 'image', mediaType: 'image/png', blob: sha256, bytes: 4 }],
      displayAs: [{ type: 'image', content: { mediaType: 'image/png', blob: sha256 } }],
    });
    expect((await ports.blobs.get(acme, sha256))?.bytes).toEqual(new Uint8Array([1, 2, 3, 255]));
  });

  it('a preview never ends in half a character', async () => {
    await receive({ ...result, text: `${'x'.repeat(999)}${'😀'.repeat(20_000)}` });
    const item = resultInput().content[0];
    expect(item?.type === 'text' && 'preview' in item && item.preview).toBe('x'.repeat(999));
  });

  it('display that does not fit is left out', async () => {
    await receive({
      ...result,
      display_as: [
        { type: 'text', content: 'x'.repeat(70_000) },
        { type: 'text', content: 'short' },
      ],
    });
    expect(resultInput().displayAs).toEqual([{ type: 'text', content: 'short' }]);
  });

  it('R106 more than 4 MiB of text is refused and settles the call', async () => {
    expect(await receive({ ...result, text: 'x'.repeat(4 * 1_048_576 + 1) })).toMatchObject({
      status: 413,
      code: 'RESULT_TOO_LARGE',
    });
    expect(rejections()).toEqual([{ code: 'RESULT_TOO_LARGE', settles: true }]);
  });

  it('R106 more than 64 items are refused', async () => {
    expect(
      await receive({ ...result, content: Array.from({ length: 65 }, () => ({ type: 'text', text: 'x' })) }),
    ).toMatchObject({ status: 422 });
  });

  it.each([
    ['a body over 8 MiB', { body: `{"type":"tool_result","text":"${'x'.repeat(8 * 1_048_576)}"}` }, true],
    ['a body that the host stopped reading', { body: '{"type":"tool_result","text":"xx', truncated: true }, true],
    ['one that names no type', { body: '{"text":"xx', truncated: true }, true],
    ['a view update', { body: '{"type":"view_update","content":{"x', truncated: true }, false],
    ['more values than anybody reads', { body: `{"type":"tool_result","x":[${'1,'.repeat(50_000)}1]}` }, true],
    ['a view of that many', { body: `{"type":"view_update","content":{"x":[${'1,'.repeat(50_000)}1]}}` }, false],
    [
      'one whose text speaks of another type',
      { body: JSON.stringify({ text: '"type":"oauth"', type: 'tool_result' }), truncated: true },
      true,
    ],
  ])('R106 %s: 413, visible, and a result settles its call', async (_what, request, settles) => {
    expect(await receive('', request)).toMatchObject({ status: 413 });
    expect(rejections()).toEqual([{ code: settles ? 'RESULT_TOO_LARGE' : 'BODY_TOO_LARGE', settles }]);
  });
});

describe('what cannot be accepted', () => {
  it.each([
    ['a missing id', { type: 'tool_result', group_id: 'thr_1', text: 'x' }, '/id'],
    ['neither text nor content', { type: 'tool_result', id: 'call_1' }, 'text or content'],
    ['a wrong type', { ...result, text: 7 }, '/text'],
    ['an unknown type', { ...result, type: 'tool_progress' }, '/type'],
    ['an array', [result], 'object'],
    ['a string', '"tool_result"', 'object'],
    ['null', 'null', 'object'],
    ['an id that is too long', { ...result, id: 'x'.repeat(201) }, '/id'],
  ])('R33 %s: 422, visible, the call stays open', async (_what, body, detail) => {
    const answer = await receive(body);
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_BODY' });
    expect(answer.detail).toContain(detail);
    expect(rejections()).toEqual([{ code: 'INVALID_BODY', settles: false }]);
  });

  it.each([
    ['not JSON', '<html>', false],
    ['nothing', '', false],
    ['a broken result', '{"type":"tool_result","id":"call_1","text":"x', true],
    ['a key twice', '{"type":"tool_result","id":"call_1","text":"x","text":"y"}', true],
    ['a prototype key', '{"type":"tool_result","id":"call_1","text":"x","__proto__":{}}', true],
    ['a lone surrogate', '{"type":"tool_result","id":"call_1","text":"\\ud800"}', true],
    ['too deep', `{"type":"tool_result","id":"call_1","text":"x","y":${'['.repeat(40)}${']'.repeat(40)}}`, true],
    ['a deep bomb', '['.repeat(1_000_000), false],
    ['not UTF-8', Buffer.from([...Buffer.from('{"type":"tool_result","text":"'), 0xff, 0xfe, 0x22, 0x7d]), true],
    ['not UTF-8 and no result', Buffer.from([0xff, 0xfe]), false],
  ])('R33 R106 %s: 400, visible, and an unreadable result settles its call: %#', async (_what, body, settles) => {
    expect(await receive(body)).toMatchObject({ status: 400, code: settles ? 'RESULT_UNREADABLE' : 'INVALID_JSON' });
    expect(rejections()).toEqual([{ code: settles ? 'RESULT_UNREADABLE' : 'INVALID_JSON', settles }]);
  });

  it.each(['text/plain', 'application/jsonp', 'multipart/form-data; boundary=x'])(
    'R33 content type %s: 415, visible',
    async (contentType) => {
      expect(await receive(result, { contentType })).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      expect(rejections()).toEqual([{ code: 'UNSUPPORTED_MEDIA_TYPE', settles: false }]);
    },
  );

  it('R35 a body about another thread or call than its URL: 403, nothing stored', async () => {
    for (const body of [
      { ...result, group_id: 'thr_2' },
      { ...result, id: 'call_2' },
      { type: 'subscription_event', tool_call_id: 'call_2', text: '' },
    ]) {
      expect(await receive(body)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    }
    expect(published).toEqual([]);
  });

  it('R35 speaks only for the thread of the token', async () => {
    await receive(
      { ...result, id: 'call_9' },
      {},
      tokenOf({ thread: 'thr_1', toolCallId: 'call_9', tenant: tenantId('other') }),
    );
    expect(published.map(({ key }) => key)).toEqual([{ tenant: 'other', thread: 'thr_1' }]);
  });

  it('R32 R89 a choice that breaks its own limits is refused, visible, and settles nothing however often', async () => {
    const choice = { type: 'user_choice', id: 'call_1', prompt: '?', choices: ['a'], default: 7 };
    for (const repetition of [1, 2, 3])
      expect(await receive({ ...choice, response_url: 'https://a.example', repetition })).toMatchObject({
        status: 422,
      });
    expect(rejections()).toEqual([{ code: 'INVALID_BODY', settles: false }]);
  });

  it('other types never settle a call: broken ones are one record, however often', async () => {
    for (const content of [1, 2, 3, 4, 5, 6])
      expect(await receive({ type: 'view_update', content })).toMatchObject({ status: 422 });
    expect(rejections()).toEqual([{ code: 'INVALID_BODY', settles: false }]);
  });

  it('R40 two bodies are two rejections, the same body is one', async () => {
    await receive('one');
    await receive('two');
    await receive('one');
    expect(new Set(inputs().map(({ id }) => id)).size).toBe(2);
    expect(inputs()).toHaveLength(2);
  });
});

describe('the token', () => {
  it('R38 that is not ours: 401, nothing stored', async () => {
    const token = tokenOf();
    for (const forged of ['', 'x', `${token}A`, token.slice(1), `${token.slice(0, 20)}A${token.slice(21)}`]) {
      expect(await receive(result, {}, forged)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    }
    expect(published).toEqual([]);
  });

  it('R39 that has expired: 410, nothing stored', async () => {
    const token = tokenOf({ expiresAt: clock.now() + 1_000 });
    expect(await receive(result, {}, token)).toEqual({ status: 200 });
    await clock.advance(1_000);
    expect(await receive({ ...result, text: 'late' }, {}, token)).toMatchObject({ status: 410 });
    expect(published).toHaveLength(1);
  });

  it('I-23 is in no log line and in no answer', async () => {
    const token = tokenOf();
    const answers = [
      await receive(result, {}, token),
      await receive('x', {}, token),
      await receive({ ...result, id: 'call_2' }, {}, token),
      await receive(result, {}, `${token}A`),
    ];
    expect(JSON.stringify([answers, lines])).not.toContain(token.slice(0, 30));
  });
});

describe('delivery', () => {
  it('R37 the same result five times is one input', async () => {
    for (let time = 0; time < 5; time += 1) expect(await receive(result)).toEqual({ status: 200 });
    expect(published).toHaveLength(1);
  });

  it('R37 another result for the same call after the first: 200, the first wins', async () => {
    await receive(result);
    expect(await receive({ ...result, text: 'rainy' })).toEqual({ status: 200 });
    expect(published).toHaveLength(1);
  });

  it('C3 refuses for good what no record holds, and says so on the thread', async () => {
    fails = new Fault('RECORD_TOO_LARGE', 'a record of 3 MiB');
    spared = 'CallbackRejection';
    expect(await receive(result)).toMatchObject({ status: 413, code: 'RESULT_TOO_LARGE' });
    expect(rejections()).toEqual([{ code: 'RESULT_TOO_LARGE', settles: true }]);
  });

  it('C1 says 503 with Retry-After while it cannot be made durable, and takes it later', async () => {
    fails = new Fault('UNAVAILABLE', 'no bus', { retryAfterMs: 1_500 });
    expect(await receive(result)).toEqual({
      status: 503,
      code: 'UNAVAILABLE',
      detail: expect.any(String),
      retryAfterS: 2,
    });
    fails = new Fault('UNAVAILABLE', 'no bus');
    expect(await receive(result)).toMatchObject({ status: 503, retryAfterS: 5 });
    fails = null;
    expect(await receive(result)).toEqual({ status: 200 });
    expect(published).toHaveLength(1);
  });

  it('C3 says 503 rather than a 4xx when the refusal cannot be made visible', async () => {
    fails = new Fault('UNAVAILABLE', 'no bus');
    expect(await receive('not json')).toMatchObject({ status: 503 });
  });

  it('C2 works without the dedup store: twice is left to the thread', async () => {
    dedupFails = new Fault('UNAVAILABLE', 'no redis');
    expect(await receive(result)).toEqual({ status: 200 });
    expect(await receive(result)).toEqual({ status: 200 });
    expect(inputs().map(({ id }) => id)).toEqual(['r:call_1', 'r:call_1']);
    expect(lines.map(({ event }) => event)).toContain('callback_dedup_unavailable');
  });

  it('C2 remembers nothing that was not made durable', async () => {
    fails = new Fault('UNAVAILABLE', 'no bus');
    await receive(result);
    expect(await ports.dedup.seen(acme, 'thr_1:r:call_1')).toBe(false);
  });

  it('S2 publishes nothing when the blob could not be kept', async () => {
    blobsFail = new Fault('UNAVAILABLE', 'no blobs');
    expect(await receive({ ...result, text: 'x'.repeat(70_000) })).toMatchObject({ status: 503 });
    expect(await receive({ ...result, text: 'short' })).toEqual({ status: 200 });
  });

  it('a bug is not an answer', async () => {
    fails = new TypeError('ours');
    await expect(receive(result)).rejects.toThrow('ours');
  });
});

describe('the other four messages', () => {
  it('R32 an event becomes an input under its sender’s id, from the header, the body, or ours', async () => {
    const event = { type: 'subscription_event', tool_call_id: 'call_1', text: 'a\u0007 commit', associative: true };
    await receive(event, { headers: { 'webhook-id': 'evt_1' } });
    await receive({ ...event, event_id: 'evt_2' });
    await receive(event, { headers: { 'idempotency-key': 'evt_3' } });
    await receive(event);
    await receive(event);
    expect(
      inputs()
        .map(({ id }) => id)
        .slice(0, 3),
    ).toEqual(['e:call_1:evt_1', 'e:call_1:evt_2', 'e:call_1:evt_3']);
    expect(new Set(inputs().map(({ id }) => id)).size).toBe(5);
    expect(inputs()[0]).toMatchObject({
      kind: 'SubscriptionEvent',
      toolServer: 'weather',
      content: [{ type: 'text', text: 'a commit' }],
      associative: true,
      final: false,
    });
  });

  it('I-13 the same event id twice is one input', async () => {
    const event = { type: 'subscription_event', tool_call_id: 'call_1', text: 'x', event_id: 'evt_1' };
    expect(await receive(event)).toEqual({ status: 200 });
    expect(await receive(event)).toEqual({ status: 200 });
    expect(inputs()).toHaveLength(1);
  });

  it('R84 R88 the URL of a login is sealed, and in no input and no line', async () => {
    const login = { type: 'oauth', id: 'call_1', auth_url: 'https://login.example/secret-path?state=x' };
    expect(await receive(login)).toEqual({ status: 200 });
    const [kept] = await ports.logins.list({ tenant: acme, thread: 'thr_1' }, clock.now());
    expect(plainSealer.open(loginOwner(acme, 'thr_1', 'call_1'), kept?.sealed ?? '')).toBe(login.auth_url);
    expect(inputs()).toMatchObject([{ kind: 'LoginPrompt', expiresAt: clock.now() + 86_400_000 }]);
    expect(JSON.stringify([inputs(), lines])).not.toContain('secret-path');
  });

  it('a login that cannot be sealed durably is not accepted', async () => {
    loginsFail = new Fault('UNAVAILABLE', 'away');
    const login = { type: 'oauth', id: 'call_1', auth_url: 'https://login.example/' };
    expect(await receive(login)).toMatchObject({ status: 503 });
    expect(inputs()).toEqual([]);
  });

  it.each([
    { type: 'user_choice', prompt: '?', choices: ['a', 'b'], default: 1, response_url: 'https://tool.example/answer' },
    { type: 'oauth', auth_url: 'https://login.example/' },
  ])(
    'R94 a $type is the one that it was under its message id; without one, the thread tells by what it asks',
    async (body) => {
      const asked = { id: 'call_1', ...body };
      for (const headers of [{ 'webhook-id': 'm1' }, { 'idempotency-key': 'm1' }, { 'idempotency-key': 'm2' }, {}, {}])
        expect(await receive(asked, { headers })).toEqual({ status: 200 });
      expect(new Set(inputs().map(({ id }) => id)).size).toBe(4);
      const questions = inputs().map((input) => ('question' in input ? input.question : undefined));
      expect(questions).toEqual([null, null, expect.any(String), questions[2]]);
      const [login, choice] = [{ auth_url: 'https://login.example/2' }, { prompt: 'another' }];
      await receive({ ...asked, ...(body.type === 'oauth' ? login : choice) });
      expect(inputs()[4]).not.toMatchObject({ question: questions[2] });
    },
  );

  it('R89 a choice carries where its answer goes, sealed', async () => {
    const choice = { type: 'user_choice', id: 'call_1', prompt: 'Which?', choices: ['a', 'b'], default: 1 };
    await receive({ ...choice, response_url: 'https://tool.example/answer', extra: true });
    expect(inputs()).toMatchObject([{ kind: 'ChoicePrompt', prompt: 'Which?', choices: ['a', 'b'], default: 1 }]);
    const [input] = inputs();
    const answerTo = input?.kind === 'ChoicePrompt' ? input.answerTo : '';
    expect(plainSealer.open(answerOwner(acme, 'thr_1', 'call_1'), answerTo)).toBe('https://tool.example/answer');
  });

  it('R49 R89 what a choice shows to a person is cleaned of control characters, its labels too', async () => {
    const choice = {
      type: 'user_choice',
      id: 'call_1',
      prompt: 'Wh\u001b[2Jich?',
      choices: ['a\u0007', '\u001b[31mb'],
    };
    await receive({ ...choice, default: 0, response_url: 'https://tool.example/answer' });
    expect(inputs()).toMatchObject([{ prompt: 'Which?', choices: ['a', 'b'] }]);
  });

  it('R98 a view goes on character for character', async () => {
    const content = '{"big":123456789012345678901234567890,"n":[null, 1.0]}';
    await receive(`{"type":"view_update","group_id":"thr_1","view_type":"board","content":${content}}`);
    expect(inputs()).toMatchObject([{ kind: 'ViewUpdate', viewType: 'board', content }]);
  });
});

describe('a flood', () => {
  it('R43 is answered 503 with Retry-After, never 429, and does not touch another tenant', async () => {
    const event = { type: 'subscription_event', tool_call_id: 'call_1', text: 'x' };
    const answers = [];
    for (let sent = 0; sent < 30; sent++) answers.push(await receive(event));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.at(-1)).toMatchObject({ status: 503, code: 'UNAVAILABLE', retryAfterS: 1 });
    expect(await receive(event, {}, tokenOf({ tenant: tenantId('zenith') }))).toEqual({ status: 200 });
    await clock.advance(1_000);
    expect(await receive(event)).toEqual({ status: 200 });
  });
});

describe('a thread whose model has too many inputs to see', () => {
  const event = { type: 'subscription_event', tool_call_id: 'call_1', text: 'x' };

  it('C9 one event in a while is taken, the others are answered 503 with Retry-After, and those of other threads are taken', async () => {
    full.add('thr_1');
    expect(await receive(event)).toEqual({ status: 200 });
    for (let sent = 0; sent < 3; sent++)
      expect(await receive(event)).toMatchObject({ status: 503, code: 'UNAVAILABLE', retryAfterS: 60 });
    expect(await receive(event, {}, tokenOf({ thread: 'thr_2' }))).toEqual({ status: 200 });
    await clock.advance(60_000);
    expect([(await receive(event)).status, (await receive(event)).status]).toEqual([200, 503]);
    full.clear();
    expect(await receive(event)).toEqual({ status: 200 });
    expect(published).toHaveLength(4); // what was not acknowledged is not there
  });

  it('C9 its results are taken: it may be waiting for them', async () => {
    full.add('thr_1');
    for (let sent = 0; sent < 3; sent++) expect(await receive(result)).toEqual({ status: 200 });
    expect(await receive({ type: 'view_update', view_type: 'board', content: {} })).toEqual({ status: 200 });
  });
});

describe('the tally of a call', () => {
  it('counts what had been accepted before, and every refusal', async () => {
    for (let times = 0; times < 3; times++) expect(await receive(result)).toEqual({ status: 200 });
    for (let times = 0; times < 2; times++) expect((await receive({ ...result, text: 7 })).status).toBe(422);
    const duplicate = 'duplicate of call_1';
    expect(tallied).toEqual([duplicate, duplicate, 'refused for call_1', 'refused for call_1']);
    expect(published).toHaveLength(2); // a result and a refusal
  });

  it('has nothing of a token that is not ours', async () => {
    expect((await receive(result, {}, 'not-a-token')).status).toBe(401);
    expect(tallied).toEqual([]);
  });
});
