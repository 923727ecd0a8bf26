// What a process shows of itself has no credential in it: a byte scan of its spans, its lines at info and its metrics,
// after each kind of credential has been used, also where it does not belong.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

const login = 'state-of-a-login-1';
const stored = 'value-of-a-secret-2';
const strangerToken = 'token-of-a-stranger-3';
const strangerKey = 'dmk_key-of-a-stranger-4';
const inPath = 'credential-in-a-path-5';

let receiver: OtlpReceiver;
let tools: DrivenToolServer;
let shown: Readonly<Record<'spans' | 'lines' | 'metrics', string>>;
let used: readonly string[];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const at = await startStandalone({
    env: {
      DORMOUSE_LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  tools = await driveToolServer(at);
  const secret = { value: stored, origins: [tools.url] };
  expect((await at.request('PUT', '/v1/secrets/mine', secret)).status).toBeLessThan(300);
  const script = [[toolCall('work')], [{ text: 'done' }]];
  const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
  await untilStatus(at, thread, 'idle');
  const turn = say(at, thread, 'go');
  const invocation = await tools.invocation(0);
  expect(await tools.send(invocation, { type: 'oauth', auth_url: `https://login.example/?state=${login}` })).toBe(200);
  await untilEvent(at, thread, 'oauth_requested');
  const issued = await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 });
  const token: string = issued.json.token;
  const events = `${at.url}/v1/threads/${thread}/events?access_token=${token}`;
  const stream = await fetch(events, { headers: { accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
  expect((await fetch(`${at.url}/v1/threads?access_token=${strangerToken}`)).status).toBe(401);
  expect((await at.request('POST', '/v1/threads', {}, { key: strangerKey })).status).toBe(401);
  for (const path of [
    `/callback/${strangerToken}`,
    `/callback/${inPath}/more`,
    `/v1/${inPath}`,
    `/v1/threads/${inPath}/close`,
  ])
    expect((await at.request('POST', path, {})).status).toBeGreaterThanOrEqual(400);
  expect(await tools.send(invocation, { type: 'tool_result' })).toBeGreaterThanOrEqual(400); // logged as refused
  expect(await tools.send(invocation, { type: 'tool_result', text: 'ok' })).toBe(200);
  await turn;
  await eventually(async () => receiver.spans.some(({ name }) => name === 'settle_tool work'));
  const metrics = (await at.request('GET', '/metrics')).text;
  expect(await at.stop()).toBe(0);
  const lines = at.output().split('\n');
  shown = { spans: receiver.raw.join('\n'), lines: lines.filter((line) => line.startsWith('{')).join('\n'), metrics };
  const callback = new URL(invocation.callback_url).pathname.slice('/callback/'.length);
  used = [at.key, token, callback, login, stored, strangerToken, strangerKey, inPath];
});
afterAll(async () => {
  await tools.close();
  await receiver.close();
  await cleanUp();
});

it.each(['spans', 'lines', 'metrics'] as const)('%s', (what) => {
  const text = shown[what];
  expect(text).toContain({ spans: 'settle_tool', lines: 'callback_refused', metrics: 'dormouse_turns_total' }[what]);
  expect(used.filter((credential) => credential === '' || text.includes(credential))).toEqual([]);
});
