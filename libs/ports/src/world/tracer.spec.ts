import { expect, it } from 'vitest';
import { parseTraceparent, traceparentOf } from './tracer.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const text = `00-${traceId}-${spanId}-01`;

it('a context is the same after its text', () => {
  for (const sampled of [true, false]) {
    const context = { traceId, spanId, sampled };
    expect(parseTraceparent(traceparentOf(context))).toEqual(context);
  }
});

it('of the flags one is known', () => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-ff`)?.sampled).toBe(true);
  expect(parseTraceparent(`00-${traceId}-${spanId}-fe`)?.sampled).toBe(false);
});

it.each([
  null,
  undefined,
  '',
  ' ',
  `${text} `,
  `${text}\n`,
  `${text}-00`,
  text.slice(1),
  text.toUpperCase(),
  `ff${text.slice(2)}`,
  `01${text.slice(2)}`,
  text.replace(traceId, '0'.repeat(32)),
  text.replace(spanId, '0'.repeat(16)),
  text.replace('0a', '0g'),
  text.replace(/01$/, 'zz'),
  text.repeat(100),
])('%j names no span', (given) => {
  expect(parseTraceparent(given)).toBeNull();
});
