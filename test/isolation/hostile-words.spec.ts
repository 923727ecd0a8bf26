// Words that try to end a line, a header or a string wherever a client, a tool or a sender may put words: every log
// line stays one JSON object, and no answer and no request of ours has a header that they name.
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordToolServer, type RecordingToolServer, tool } from '../conformance/recording-tool-server.ts';
import { eventually, openThread, type System, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { endReceivers, startReceiver, type WebhookReceiver } from '../e2e/webhook-receiver.ts';
import { platformKey, tenantOf } from './tenant-system.ts';

const forged = '{"level":"fatal","event":"forged"}';
const corpus: readonly string[] = [
  `a\r\nx-evil: 1\r\n\r\n${forged}`,
  `a\n${forged}`,
  `a\r${forged}`,
  `a\u2028${forged}\u2029${forged}`,
  `a\u0085${forged}\u000b${forged}\u000c${forged}`,
  `a","level":"fatal","event":"forged","b":"`,
  `a\\","event":"forged`,
  '\u001b[2J\u001b[31mforged\u001b[0m\u001b]0;forged\u0007',
  '\u009b31mforged',
  '\u0000forged\u0000',
  '\u202egnol\u202c \u200b\ufeff',
  '%0d%0ax-evil:%201',
  '${jndi:ldap://forged.example/a} {{/x}} %s %j %n',
  '<script>forged()</script>',
  'x'.repeat(20_000),
];

let at: System;
let tools: RecordingToolServer;
let receiver: WebhookReceiver;
const answers: Headers[] = [];
beforeAll(async () => {
  const root = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey, DORMOUSE_LOG_LEVEL: 'trace' });
  const own = await tenantOf(root, 'words');
  at = {
    ...own,
    request: async (...asked) => {
      const answer = await own.request(...asked);
      answers.push(answer.headers);
      return answer;
    },
  };
  tools = await recordToolServer(at, { tools: [tool('work', { inputSchema: { type: 'object' } })] });
  receiver = await startReceiver();
  const hook = { url: receiver.url, events: ['thread.idle', 'thread.failed'] };
  expect((await at.request('POST', '/v1/webhooks', hook)).status).toBe(201);
});
afterAll(async () => {
  await tools.close();
  await endReceivers();
  await endSystems();
});

/** A request as bytes: a client of HTTP would refuse to send these headers. */
function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(at.url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.end(Buffer.from(bytes, 'latin1')));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('close', () => resolve(answer));
    socket.on('error', () => resolve(answer)); // it hangs up on what is too large
  });
}

async function turnWith(words: string, place: number): Promise<void> {
  const name = `words-${place}`;
  const script = [[toolCall('work', { [words.slice(0, 50)]: words })], [{ text: words }]];
  const model = { provider: 'scripted', parameters: { script } };
  const agent = { name, instructions: words, model, tool_servers: [tools.name] };
  expect((await at.request('POST', '/v1/agents', agent)).status).toBe(201);
  const labels = { title: words.slice(0, 100), metadata: { label: words.slice(0, 100) } };
  const refused = await at.request('POST', '/v1/threads', { agent: words, external_id: words, ...labels });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  const thread = await openThread(at, name, {});
  await at.request('PATCH', `/v1/threads/${thread}`, labels);
  const encoded = encodeURIComponent(words.slice(0, 500)); // a longer path is another refusal
  await at.request('POST', `/v1/threads/${thread}/messages`, { text: words });
  const call = await eventually(async () => tools.invocations().find(({ json }) => json.group_id === thread)?.json);
  await tools.send(call, {
    type: 'view_update',
    view_type: words.slice(0, 100),
    content: { [words.slice(0, 9)]: words },
  });
  await tools.send(call, { type: 'tool_result', text: { wrong: words } });
  await tools.send(call, { type: words });
  await tools.send(call, { type: 'tool_result', text: `Error: ${words}` });
  await untilStatus(at, thread, 'idle');
  await at.request('POST', `/v1/threads/${thread}/events`, { source: words, id: words, text: words });
  for (const path of [`/v1/threads/${encoded}`, `/callback/${encoded}`, `/hooks/${encoded}/${encoded}`, `/${encoded}`])
    expect((await at.request('POST', path, { text: words })).status).toBeGreaterThanOrEqual(400);
  await at.request('GET', `/v1/threads?external_id=${encoded}&metadata[x]=${encoded}`);
  await at.request('PUT', `/v1/secrets/words-${place}`, { value: words, origins: [tools.url] });
  const auth = { type: 'bearer', secret: `words-${place}` };
  await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth });
  await at.request('POST', `/v1/tool-servers/${tools.name}/probe`);
  await at.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth: null });
  const headers = [
    'x-request-id',
    'traceparent',
    'baggage',
    'idempotency-key',
    'user-agent',
    'origin',
    'last-event-id',
  ];
  const lines = headers.map((header) => `${header}: ${words}`).join('\r\n');
  await sendRaw(
    `GET /v1/threads/${thread}/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${at.key}\r\n${lines}\r\n\r\n`,
  );
}

it('stay words: no log line, no answer and no request is made by them', async () => {
  for (const [place, words] of corpus.entries()) await turnWith(words, place);
  const failing = { provider: 'scripted', parameters: { script: [[{ fail: { status: 400 } }]] } };
  await at.request('POST', '/v1/agents', { name: 'failing', model: failing, tool_servers: [] });
  const failed = await openThread(at, 'failing', { message: { text: corpus[0] } });
  await untilEvent(at, failed, 'completion_failed');
  await receiver.came(1);

  const printed = at.output();
  // The launcher of a cluster says what runs where in a line of its own, which is no log line.
  const isLog = (line: string): boolean => line.trimStart().startsWith('{') && !line.includes('"serverPids"');
  const lines = printed.split('\n').filter(isLog);
  expect(lines.length).toBeGreaterThan(50);
  for (const line of lines) {
    const read = JSON.parse(line);
    expect(['info', 'warn', 'error', 'debug', 'trace']).toContain(read.level);
    expect(read.event).toMatch(/^[a-z0-9_]+$/);
  }
  // eslint-disable-next-line no-control-regex -- control characters are what this is about
  expect(printed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/);
  expect(printed).not.toContain('x'.repeat(10_000));
  for (const headers of answers) expect(headers.has('x-evil')).toBe(false);
  // A bearer is the tenant's own word: one that could end its header is not sent.
  const sent = [...tools.requests, ...receiver.posts].map(({ headers: { authorization: _own, ...headers } }) =>
    JSON.stringify(headers),
  );
  expect(sent.length).toBeGreaterThan(corpus.length);
  expect(sent.filter((headers) => /evil|forged/.test(headers))).toEqual([]);
});
