// Mutations of a request around its body: request line, headers, framing.
//
// Invariant:
//   F1. A mutation that leaves open where the request ends, or whether it is one, says so: `isFramed` is false. Of such
//       a request no answer is owed, only an end.
import { pick } from '../chaos/random.ts';

type Random = () => number;

export interface HttpDraft {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Whether the body is written in chunks, and in which. */
  readonly chunks: 'none' | 'good' | 'bad';
  /** Whether a `content-length` is written: that of the body, another, or none. */
  readonly length: number | 'body' | 'none';
  /** Lines of the head that no header has. */
  readonly rawLines: readonly string[];
  readonly isFramed: boolean;
}

export const headMutations = {
  method: (draft, random) => ({ ...draft, method: pick(methods, random) }),
  methodBroken: (draft, random) =>
    unframed({ ...draft, method: pick(['', 'G T', 'POST\u0000', 'a'.repeat(9_000)], random) }),
  version: (draft, random) =>
    unframed({ ...draft, version: pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'ICY', ''], random) }),
  target: (draft, random) => ({ ...draft, target: pick(targets, random)(draft.target) }),
  targetBroken: (draft, random) =>
    unframed({
      ...draft,
      target: pick([`${draft.target} x`, '', 'x', `/${'a'.repeat(70_000)}`, '/\u0000', '/\u00ff'], random),
    }),
  query: (draft, random) => ({
    ...draft,
    target: `${draft.target}${draft.target.includes('?') ? '&' : '?'}${pick(queries, random)}`,
  }),
  headerDropped: (draft, random) => {
    const at = Math.floor(random() * draft.headers.length);
    return { ...draft, headers: draft.headers.filter((_, index) => index !== at) };
  },
  headerTwice: (draft, random) => {
    const [name] = pick(draft.headers, random);
    const twice = { ...draft, headers: [...draft.headers, [name, pick(values, random)] as const] };
    return name === 'host' ? unframed(twice) : twice;
  },
  headerValue: (draft, random) => {
    const at = Math.floor(random() * draft.headers.length);
    const value = pick(values, random);
    return {
      ...draft,
      headers: draft.headers.map(([name, old], index) => [name, index === at ? value : old] as const),
    };
  },
  headerAdded: (draft, random) => ({ ...draft, headers: [...draft.headers, pick(further, random)] }),
  headersMany: (draft, random) => {
    const count = pick([40, 200, 2_500], random);
    const many = Array.from({ length: count }, (_, index) => [`x-${index}`, 'v'.repeat(10)] as const);
    return unframed({ ...draft, headers: [...draft.headers, ...many] });
  },
  headerLong: (draft, random) =>
    unframed({ ...draft, headers: [...draft.headers, ['x-long', 'v'.repeat(pick([9_000, 17_000, 120_000], random))]] }),
  headerRaw: (draft, random) => unframed({ ...draft, rawLines: [pick(rawLines, random)] }),
  expect: (draft, random) => ({
    ...draft,
    headers: [...draft.headers, ['expect', pick(['100-continue', 'x'], random)]],
  }),
  chunked: (draft) => ({ ...draft, chunks: 'good', length: 'none' }),
  chunkedBadly: (draft) => unframed({ ...draft, chunks: 'bad', length: 'none' }),
  chunkedAndLong: (draft) => unframed({ ...draft, chunks: 'good' }),
  length: (draft, random) =>
    unframed({ ...draft, length: pick([0, 1, draft.body.length + 1, draft.body.length - 1, 9e9, -1, NaN], random) }),
  lengthMissing: (draft) => unframed({ ...draft, length: 'none' }),
} as const satisfies Record<string, (draft: HttpDraft, random: Random) => HttpDraft>;

const unframed = (draft: HttpDraft): HttpDraft => ({ ...draft, isFramed: false });

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'QUERY'] as const;

const targets: readonly ((target: string) => string)[] = [
  (target) => `/${target}`,
  (target) => `${target}/`,
  (target) => target.replace(/.$/, '%'),
  (target) => `${target}%00`,
  (target) => `${target}%ff%fe`,
  (target) => `${target}/%2e%2e/%2e%2e/etc/passwd`,
  (target) => target.replace('/v1', '/v1/..//v1'),
  (target) => target.toUpperCase(),
  (target) => `http://127.0.0.1${target}`,
  (target) => target.replaceAll('/', '%2f'),
  (target) => `${target}${'x'.repeat(5_000)}`,
  (target) => `${target};a=b#c`,
  () => '*',
  () => '/',
];

const queries = [
  ...['limit=0', 'limit=201', 'limit=1e9', 'limit=-1', 'limit=1&limit=2', 'cursor=%00', 'cursor=~5B~22x', 'after=-1'],
  ...['after=99999999999999999999', 'at=0', 'at=1e3', '__proto__[a]=b', 'constructor=1', 'metadata[a]=b', 'metadata=x'],
  ...['metadata[]=x', 'status=nope', 'order=up', 'created_after=yesterday', 'x', '&&==&', '%', '%ff', 'access_token=x'],
  ...['cursor=%F0%9F%92%A3', `cursor=${'a'.repeat(3_000)}`, 'from=0&to=1', 'group_by=everything'],
] as const;

/** Of any header. Latin-1, as HTTP has it: some are no UTF-8. */
const values = [
  ...['', ' ', 'x', '0', '-1', 'null', '{}', '"', '\u00e9', '\u00ff\u00fe', '\t', ',', ';', '=', '*', 'a, b'],
  ...['Bearer', 'Bearer ', 'Bearer x', 'bearer null', 'Basic eDp5', `Bearer ${'a.'.repeat(3_000)}`, 'x'.repeat(7_000)],
  ...[
    'application/json; charset=utf-16',
    'application/json;charset',
    'text/plain',
    'multipart/form-data; boundary=',
    'a/b/c',
  ],
  ...['127.0.0.1', 'localhost', 'evil.example', '127.0.0.1:99999', '[::1', 'http://evil.example', 'null'],
] as const;

const further: readonly (readonly [string, string])[] = [
  ['prefer', 'wait=0'],
  ['prefer', 'wait=1'],
  ['prefer', 'wait=-5, respond-async'],
  ['prefer', 'wait=9'.repeat(900)],
  ['idempotency-key', ''],
  ['idempotency-key', 'k'.repeat(256)],
  ['idempotency-key', '\u00ff'],
  ['idempotency-key', 'fuzz-one'],
  ['webhook-id', 'w'.repeat(300)],
  ['webhook-id', '{{thread.other}}'],
  ['traceparent', '00-00000000000000000000000000000000-0000000000000000-00'],
  ['traceparent', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['traceparent', `00-${'a'.repeat(900)}`],
  ['tracestate', 'a=b,'.repeat(200)],
  ['baggage', 'level="error"'],
  ['last-event-id', '-1'],
  ['last-event-id', 'x'],
  ['accept', 'text/event-stream'],
  ['accept', 'application/x-nothing'],
  ['accept-encoding', 'br;q=1, *;q=0'],
  ['content-encoding', 'gzip'],
  ['if-match', '"x"'],
  ['if-match', 'W/'],
  ['origin', 'null'],
  ['origin', 'https://evil.example'],
  ['access-control-request-method', 'TRACE'],
  ['upgrade', 'h2c'],
  ['connection', 'upgrade'],
  ['connection', 'close'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-http-method-override', 'DELETE'],
  ['cookie', '__Host-dormouse=x; dormouse=%00'],
  ['range', 'bytes=0-0,-1'],
  ['te', 'trailers'],
];

const rawLines = [
  'no-colon-here',
  ': no name',
  'name with spaces: x',
  ' folded: x',
  'x: a\u0000b',
  'x: \u007f',
  'x: a\rb',
  'x: a\nInjected: b',
  'x\u00e9: b',
  'transfer-encoding: chunked, identity',
  'transfer-encoding: xchunked',
  'content-length: 5, 5',
  'content-length: +5',
] as const;

/** The bytes of a draft as it stands. */
export function bytesOf({ method, target, version, headers, body, chunks, length, rawLines: raw }: HttpDraft): Buffer {
  const size = length === 'body' ? body.length : length;
  const lines = [
    `${method} ${target} ${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(size === 'none' ? [] : [`content-length: ${size}`]),
    ...(chunks === 'none' ? [] : ['transfer-encoding: chunked']),
    ...raw,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, chunks === 'none' ? body : inChunks(body, chunks)]);
}

function inChunks(body: Buffer, kind: 'good' | 'bad'): Buffer {
  if (kind === 'bad') return Buffer.concat([Buffer.from('zz;x\r\n'), body, Buffer.from('\r\n-1\r\n\r\n')]);
  const half = Math.ceil(body.length / 2);
  const parts = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  const written = parts.map((part) =>
    Buffer.concat([Buffer.from(`${part.length.toString(16)};name="value"\r\n`), part, Buffer.from('\r\n')]),
  );
  return Buffer.concat([...written, Buffer.from('0\r\nx-trailer: t\r\n\r\n')]);
}
