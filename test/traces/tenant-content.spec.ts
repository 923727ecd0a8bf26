// Contents in spans, tenant by tenant: those of a tenant whose switch is on, and of no other, as they leave over OTLP.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type System, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';
import { problemsOfSpan } from './span-problems.ts';

const platformKey = 'platform-key-of-the-specs';
let receiver: OtlpReceiver;
let at: Standalone;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  at = await startStandalone({
    env: {
      DORMOUSE_PLATFORM_KEY: platformKey,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
});
afterAll(async () => {
  await at.stop();
  await receiver.close();
  await cleanUp();
});

async function tenant(id: string, more: object): Promise<System> {
  const { json } = await at.request('POST', '/v1/tenants', { id, ...more }, { key: platformKey });
  return { ...at, request: (method, path, body, sent) => at.request(method, path, body, { key: json.key, ...sent }) };
}

const spansOf = (id: string): readonly ReceivedSpan[] =>
  receiver.spans.filter(({ attributes }) => attributes['dormouse.tenant'] === id);
const text = (spans: readonly ReceivedSpan[]): string => JSON.stringify(spans.map(({ attributes }) => attributes));

/** A turn with a call; its spans have arrived. `word` is in the message, the arguments, the result and the answer. */
async function turn(id: string, system: System, word: string): Promise<readonly ReceivedSpan[]> {
  const before = spansOf(id).length;
  const tools = await driveToolServer(system);
  const script = [[toolCall('work', { what: `${word}-arguments` })], [{ text: `${word}-answer` }]];
  const agent = await scriptedAgent(system, script, { tool_servers: [tools.name] });
  const thread = await openThread(system, agent);
  await untilStatus(system, thread, 'idle');
  const said = say(system, thread, `${word}-message`);
  const call = await tools.invocation(0);
  await tools.send(call, { type: 'tool_result', text: `${word}-result` });
  await said;
  await tools.close();
  return eventually(async () => {
    const found = spansOf(id).slice(before);
    const names = found.map(({ name }) => name.split(' ')[0]);
    return names.filter((name) => name === 'chat').length === 2 && names.includes('settle_tool') && found;
  });
}

const parts = (word: string): readonly string[] =>
  ['message', 'arguments', 'result', 'answer'].map((part) => `${word}-${part}`);

it('are there for a tenant whose switch is on, and of no other', async () => {
  const [open, closed] = [await tenant('open', { trace_content: true }), await tenant('closed', {})];
  const [shown, hidden] = await Promise.all([turn('open', open, 'papaya'), turn('closed', closed, 'quince')]);
  for (const part of parts('papaya')) expect(text(shown), part).toContain(part);
  expect(text(hidden)).not.toContain('quince');
  expect(JSON.stringify(receiver.spans)).not.toContain('quince');
  expect(hidden.flatMap((span) => problemsOfSpan(span, false))).toEqual([]);
  expect(shown.flatMap((span) => problemsOfSpan(span, true))).toEqual([]);
});

it('follow the switch within a second, both ways', async () => {
  const system = await tenant('turned', {});
  const set = async (isOn: boolean): Promise<void> => {
    await at.request('PATCH', '/v1/tenants/turned', { trace_content: isOn }, { key: platformKey });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  };
  expect(text(await turn('turned', system, 'before'))).not.toContain('before-');
  await set(true);
  const shown = text(await turn('turned', system, 'during'));
  for (const part of parts('during')) expect(shown, part).toContain(part);
  await set(false);
  expect(text(await turn('turned', system, 'after'))).not.toContain('after-');
});
