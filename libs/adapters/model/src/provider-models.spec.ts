import { expect, it } from 'vitest';
import { type ProviderModel, providerModel } from './provider-models.ts';

const wanted: ProviderModel = {
  ...{ name: 'm', baseUrl: 'http://127.0.0.1:1/v1', query: {}, stream: true, streamUsage: true },
  parameters: { temperature: 0 },
};

it('K1 the same is made once', () => {
  expect(providerModel(fetch, { ...wanted })).toBe(providerModel(fetch, wanted));
});

it.each<[string, Partial<ProviderModel>]>([
  ['another model', { name: 'n' }],
  ['another address', { baseUrl: 'http://127.0.0.1:2/v1' }],
  ['another query', { query: { version: '2' } }],
  ['no stream', { stream: false }],
  ['no usage in the stream', { streamUsage: false }],
  ['other parameters', { parameters: { temperature: 1 } }],
])('K1 %s is another object', (_, change) => {
  expect(providerModel(fetch, { ...wanted, ...change })).not.toBe(providerModel(fetch, wanted));
});

it('K1 another way out is another object', () => {
  const other: typeof fetch = (...args) => fetch(...args);
  expect(providerModel(other, wanted)).not.toBe(providerModel(fetch, wanted));
});

it('K2 of very many only those that were used last are kept', () => {
  const [first, used] = [providerModel(fetch, wanted), providerModel(fetch, { ...wanted, name: 'used' })];
  for (let nth = 0; nth < 300; nth++) {
    providerModel(fetch, { ...wanted, name: `model ${nth}` });
    expect(providerModel(fetch, { ...wanted, name: 'used' })).toBe(used);
  }
  expect(providerModel(fetch, wanted)).not.toBe(first);
});
