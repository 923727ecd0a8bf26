import { expect, it } from 'vitest';
import { type CompatibleModel, compatibleModel } from './provider-models.ts';

const wanted: CompatibleModel = {
  ...{ name: 'm', baseUrl: 'http://127.0.0.1:1/v1', query: {}, stream: true, streamUsage: true },
  parameters: { temperature: 0 },
};

it('K1 the same is made once', () => {
  expect(compatibleModel(fetch, { ...wanted })).toBe(compatibleModel(fetch, wanted));
});

it.each<[string, Partial<CompatibleModel>]>([
  ['another model', { name: 'n' }],
  ['another address', { baseUrl: 'http://127.0.0.1:2/v1' }],
  ['another query', { query: { version: '2' } }],
  ['no stream', { stream: false }],
  ['no usage in the stream', { streamUsage: false }],
  ['other parameters', { parameters: { temperature: 1 } }],
])('K1 %s is another object', (_, change) => {
  expect(compatibleModel(fetch, { ...wanted, ...change })).not.toBe(compatibleModel(fetch, wanted));
});

it('K1 another way out is another object', () => {
  const other: typeof fetch = (...args) => fetch(...args);
  expect(compatibleModel(other, wanted)).not.toBe(compatibleModel(fetch, wanted));
});

it('K2 of very many only those that were used last are kept', () => {
  const [first, used] = [compatibleModel(fetch, wanted), compatibleModel(fetch, { ...wanted, name: 'used' })];
  for (let nth = 0; nth < 300; nth++) {
    compatibleModel(fetch, { ...wanted, name: `model ${nth}` });
    expect(compatibleModel(fetch, { ...wanted, name: 'used' })).toBe(used);
  }
  expect(compatibleModel(fetch, wanted)).not.toBe(first);
});
