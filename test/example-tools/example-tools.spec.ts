import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ExampleTools, startExampleTools } from '@dormouse/example-tools';
import { parseCallback, parseToolset } from '@dormouse/protocol';
import { patienceMs } from '../patience.ts';

interface Delivered {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
  readonly at: number;
}

const delivered: Delivered[] = [];
/** The answers of the sink, in order; 200 when empty. */
let answers: number[] = [];
const sink = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const contentType = request.headers['content-type'] ?? '';
    delivered.push({
      path: request.url ?? '',
      contentType,
      body: Buffer.concat(chunks).toString('utf8'),
      at: performance.now(),
    });
    response.writeHead(answers.shift() ?? 200).end();
  });
});
let callback: string;
let tools: ExampleTools;

beforeAll(async () => {
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  callback = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  tools = await startExampleTools({
    port: 0,
    host: '127.0.0.1',
    delivery: { firstPauseMs: 20, pauseMsMax: 40, timeoutMs: 500 },
  });
});
afterAll(async () => {
  await tools.close();
  sink.close();
});
beforeEach(() => {
  delivered.length = 0;
  answers = [];
});

let count = 0;
const nextId = (): string => `call_${(count += 1)}`;

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${tools.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const invocation = (
  operation: string,
  given: unknown,
  extra: Record<string, unknown> = {},
): Record<string, unknown> => ({
  operation,
  arguments: given,
  id: nextId(),
  call_id: null,
  callback_url: `${callback}/callback/token`,
  group_id: 'thr_1',
  ...extra,
});

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));

async function resultOf(operation: string, given: unknown, extra: Record<string, unknown> = {}): Promise<string> {
  const before = delivered.length;
  expect((await post('/invoke', invocation(operation, given, extra))).status).toBe(200);
  await until(() => delivered.length > before);
  const parsed = parseCallback(JSON.parse(delivered.at(-1)?.body ?? ''));
  if (!parsed.ok || parsed.callback.type !== 'tool_result') throw new Error('no tool_result');
  return parsed.callback.text ?? '';
}

describe('the manifest', () => {
  it('T1 T46 is valid, current and JSON, and names an endpoint that works', async () => {
    const response = await fetch(`${tools.url}/.well-known/rap-toolset`);
    expect(response.headers.get('content-type')).toContain('application/json');
    const parsed = parseToolset(await response.json());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    expect(parsed.toolset.endpoint).toBe(`${tools.url}/invoke`);
    expect(parsed.toolset.tools.map((tool) => tool.name)).toEqual([
      'clock',
      'weather',
      'slow_job',
      'flaky',
      'delete_everything',
      'roll_dice',
      'watch_repository',
      'run_build',
      'deploy',
      'draw',
      'propose_change',
      'remind_me',
      'connect_calendar',
    ]);
    expect(
      parsed.toolset.tools.filter((tool) => tool.annotations?.destructive === true).map((tool) => tool.name),
    ).toEqual(['delete_everything']);
  });
});

describe('an invocation', () => {
  it('T6 T8 T12 T13 is acknowledged at once and answered at the callback with its ids', async () => {
    const response = await post(
      '/invoke',
      invocation('slow_job', { seconds: 0.3 }, { id: 'call_slow', call_id: 'p_1' }),
    );
    expect(response.status).toBe(200);
    expect(delivered).toEqual([]);
    await until(() => delivered.length === 1);
    expect(JSON.parse(delivered[0]?.body ?? '')).toMatchObject({
      type: 'tool_result',
      id: 'call_slow',
      call_id: 'p_1',
      group_id: 'thr_1',
      text: 'The slow job is done; it took 0.3 s.',
    });
    expect(delivered[0]?.contentType).toMatch(/^application\/json/);
  });

  it('T13 without a call_id is answered without one', async () => {
    await resultOf('roll_dice', {});
    expect(JSON.parse(delivered[0]?.body ?? '')).not.toHaveProperty('call_id');
  });

  it('T17 uses the callback URL byte for byte', async () => {
    const path = '/CallBack/a%2Fb%7e/../x//y;z?q=%20A&&b=C%2b+d';
    await resultOf('roll_dice', {}, { callback_url: `${callback}${path}` });
    expect(delivered[0]?.path).toBe(path);
  });

  it('T15 is delivered again after 5xx with the same body and growing pauses', async () => {
    answers = [503, 500, 200];
    await post('/invoke', invocation('roll_dice', { count: 3 }));
    await until(() => delivered.length === 3);
    await quiet();
    expect(delivered.length).toBe(3);
    expect(new Set(delivered.map((each) => each.body)).size).toBe(1);
    const [first = 0, second = 0, third = 0] = delivered.map((each) => each.at);
    expect(second - first).toBeGreaterThan(8);
    expect(third - second).toBeGreaterThan(18);
  });

  it('T16 is not delivered again after 4xx', async () => {
    answers = [404];
    await post('/invoke', invocation('roll_dice', {}));
    await until(() => delivered.length === 1);
    await quiet();
    expect(delivered.length).toBe(1);
  });

  it('T9 T10 T19 of a tool or with arguments that do not exist gets 200 and an error result', async () => {
    expect(await resultOf('nonsense', {})).toBe('Error: there is no tool "nonsense" here.');
    expect(await resultOf('weather', { town: 'Oslo' })).toMatch(/^Error: these arguments do not fit the tool\. .*city/);
    expect(await resultOf('slow_job', { seconds: 'long' })).toMatch(/^Error: .*seconds/);
    expect(await resultOf('weather', 'Oslo')).toMatch(/^Error: this is not a valid invocation: \/arguments/);
  });

  it('that nobody could answer is refused: no JSON, no address, too large, another type', async () => {
    expect((await post('/invoke', '{"operation":')).status).toBe(400);
    expect((await post('/invoke', { operation: 'clock', arguments: {} })).status).toBe(422);
    expect((await post('/invoke', 'x'.repeat(2_100_000))).status).toBe(413);
    expect((await post('/invoke', invocation('clock', {}), { 'content-type': 'text/plain' })).status).toBe(415);
    await quiet();
    expect(delivered).toEqual([]);
  });

  it('T24 runs beside a hundred others without mixing anything up', async () => {
    const calls = Array.from({ length: 100 }, (_, index) =>
      invocation('weather', { city: index % 2 === 0 ? 'Oslo' : 'Rome' }, { callback_url: `${callback}/c/${index}` }),
    );
    await Promise.all(calls.map((call) => post('/invoke', call)));
    await until(() => delivered.length === 100);
    for (const { path, body } of delivered) {
      const index = Number(path.slice(3));
      const result = JSON.parse(body) as { readonly id: string; readonly text: string };
      expect(result.id).toBe(calls[index]?.['id']);
      expect(result.text).toContain(index % 2 === 0 ? 'Oslo' : 'Rome');
    }
  });

  it('sent twice is run once, and its result may come twice', async () => {
    const call = invocation('roll_dice', { count: 20 });
    await post('/invoke', call);
    await post('/invoke', call);
    await quiet();
    expect(new Set(delivered.map(({ body }) => body)).size).toBe(1);
  });

  it('T48 of another toolset version gets 409 and runs nothing; of this one it runs', async () => {
    expect((await post('/invoke', invocation('roll_dice', {}, { toolset_version: '0' }))).status).toBe(409);
    await quiet();
    expect(delivered).toEqual([]);
    await resultOf('roll_dice', {}, { toolset_version: '1' });
  });
});

describe('the tools', () => {
  it('clock knows zones and cities, and says when it does not', async () => {
    expect(await resultOf('clock', { zone: 'Asia/Tokyo' })).toMatch(/^It is .* \(Asia\/Tokyo\)\.$/);
    expect(await resultOf('clock', { zone: 'sao paulo' })).toContain('in São Paulo (America/Sao_Paulo)');
    expect(await resultOf('clock', {})).toContain('(UTC)');
    expect(await resultOf('clock', { zone: 'Atlantis' })).toMatch(/^Error: .*Atlantis/);
  });

  it('weather answers from bundled data, and says when it has none', async () => {
    expect(await resultOf('weather', { city: 'lisbon' })).toBe(
      'Lisbon, Portugal: 18 °C, sunny, wind 4 m/s (sample data).',
    );
    expect(await resultOf('weather', { city: 'Oslo', unit: 'fahrenheit' })).toContain('36 °F');
    expect(await resultOf('weather', { city: 'Atlantis' })).toMatch(/^Error: no weather for "Atlantis"/);
  });

  it('flaky is refused as often as it was told, then works', async () => {
    const call = invocation('flaky', { failures: 2 });
    const statuses = [];
    for (let at = 0; at < 3; at += 1) statuses.push((await post('/invoke', call)).status);
    expect(statuses).toEqual([503, 503, 200]);
    await until(() => delivered.length === 1);
    expect(delivered[0]?.body).toContain('worked after 2 refusals');
  });

  it('flaky answers with errors, counted per thread, where it was told so', async () => {
    const given = { failures: 1, how: 'answer' };
    expect(await resultOf('flaky', given)).toMatch(/^Error: /);
    expect(await resultOf('flaky', given, { group_id: 'thr_2' })).toMatch(/^Error: /);
    expect(await resultOf('flaky', given)).toContain('worked after 1 errors');
  });
});

describe('notices', () => {
  it('T35 T37 T40 a cancelled or closed slow job stops, and the answer is 200 with nothing', async () => {
    const one = invocation('slow_job', { seconds: 0.2 });
    const other = invocation('slow_job', { seconds: 0.2 }, { group_id: 'thr_9' });
    await post('/invoke', one);
    await post('/invoke', other);
    const cancelled = await post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: one['id'] });
    const closed = await post('/close_thread', { thread_id: 'thr_9' });
    for (const response of [cancelled, closed]) expect([response.status, await response.text()]).toEqual([200, '']);
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(delivered).toEqual([]);
  });

  it('T35 T36 T39 are answered with 200 for unknown ids, twice, and for nonsense', async () => {
    for (const body of [{ thread_id: '../../x' }, { thread_id: '../../x' }, {}, 'not json']) {
      for (const path of ['/close_thread', '/cancel_tool_call']) {
        const response = await post(path, body);
        expect([response.status, await response.text()]).toEqual([200, '']);
      }
    }
  });
});

describe('a bearer token', () => {
  it('T38 is needed for calls and notices alike when one is set', async () => {
    const guarded = await startExampleTools({ port: 0, host: '127.0.0.1', bearer: 'secret' });
    const ask = async (path: string, authorization: string): Promise<number> =>
      (await fetch(`${guarded.url}${path}`, { method: 'POST', headers: { authorization }, body: '{}' })).status;
    for (const path of ['/invoke', '/close_thread', '/cancel_tool_call']) {
      expect(await ask(path, 'Bearer wrong')).toBe(401);
      expect(await ask(path, 'Bearer secret')).not.toBe(401);
    }
    await guarded.close();
  });
});
