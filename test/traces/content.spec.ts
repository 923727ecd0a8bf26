// Contents in spans, where an operator has asked for them: in the shapes that the GenAI conventions publish.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually, openThread, say, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, startStandalone } from '../e2e/standalone-process.ts';
import { problemsOfSpan } from './span-problems.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), content: z.string() }),
  z.object({ type: z.literal('reasoning'), content: z.string() }),
  z.object({ type: z.literal('tool_call'), id: z.string().optional(), name: z.string(), arguments: z.unknown() }),
  z.object({ type: z.literal('tool_call_response'), id: z.string(), response: z.unknown() }),
]);
const message = z.object({ role: z.enum(['system', 'user', 'assistant', 'tool']), parts: z.array(part) });
const inputs = z.array(message);
const outputs = z.array(message.extend({ finish_reason: z.string() }));

let receiver: OtlpReceiver;
let chats: readonly ReceivedSpan[];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const at = await startStandalone({
    env: {
      DORMOUSE_TRACE_CONTENT: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const script = [[{ tool_call: { name: 'weather', arguments: { city: 'Oslo' } } }], [{ text: 'Cold.' }]];
  const thread = await openThread(at, await scriptedAgent(at, script));
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'How is it in Oslo?');
  chats = await eventually(async () => {
    const found = receiver.spans.filter(({ name }) => name.startsWith('chat'));
    return found.length === 2 && found;
  });
  await at.stop();
});
afterAll(async () => {
  await receiver.close();
  await cleanUp();
});

const read = <Shape>(schema: z.ZodType<Shape>, span: ReceivedSpan | undefined, name: string): Shape =>
  schema.parse(JSON.parse(String(span?.attributes[name])));

it('has prompts and answers', () => {
  const [first, second] = chats;
  expect(read(inputs, first, 'gen_ai.input.messages')).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'How is it in Oslo?' }] },
  ]);
  expect(read(outputs, first, 'gen_ai.output.messages')).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', name: 'weather', arguments: { city: 'Oslo' } }],
      finish_reason: 'tool_call',
    },
  ]);
  const roles = read(inputs, second, 'gen_ai.input.messages').map(({ role }) => role);
  expect(roles).toEqual(['user', 'assistant', 'tool']);
  expect(read(outputs, second, 'gen_ai.output.messages')).toMatchObject([
    { parts: [{ type: 'text', content: 'Cold.' }], finish_reason: 'stop' },
  ]);
});

it('keeps to the table of the conventions', () => {
  expect(receiver.spans.flatMap((span) => problemsOfSpan(span, true))).toEqual([]);
});

it('has the arguments and the result of a call', () => {
  const executed = receiver.spans.find(({ name }) => name === 'execute_tool weather');
  expect(JSON.parse(String(executed?.attributes['gen_ai.tool.call.arguments']))).toEqual({ city: 'Oslo' });
  expect(executed?.attributes['gen_ai.tool.description']).toMatch(/weather/i);
  const settled = receiver.spans.find(({ name }) => name === 'settle_tool weather');
  expect(String(settled?.attributes['gen_ai.tool.call.result'])).toContain('Oslo');
});
