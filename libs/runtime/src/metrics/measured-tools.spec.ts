import { createMemoryMetrics } from '@dormouse/adapter-memory';
import { tenantId, type Dedup, type SendOutcome, type ToolServer, type ToolTransport } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import type { CallbackAnswer } from '../callback-gateway/callback-gateway.ts';
import { measuredCallbacks, measuredDedup } from './measured-callbacks.ts';
import { measuredTransport } from './measured-transport.ts';

const server = { name: 'mail' } as ToolServer;
const request = { server, url: '', body: '', headers: {}, timeoutMs: 1 };
const answered = (status: number): SendOutcome => ({ sent: true, status, retryAfterMs: null });
const broken = (code: string, reached: boolean): SendOutcome => ({ sent: false, reached, code, detail: '' });

async function classOf(outcome: SendOutcome): Promise<readonly string[]> {
  const metrics = createMemoryMetrics();
  const transport = { post: async () => outcome } as unknown as ToolTransport;
  await measuredTransport(transport, { metrics, now: () => 0 }).post(request);
  return [...metrics.counted.keys(), ...metrics.recorded.keys()];
}

describe('a POST to a tool server', () => {
  it.each([
    ['5xx', answered(503)],
    ['4xx', answered(404)],
    ['3xx', answered(302)],
    ['not_sent', broken('OUTBOUND_FORBIDDEN', false)],
    ['not_reached', broken('ECONNREFUSED', false)],
    ['no_answer', broken('TIMEOUT', true)],
  ])('is counted as %s, and is no acknowledgement', async (kind, outcome) => {
    expect(await classOf(outcome)).toEqual([`dormouse_tool_attempts_total mail ${kind}`]);
  });

  it('is an acknowledgement with any 2xx', async () => {
    expect(await classOf(answered(202))).toEqual([
      'dormouse_tool_attempts_total mail 2xx',
      'dormouse_tool_ack_seconds mail',
    ]);
  });
});

describe('a callback', () => {
  it('is counted by the status of its answer, a failure too', async () => {
    const metrics = createMemoryMetrics();
    const answers: (() => Promise<CallbackAnswer>)[] = [
      async () => ({ status: 410 }),
      () => Promise.reject(new Error('a fault of ours')),
    ];
    const gateway = measuredCallbacks({ receive: () => answers.shift()?.() ?? Promise.reject(new Error()) }, metrics);
    await gateway.receive('', () => Promise.reject(new Error()));
    await expect(gateway.receive('', () => Promise.reject(new Error()))).rejects.toThrow('ours');
    expect([...metrics.counted.keys()]).toEqual(['dormouse_callbacks_total 410', 'dormouse_callbacks_total 500']);
  });

  it('that was accepted before is a duplicate of its kind', async () => {
    const metrics = createMemoryMetrics();
    const dedup: Dedup = { seen: async (_tenant, id) => id.endsWith('call_1'), remember: async () => {} };
    const measured = measuredDedup(dedup, metrics);
    await measured.seen(tenantId('acme'), 'thr_1:r:call_1');
    await measured.seen(tenantId('acme'), 'thr_1:r:call_2');
    expect([...metrics.counted]).toEqual([['dormouse_duplicates_total ToolResult', 1]]);
  });
});
