import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiProblem, ConnectionProblem } from './api-problem.ts';
import { createClient } from './client.ts';
import type { FollowOptions, StreamFrame } from './follow.ts';

afterEach(() => vi.useRealTimers());

const retry = { firstPauseMs: 1, pauseMsMax: 4, totalMsMax: 60 };

const event = (position: number): string =>
  `id: ${position}\nevent: message_accepted\ndata: ${JSON.stringify({ position, type: 'message_accepted', at: '2026-01-01T00:00:00.000Z', turn_id: 'msg_1', cause: { kind: 'message', id: 'msg_1' } })}\n\n`;
const end = 'event: end\ndata: {}\n\n';

type Answer = () => Response;
const stream =
  (...pieces: readonly string[]): Answer =>
  () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );
const broken = (piece: string): Answer => {
  const pieces = [piece];
  const pull = (controller: ReadableStreamDefaultController): void => {
    const next = pieces.shift();
    if (next === undefined) controller.error(new TypeError('terminated'));
    else controller.enqueue(new TextEncoder().encode(next));
  };
  return () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
};
const status =
  (code: number, body: unknown = null): Answer =>
  () =>
    new Response(body === null ? null : JSON.stringify(body), { status: code });
const minuteMs = 60_000;
/** Heartbeats alone, for an hour. */
const quiet: Answer = () => {
  let beats = 0;
  const pull = (controller: ReadableStreamDefaultController): void => {
    vi.setSystemTime(Date.now() + minuteMs);
    if (++beats > 60) controller.close();
    else controller.enqueue(new TextEncoder().encode(':\n\n'));
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
};
const nobody: Answer = () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
};

async function follow(
  answers: readonly Answer[],
  options: FollowOptions = {},
): Promise<{ frames: StreamFrame[]; urls: string[] }> {
  const urls: string[] = [];
  const left = [...answers];
  const fetch = (async (url: string) => {
    urls.push(String(url).replace(/^.*\/events/, ''));
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer === undefined) throw new Error('asked once too often');
    return answer();
  }) as typeof globalThis.fetch;
  const client = createClient({ baseUrl: 'http://x/', key: 'k', fetch, retry });
  const frames: StreamFrame[] = [];
  for await (const frame of client.follow('thr_1', options)) frames.push(frame);
  return { frames, urls };
}

const positions = (frames: readonly StreamFrame[]): readonly number[] =>
  frames.flatMap((frame) => (frame.frame === 'event' ? [frame.event.position] : []));

describe('following a thread', () => {
  it('I-19 gives every event once and in order, from where it was asked, and ends with `end`', async () => {
    const { frames, urls } = await follow([stream(event(3) + event(4), event(5), end)], { after: 2 });
    expect(positions(frames)).toEqual([3, 4, 5]);
    expect(frames.at(-1)).toEqual({ frame: 'end' });
    expect(urls).toEqual(['?after=2']);
  });

  it('I-19 goes on after every kind of interruption without a gap and without a repeat', async () => {
    const { frames, urls } = await follow([
      stream(event(1), event(2)),
      nobody,
      status(503),
      broken(event(2) + event(3)),
      stream(event(4), 'event: lagged\ndata: {}\n\n', event(99)),
      stream(': heartbeat\n\n', event(5).slice(0, 20), event(5).slice(20)),
      status(204),
    ]);
    expect(positions(frames)).toEqual([1, 2, 3, 4, 5]);
    expect(urls).toEqual(['?after=0', '?after=2', '?after=2', '?after=2', '?after=3', '?after=4', '?after=5']);
    expect(frames.at(-1)).toEqual({ frame: 'end' });
  });

  it('passes live frames on, and skips what it does not know', async () => {
    const { frames } = await follow([
      stream(
        'event: status\ndata: {"status":"thinking","waiting_on":[]}\n\n',
        'event: delta\ndata: {"completion_id":"c","attempt":1,"offset":0,"kind":"text","index":0,"text":"Hi"}\n\n',
        'event: retrying\ndata: {"completion_id":"c","attempt":2,"code":"MODEL_FAILED","detail":"no","host":"h","next_at":"t"}\n\n',
        'event: novelty\ndata: {"x":1}\n\n',
        'event: oauth\ndata: {"tool_call_id":"call_1","auth_url":"https://a","expires_at":"t"}\n\n',
        end,
      ),
    ]);
    expect(frames.map((frame) => frame.frame)).toEqual(['status', 'delta', 'retrying', 'oauth', 'end']);
    expect(frames[2]).toMatchObject({ retrying: { attempt: 2, host: 'h', next_at: 't' } });
  });

  it('says what the API refuses, at once', async () => {
    const unknown = { type: 'x', title: 'Not found', status: 404, code: 'NOT_FOUND' };
    await expect(follow([status(404, unknown)])).rejects.toMatchObject({ name: 'ApiProblem', code: 'NOT_FOUND' });
    await expect(follow([status(404, unknown)])).rejects.toBeInstanceOf(ApiProblem);
  });

  it('gives up on a server that never answers, and says so', async () => {
    await expect(follow([nobody])).rejects.toBeInstanceOf(ConnectionProblem);
    await expect(follow([nobody])).rejects.toThrow('http://x does not answer (ECONNREFUSED)');
  });

  it.each([
    ['that began with an event', [stream(event(1)), quiet, nobody, stream(event(2), end)], [1, 2]],
    ['on which nothing came yet', [quiet, nobody, stream(event(1), end)], [1]],
  ])('R2: is not given up because a stream %s was quiet for an hour', async (_which, answers, seen) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(positions((await follow(answers)).frames)).toEqual(seen);
  });

  it('R2: is given up when a server has been away too long, however long it was heard before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const away: Answer = () => {
      vi.setSystemTime(Date.now() + 6 * minuteMs);
      return nobody();
    };
    await expect(follow([stream(event(1)), quiet, away])).rejects.toBeInstanceOf(ConnectionProblem);
  });

  it('does not accept a stream with a gap', async () => {
    await expect(follow([stream(event(1), event(3), end)])).rejects.toThrow('gap');
  });

  it('stops when it is told to', async () => {
    const abort = new AbortController();
    const lost = (): void => abort.abort(new Error('enough'));
    await expect(follow([stream(event(1))], { signal: abort.signal, onReconnect: lost })).rejects.toThrow('enough');
  });
});

it('calls fetch as a function: a browser’s refuses to be a method', async () => {
  const receivers: unknown[] = [];
  const fetch = async function (this: unknown): Promise<Response> {
    receivers.push(this);
    return stream(event(1), end)();
  } as typeof globalThis.fetch;
  const client = createClient({ baseUrl: 'http://x/', key: 'k', fetch, retry });
  for await (const _frame of client.follow('thr_1'));
  expect(receivers).toEqual([undefined]);
});
