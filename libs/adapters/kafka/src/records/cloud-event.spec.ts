import { tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { headersOf } from './cloud-event.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1/ä b' };

it('C1 has the attributes of CloudEvents under the names of the Kafka binding', () => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(headersOf({ topic: 'inputs', key, id: 'r:call_1', name: 'ToolResult', trace })).toEqual({
    ce_specversion: '1.0',
    ce_id: 'r:call_1',
    ce_source: '/tenants/acme/threads/thr_1%2F%C3%A4%20b',
    ce_type: 'dormouse.inputs.ToolResult',
    'content-type': 'application/json',
    traceparent: trace,
  });
  expect(headersOf({ topic: 'notices', key, id: 'n', name: 'AnswerChoice', trace: null })).not.toHaveProperty(
    'traceparent',
  );
});
