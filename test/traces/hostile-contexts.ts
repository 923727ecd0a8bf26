// What a stranger may send as the context of a trace, at the doors of a system: messages of clients and callbacks of
// tool servers.
import { expect } from 'vitest';
import { eventually, openThread, say, scriptedAgent, type System, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

/** None of these names a span. */
export const hostileTraceparents: readonly string[] = [
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `ff-${traceId}-${spanId}-01`,
  `01-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-zz`,
  `00-${traceId}-${spanId}-1`,
  `00-${traceId}-${spanId}-01-${'x'.repeat(4_000)}`,
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  `00-${traceId.slice(1)}\u00e9-${spanId}-01`,
  "'; DROP TABLE spans; --",
];

const hostileRest = { tracestate: `${'a=\u00e9,'.repeat(500)}=`, baggage: 'user.id=alice,dormouse.tenant=other' };

/** A turn with one call per hostile text: the message and the callback carry it. */
export async function knockWithHostileContexts(at: System, receiver: OtlpReceiver): Promise<void> {
  const tools = await driveToolServer(at);
  try {
    const script = hostileTraceparents.flatMap(() => [[toolCall('work')], [{ text: 'done' }]]);
    const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    await untilStatus(at, thread, 'idle');
    for (const [index, traceparent] of hostileTraceparents.entries()) {
      const headers = { traceparent, ...hostileRest };
      const posted = await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' }, { headers });
      expect({ traceparent, status: posted.status }).toEqual({ traceparent, status: 202 });
      const invocation = await tools.invocation(index);
      const answered = await tools.send(invocation, { type: 'tool_result', text: 'ok' }, headers);
      expect({ traceparent, status: answered }).toEqual({ traceparent, status: 200 });
      await untilStatus(at, thread, 'idle');
    }
    for (const { headers } of tools.requests) {
      expect(headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(headers['traceparent']).not.toContain(traceId);
      expect([headers['tracestate'], headers['baggage']]).toEqual([undefined, undefined]);
    }
    const ofDoor = async (name: string): Promise<readonly ReceivedSpan[]> =>
      eventually(async () => {
        const found = receiver.spans.filter(
          (span) => span.name === name && span.attributes['gen_ai.conversation.id'] === thread,
        );
        return found.length >= hostileTraceparents.length && found;
      });
    for (const name of ['POST /v1/threads/{id}/messages', 'POST /callback/{token}'])
      for (const span of await ofDoor(name)) expect(span).toMatchObject({ parentId: null, links: [] });
    const seen = receiver.spans.filter((span) => span.attributes['gen_ai.conversation.id'] === thread);
    expect(seen.some((span) => span.traceId.toLowerCase() === traceId)).toBe(false);
    expect(receiver.raw.join('\n')).not.toMatch(/DROP TABLE|alice|x{100}/);
  } finally {
    await tools.close();
  }
}

/** A well-formed context of a stranger, not sampled there: a client's is the parent, a tool server's only a link. */
export async function knockWithForeignContext(at: System, receiver: OtlpReceiver): Promise<void> {
  const headers = { traceparent: `00-${traceId}-${spanId}-00`, ...hostileRest };
  const thread = await openThread(at, await scriptedAgent(at, [[{ text: 'done' }]], { tool_servers: [] }));
  await untilStatus(at, thread, 'idle');
  await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' }, { headers });
  const server = await eventually(async () =>
    receiver.spans.find((span) => span.traceId === traceId && span.kind === 'server'),
  );
  expect(server.parentId).toBe(spanId);
  const tools = await driveToolServer(at);
  try {
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const other = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    const turn = say(at, other, 'go');
    expect(await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'ok' }, headers)).toBe(200);
    await turn;
    const callback = await eventually(async () =>
      receiver.spans.find(
        (span) => span.name === 'POST /callback/{token}' && span.attributes['gen_ai.conversation.id'] === other,
      ),
    );
    expect(callback).toMatchObject({ parentId: null, links: [{ traceId, spanId }] });
    expect(callback.traceId).not.toBe(traceId);
  } finally {
    await tools.close();
  }
}
