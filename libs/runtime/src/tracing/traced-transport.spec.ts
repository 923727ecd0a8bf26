import {
  type SendOutcome,
  type SendRequest,
  type Span,
  type ToolServer,
  type ToolTransport,
  tenantId,
} from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { tracedTransport } from './traced-transport.ts';

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const server: ToolServer = {
  ...{
    tenant: tenantId('acme'),
    id: 'tsv_1',
    name: 'weather',
    createdAt: 0,
    updatedAt: 0,
    baseUrl: 'http://tools:8080',
  },
  ...{ endpointOverride: null, auth: null, forwardUserId: false, trustAnnotations: false, pinnedSha256: null },
  paused: false,
};

async function posted(change: Partial<ToolServer>, traceparent: string | null, outcome: SendOutcome) {
  const requests: SendRequest[] = [];
  const spans: Span[] = [];
  const transport: ToolTransport = {
    post: (request) => {
      requests.push(request);
      return Promise.resolve(outcome);
    },
    get: () => Promise.reject(new Error('not asked')),
    judge: () => Promise.reject(new Error('not asked')),
  };
  const tracer = { isOn: true, isSampled: () => true, record: (span: Span) => void spans.push(span) };
  await tracedTransport(transport, { tracer, wallNow: () => 5, turnMsMax: 1 }).post({
    server: { ...server, ...change },
    url: 'http://tools:8080/call',
    body: '{}',
    headers: { 'idempotency-key': 'call_1', ...(traceparent === null ? {} : { traceparent }) },
    timeoutMs: 1,
    about: { tenant: tenantId('acme'), thread: 'thr_1', toolCallId: 'call_1', attempt: 0, at: 5 },
  });
  return { headers: requests[0]?.headers, span: spans[0] };
}

const ok: SendOutcome = { sent: true, status: 200, retryAfterMs: null };

describe('the trace that a tool server sees', () => {
  it('T1 is that of the attempt', async () => {
    const { headers, span } = await posted({}, parent, ok);
    expect(headers).toEqual({
      'idempotency-key': 'call_1',
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span?.context.spanId}-01`,
    });
    expect(span).toMatchObject({
      ...{ name: 'POST weather', kind: 'client', parentId: 'b7ad6b7169203331', links: [], error: null },
      attributes: {
        'server.address': 'tools',
        'server.port': 8080,
        'dormouse.call': 'call_1',
        'gen_ai.conversation.id': 'thr_1',
      },
    });
  });

  it('T1 is a new one where its registration says so, linked by ours', async () => {
    const { headers, span } = await posted({ propagateTrace: 'fresh' }, parent, ok);
    const [, traceId, spanId] = headers?.['traceparent']?.split('-') ?? [];
    expect(traceId).not.toBe('0af7651916cd43dd8448eb211c80319c');
    expect(span?.links).toMatchObject([{ traceId, spanId }]);
  });

  it('T1 is none where its registration says so; ours has its span all the same', async () => {
    const { headers, span } = await posted({ propagateTrace: 'none' }, parent, ok);
    expect(headers).toEqual({ 'idempotency-key': 'call_1' });
    expect(span?.name).toBe('POST weather');
  });

  it.each([null, 'x', `${parent}\r\nx: y`, '00-00000000000000000000000000000000-b7ad6b7169203331-01'])(
    'T2 passes a request as it is with traceparent %j',
    async (traceparent) => {
      const { headers, span } = await posted({}, traceparent, ok);
      expect(headers?.['traceparent'] ?? null).toBe(traceparent);
      expect(span).toBeUndefined();
    },
  );

  it.each<[SendOutcome, string]>([
    [{ sent: true, status: 503, retryAfterMs: null }, '503'],
    [{ sent: false, reached: false, code: 'ECONNREFUSED', detail: 'words of the system' }, 'ECONNREFUSED'],
  ])('a failed attempt says its code and no words: %j', async (outcome, code) => {
    const { span } = await posted({}, parent, outcome);
    expect(span?.error).toBe(code);
    expect(JSON.stringify(span)).not.toContain('words of the system');
  });
});
