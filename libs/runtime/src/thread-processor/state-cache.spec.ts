import { emptyTail, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { StateCache } from './state-cache.ts';
import type { ThreadState } from './thread-state.ts';
import { TranscriptWindow } from './transcript-window.ts';

function state(name: string, bytes: number): ThreadState {
  return {
    thread: unopenedThread('acme', name),
    tail: emptyTail,
    lastHash: '',
    messages: new TranscriptWindow(0, 1_000),
    bytes,
    snapshot: { version: 0, bytesSince: 0 },
  };
}

describe('the state cache', () => {
  it('I-25 stays within its budget: least recently used goes first', () => {
    const cache = new StateCache(3_000);
    cache.put('a', state('a', 300));
    cache.put('b', state('b', 300));
    cache.put('c', state('c', 300));
    cache.get('a');
    cache.put('d', state('d', 300));
    expect(['a', 'b', 'c', 'd'].map((name) => cache.get(name)?.thread.id ?? null)).toEqual(['a', null, 'c', 'd']);
    expect(cache.bytes).toBeLessThanOrEqual(3_000);
  });

  it('counts an entry that is put again once', () => {
    const cache = new StateCache(10_000);
    for (let round = 0; round < 50; round++) cache.put('a', state('a', 300));
    expect(cache.size).toBe(1);
    expect(cache.bytes).toBe(900);
    cache.drop('a');
    expect(cache.bytes).toBe(0);
  });

  it('does not keep what is larger than the budget, and what was kept before under that name is gone', () => {
    const cache = new StateCache(1_000);
    cache.put('a', state('a', 100));
    cache.put('a', state('a', 5_000));
    expect(cache.get('a')).toBeNull();
    expect(cache.bytes).toBe(0);
  });

  it('V6 forgets everything of one assignment', () => {
    const cache = new StateCache(100_000);
    cache.put('0.1|a', state('a', 100));
    cache.put('0.10|a', state('a', 100));
    cache.dropAll('0.1|');
    expect(cache.get('0.1|a')).toBeNull();
    expect(cache.get('0.10|a')).not.toBeNull();
  });
});
