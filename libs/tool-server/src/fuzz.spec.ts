// Every route, fed with untrusted input: bodies that are nearly right, in every field, in any order, with repeated ids,
// and with restarts on the same data directory in between.
import { request } from 'node:http';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { webhook } from './http/route.ts';
import { serve } from './serve.ts';
import { later, quickDelivery, temporaryFolder } from './spec/bench.ts';
import { eventually } from './spec/callback-sink.ts';
import { type ForeignRuntime, startForeignRuntime } from './spec/foreign-runtime.ts';
import { defineTool } from './define/tool.ts';
import { ToolError } from './define/tool-output.ts';
import type { ToolServer } from './define/tool-server.ts';

const runs = 60;
const msMax = 60_000;

const say = defineTool(
  { name: 'say', description: 'Says it.', input: z.strictObject({ text: z.string().default('nothing') }) },
  ({ text }) => text,
);
const fail = defineTool({ name: 'fail', description: 'Fails.', input: z.looseObject({}) }, (given) => {
  if ('text' in given) throw new ToolError(String(given['text']));
  throw new TypeError('broken');
});
const watch = defineTool(
  {
    name: 'watch',
    description: 'Subscribes.',
    input: z.looseObject({}),
    resume: (subscription) => void subscription.emit('resumed'),
  },
  async (given, context) => {
    await context.view('board', { given });
    const subscription = await context.subscribe({ data: given });
    subscription.emit(JSON.stringify(given), { eventId: 'first' });
  },
);
const ask = defineTool(
  { name: 'ask', description: 'Asks.', input: z.looseObject({}), onRestart: 'rerun_if_asking' },
  async (_given, context) =>
    (await context.choose({ prompt: 'Which?', choices: ['a', 'b'], default: 0, timeoutMs: 150 })).label,
);
const tools = [say, fail, watch, ask];
const routes = [webhook({ path: '/hook', secret: 'shared', scheme: 'github', handle: () => {} })];

const start = (dataDir: string): Promise<ToolServer> =>
  serve({
    name: 'fuzzed',
    tools,
    routes,
    dataDir,
    delivery: quickDelivery,
    log: () => {},
    handoverKey: new Uint8Array(32),
    limits: { closeMsMax: 100 },
  });

/** Texts that often break parsers; few ids, so that they repeat. */
const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '../../key',
    '__proto__',
    'ü測🐭',
    '\ud800',
    'null',
    "'; DROP TABLE calls; --",
    '%00',
    '\r\n',
  ),
  fc.integer({ min: 190, max: 9_000 }).map((length) => 'x'.repeat(length)),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('call_0', 'call_1', 'i'.repeat(5_000)) },
  { weight: 1, arbitrary: oddText },
);
const thread = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('thread', 't'.repeat(5_000)) },
  { weight: 1, arbitrary: oddText },
);
const anything = fc.oneof(
  oddText,
  fc.constant(null),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant([]),
  fc.jsonValue(),
);

/** Mostly a valid value, sometimes null or any other, sometimes absent. */
const field = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 40, arbitrary: right },
    { weight: 1, arbitrary: anything },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

/** `{callback}` becomes the runtime's address. */
const invocation = fc.record({
  operation: field(fc.constantFrom('say', 'fail', 'watch', 'ask', 'nonsense')),
  arguments: field(
    fc.oneof(fc.constant({}), fc.record({ text: oddText }), fc.dictionary(oddText, anything, { maxKeys: 3 })),
  ),
  id: field(id),
  call_id: field(fc.oneof(fc.constant(null), oddText)),
  callback_url: field(
    fc.constantFrom('{callback}/callback', '{callback}/callback?a=%2F&b', 'http://127.0.0.1:1/x', 'ftp://x'),
  ),
  group_id: field(thread),
  thread_ancestors: field(fc.oneof(fc.constant(null), fc.array(thread, { maxLength: 2 }))),
  user_id: field(fc.oneof(fc.constant(null), oddText)),
  toolset_version: field(fc.oneof(fc.constant(null), oddText)),
});
const bodies = {
  '/invoke': invocation,
  '/close_thread': fc.record({ thread_id: field(thread) }),
  '/cancel_tool_call': fc.record({ thread_id: field(thread), tool_call_id: field(id) }),
  '/choice/{choice}': fc.record({ id: field(id), selected: field(fc.integer({ min: -1, max: 40 })) }),
  '/choice/unknown': fc.record({ id, selected: fc.integer() }),
  '/migrate': fc.record({
    session_id: field(thread),
    destination_url: field(fc.constantFrom('{callback}', 'nowhere')),
  }),
  '/handover': anything,
  '/hook': anything,
  '/elsewhere': anything,
} satisfies Record<string, fc.Arbitrary<unknown>>;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** JSON of a shape, sometimes cut off or followed by garbage. */
const textOf = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(200) }))
    .map(([json, cut]) => (JSON.stringify(json) ?? '').slice(0, cut ?? undefined));

const headers = fc.record({
  'content-type': fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8') },
    { weight: 1, arbitrary: fc.constantFrom('text/plain', 'x', '') },
  ),
  'idempotency-key': fc.constantFrom(undefined, undefined, 'key 1', 'key 2', 'k'.repeat(5_000)),
  'x-hub-signature-256': fc.constantFrom(undefined, 'sha256=00', ''),
});

const post = (path: keyof typeof bodies): fc.Arbitrary<Sent> =>
  fc.record({
    method: fc.constant('POST'),
    path: fc.constant(path),
    body: textOf(bodies[path]),
    headers: headers as fc.Arbitrary<Sent['headers']>,
  });
const paths = Object.keys(bodies) as (keyof typeof bodies)[];
const visit: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'DELETE', 'POST'),
  path: fc.constantFrom(
    '/healthz',
    '/readyz',
    '/.well-known/rap-toolset',
    '/oauth/callback?state=x&code=y',
    '/oauth/callback?%',
    '/hook',
    '/invoke',
    '/',
  ),
  body: fc.constant(''),
  headers: fc.constant({}),
});
const step = fc.oneof(
  { weight: 8, arbitrary: post('/invoke') },
  { weight: 6, arbitrary: fc.oneof(...paths.map(post)) },
  { weight: 2, arbitrary: visit },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
);

/** Null when there was no answer. */
function statusOf(url: string, { method, path, body, headers: given }: Sent): Promise<number | null> {
  const { hostname: host, port } = new URL(url);
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  return new Promise((resolve) => {
    const sending = request(
      { host, port, method, path, headers: Object.fromEntries(fields), agent: false },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? null));
      },
    );
    sending.on('error', () => resolve(null));
    sending.end(body);
  });
}

interface Posted {
  readonly id: unknown;
  readonly group: unknown;
}

/** Whether a result must arrive: the call was acknowledged, and says where to. */
function expected(text: string, callback: string): Posted | null {
  const body = jsonOf(text);
  return String(body['callback_url']).startsWith(callback) ? { id: body['id'], group: body['group_id'] } : null;
}

/** Without members when it is no object. */
function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {}; // cut off
  }
}

/** A cancelled call owes nothing, nor does a closed thread. */
const isAbout = (notice: Readonly<Record<string, unknown>>, { id: call, group }: Posted): boolean =>
  notice['thread_id'] === group && (notice['tool_call_id'] ?? call) === call;

const answersOf = (runtime: ForeignRuntime, { id: call, group }: Posted): number =>
  runtime.messages.filter((each) => each['type'] === 'tool_result' && each['id'] === call && each['group_id'] === group)
    .length;

it('T3 T10 T11 T12 T26 T35 whatever comes is answered, what is acknowledged ends, and the next process starts', async () => {
  const runtime = await startForeignRuntime('');
  later(runtime.close);
  const live = async (steps: readonly (Sent | 'restart')[]): Promise<void> => {
    runtime.messages.splice(0);
    const dataDir = await temporaryFolder();
    let server = await start(dataDir);
    try {
      const acknowledged: Posted[] = [];
      const ended: Readonly<Record<string, unknown>>[] = [];
      for (const each of steps) {
        if (each === 'restart') {
          await server.close();
          server = await start(dataDir);
          continue;
        }
        const question = runtime.messages.findLast(({ type }) => type === 'user_choice');
        const choice = new URL(String(question?.['response_url'] ?? 'http://x/choice/none')).pathname.slice(
          '/choice/'.length,
        );
        const path = each.path.replace('{choice}', choice);
        const body = each.body.replaceAll('{callback}', runtime.url);
        const status = await statusOf(server.url, { ...each, path, body });
        expect(status, `${each.method} ${path}`).not.toBeNull();
        expect(status, `${each.method} ${path}`).not.toBe(500);
        if (each.method === 'POST' && (path === '/close_thread' || path === '/cancel_tool_call')) {
          expect(status).toBe(200);
          ended.push(jsonOf(body));
        }
        const call = path === '/invoke' && status === 200 ? expected(body, runtime.url) : null;
        if (call !== null) acknowledged.push(call);
      }
      for (const call of acknowledged.filter((each) => !ended.some((notice) => isAbout(notice, each))))
        await eventually(() => answersOf(runtime, call) > 0, `the end of ${String(call.id).slice(0, 40)}`);
      const echoed = runtime.messages.filter(({ type }) => type === 'tool_result');
      for (const { id: call, group_id: group } of echoed) expect(acknowledged).toContainEqual({ id: call, group });
      await server.close();
      server = await start(dataDir);
      runtime.use(server.url);
      expect(await statusOf(server.url, { method: 'GET', path: '/readyz', body: '', headers: {} })).toBe(200);
      expect(await runtime.ask({ operation: 'say', arguments: { text: 'well' }, id: 'last', thread: 'last' })).toBe(
        'well',
      );
    } finally {
      await server.close();
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), live), {
    numRuns: runs,
    interruptAfterTimeLimit: msMax,
  });
});
