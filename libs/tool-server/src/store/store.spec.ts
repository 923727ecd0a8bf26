import { describe, expect, it } from 'vitest';
import { createMemoryStore } from './memory-store.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { temporaryFolder } from '../spec/bench.ts';
import { storeContract } from '../spec/store-contract.ts';

describe('a store in memory', () => {
  storeContract(() => createMemoryStore());
});
describe('a store in a data directory', () => {
  storeContract(async () => openSqliteStore(await temporaryFolder()));
});

it('a store in memory has nothing to copy', () => {
  expect(() => createMemoryStore().copyInto('/nowhere')).toThrow('a tool server without `dataDir` has nothing to copy');
});
