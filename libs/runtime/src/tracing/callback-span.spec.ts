import { tenantId } from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { callbackSpan, isOfCallback } from './callback-span.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };

it('a callback has one span, whoever asks, and no two callbacks have the same', () => {
  const ids = ['r:call_1', 'rs:call_1', 'e:call_1:a', 'e:call_1:b'];
  const spans = ids.map((id) => callbackSpan(key, id));
  expect(callbackSpan({ ...key }, 'r:call_1')).toEqual(spans[0]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(ids.length);
  for (const { traceId, spanId } of spans) expect(`${traceId} ${spanId}`).toMatch(/^[0-9a-f]{32} [0-9a-f]{16}$/);
  expect(callbackSpan({ ...key, tenant: tenantId('other') }, 'r:call_1')).not.toEqual(spans[0]);
});

it('inputs of callbacks are told from all others by their ids', () => {
  const { result, confirmation, callbackRejection, subscriptionEvent, login, userChoice, ...others } = inputIds;
  const ofCallbacks = [
    result('call_1'),
    confirmation('call_1'),
    callbackRejection('call_1', 'hash'),
    subscriptionEvent('call_1', 'evt'),
    login('call_1', 'msg'),
    userChoice('call_1', 'msg'),
  ];
  expect(ofCallbacks.filter((id) => !isOfCallback(id))).toEqual([]);
  const rest = Object.values(others).map((make) => make('one', 'two'));
  expect(rest).toHaveLength(11);
  expect([...rest, 'c:01M8'].filter(isOfCallback)).toEqual([]);
});
