// Clients that begin requests and do not finish them: a request that needs no body is answered without one, an
// unfinished one ends, and it takes neither room nor places from complete requests.
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say, untilEvent } from './conversation.ts';
import { openStream } from './event-stream.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

const perPeer = 8;
const roomBytes = 1_048_576;
const timeoutMs = 10_000;

let at: Standalone;
let thread: string;
beforeAll(async () => {
  at = await startStandalone({
    env: {
      DORMOUSE_REQUEST_TIMEOUT_MS: String(timeoutMs),
      DORMOUSE_UNFINISHED_BODIES_MAX_BYTES: String(roomBytes),
      DORMOUSE_UNFINISHED_REQUESTS_PER_PEER: String(perPeer),
    },
  });
  thread = await openThread(at);
});
afterAll(cleanUp);

/** A connection whose bytes are sent one by one, or not at all. */
interface Stranger {
  readonly socket: Socket;
  answer(): string;
  /** The answer, once the connection has ended. */
  readonly ended: Promise<string>;
}

const strangers = new Set<Socket>();
afterEach(() => {
  for (const socket of strangers) socket.destroy();
  strangers.clear();
});

async function stranger(...sent: readonly (string | Buffer)[]): Promise<Stranger> {
  const socket = connect(at.port, '127.0.0.1');
  strangers.add(socket);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => socket.destroy());
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(answer)));
  await new Promise<void>((resolve) => socket.on('connect', resolve));
  for (const piece of sent) socket.write(piece);
  return { socket, answer: () => answer, ended };
}

const strangersWith = (count: number, ...sent: readonly (string | Buffer)[]): Promise<readonly Stranger[]> =>
  Promise.all(Array.from({ length: count }, () => stranger(...sent)));

const head = (path: string, fields: Readonly<Record<string, string | number>> = {}): string =>
  [
    `POST ${path} HTTP/1.1`,
    ...Object.entries({ host: 'localhost', 'content-type': 'application/json', 'content-length': 1_000_000, ...fields })
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
const withKey = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${at.key}` });
const messages = (): string => `/v1/threads/${thread}/messages`;
const stillOpen = (all: readonly Stranger[]): number => all.filter(({ socket }) => !socket.destroyed).length;
const statusOf = (each: Stranger): string => /^HTTP\/1\.1 (\d+)/.exec(each.answer())?.[1] ?? 'none';

describe('a request whose body has only begun', () => {
  const chunked = { 'content-length': '', 'transfer-encoding': 'chunked' };
  it.each<readonly [string, string, () => string, () => Readonly<Record<string, string | number>>]>([
    ['a message without a key', '401', messages, () => ({})],
    ['a message with a key that is unknown', '401', messages, () => ({ authorization: 'Bearer canary-canary' })],
    ['a message for another host', '403', messages, () => ({ ...withKey(), host: 'evil.example' })],
    [
      'a message that says that it is too large',
      '413',
      messages,
      () => ({ ...withKey(), 'content-length': 9_000_000 }),
    ],
    ['a message without a key, which comes an unusual way', '401', () => `${messages()}?a=b`, () => ({})],
    ['a thread without a key', '401', () => '/v1/threads', () => chunked],
    [
      'a thread that says that it is too large',
      '413',
      () => '/v1/threads',
      () => ({ ...withKey(), 'content-length': 9_000_000 }),
    ],
    ['a callback with a token that is not ours', '401', () => '/callback/nobodys', () => ({})],
    [
      'a callback with such a token, which comes an unusual way',
      '401',
      () => '/callback/nobodys',
      () => ({ 'content-type': 'text/plain' }),
    ],
  ])('%s is answered %s at once', async (_what, status, path, fields) => {
    const asking = await stranger(head(path(), fields()), 'transfer-encoding' in fields() ? '1\r\n{\r\n' : '{');
    await eventually(async () => asking.answer().includes('\r\n\r\n'));
    expect(statusOf(asking)).toBe(status);
  });

  it('ends when its time is over, as does a head; answers and streams take as long as they like', async () => {
    const stream = await openStream(at, thread);
    const all = await Promise.all([
      stranger(),
      stranger('POST /v1/thr'),
      stranger('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n', 'GET /hea'),
      stranger(head(messages(), withKey()), '{'),
      stranger(head(messages()), '{'),
      stranger(head('/v1/agents', withKey()), '{'),
      stranger(head('/callback/nobodys'), '{'),
    ]);
    await Promise.all(all.map(({ ended }) => ended));
    expect(all.map(statusOf)).toEqual(['408', '408', '200', '408', '401', '408', '401']);
    await say(at, thread, 'still there?');
    expect(await stream.until(({ event }) => event === 'message_accepted')).toBeTruthy();
    stream.close();
  });
});

describe('requests that stay unfinished', () => {
  it('are no more than a peer may have, whatever of them is missing; idle connections and streams are not counted', async () => {
    const stream = await openStream(at, thread);
    const idle = await strangersWith(3 * perPeer, 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await eventually(async () => idle.every((each) => statusOf(each) === '200'));
    const slow = [
      ...(await strangersWith(perPeer, 'GET /healthz HTTP/1.1\r\n')),
      ...(await strangersWith(perPeer, head(messages(), withKey()), '{')),
      ...(await strangersWith(perPeer, head('/callback/nobodys'), '{')),
    ];
    await eventually(async () => stillOpen(slow) <= perPeer);
    expect(stillOpen(idle)).toBe(idle.length);
    await say(at, thread, 'others go on');
    expect(await stream.until(({ event }) => event === 'message_accepted')).toBeTruthy();
    stream.close();
  });

  it('hold no more bytes than there is room: those that have been coming longest give way to one that comes whole', async () => {
    const part = Buffer.alloc(roomBytes / 4, 0x20);
    const slow = await strangersWith(
      perPeer - 2,
      head(messages(), { ...withKey(), 'content-length': roomBytes }),
      part,
    );
    // How many give way at once depends on the order in which their pieces are read: one at least, then as it needs.
    await eventually(async () => slow.some((each) => statusOf(each) === '503'));
    const large = JSON.stringify({ text: 'x'.repeat(roomBytes / 2) });
    expect((await at.request('POST', messages(), large)).status).toBe(202);
    expect(await untilEvent(at, thread, 'message_accepted')).toBeTruthy();
  });
});
