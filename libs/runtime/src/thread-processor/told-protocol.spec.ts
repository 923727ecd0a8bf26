import type { Commit } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { soundProtocol } from './protocol.ts';
import type { InputItem } from './slice/slice-item.ts';
import type { Debt } from './thread-state.ts';
import { tellRarePaths } from './told-protocol.ts';

const commit = { tenant: 'acme', thread: 'thr_1', version: 3, nonce: 'ours' } as Commit;
const item = { input: { id: 'c:hi' } } as InputItem;
const debt = { version: 3 } as Debt;

it('tells each rare path once it is taken, and decides nothing itself', () => {
  const told: string[] = [];
  const tell = (event: string, fields?: object): void => void told.push(`${event} ${JSON.stringify(fields)}`);
  const protocol = tellRarePaths(soundProtocol, { info: tell, warn: tell, error: tell });
  expect(protocol.wasAppended(commit, { ...commit, nonce: 'foreign' })).toBe(false);
  expect(protocol.finishedByConflict([item])).toEqual([]);
  expect(protocol.finishedByDuplicate([item], [item])).toEqual([item]);
  expect(protocol.learnedDebts([debt])).toEqual([debt]);
  expect(protocol.repaidDebts([debt], { from: 3, stretch: null })).toEqual([debt]);
  expect(protocol.learnedDebts([])).toEqual([]);
  expect(told).toEqual([
    'commit_read_back {"tenant":"acme","thread":"thr_1","version":3,"stands":false}',
    'commit_conflict {"inputs":"c:hi"}',
    'commit_duplicate {"inputs":"c:hi"}',
    'foreign_commits_paid {"versions":"3"}',
    'redelivery_repaid {"versions":"3"}',
  ]);
});
