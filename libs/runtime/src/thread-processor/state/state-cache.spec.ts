import { tenantId } from '@dormouse/ports';
import { emptyTail, text, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { StateCache } from './state-cache.ts';
import type { ThreadState } from './thread-state.ts';
import { noTraceState } from '../../tracing/trace-state.ts';
import { TranscriptWindow } from './transcript-window.ts';

const toolsets = unopenedThread(tenantId('acme'), 'a').toolsets;

/** A thread that weighs a little more than `characters`. */
function state(name: string, characters: number): ThreadState {
  const messages = new TranscriptWindow(0, 10_000_000);
  messages.append([{ role: 'user', content: [text('x'.repeat(characters))] }]);
  return {
    thread: unopenedThread(tenantId('acme'), name),
    tail: emptyTail,
    lastHash: '',
    trace: noTraceState,
    messages,
    snapshot: { version: 0, bytesSince: 0 },
  };
}

describe('the state cache', () => {
  it('I-25 stays within its budget: what was used stays longest', () => {
    const cache = new StateCache(400_000);
    for (const name of ['a', 'b', 'c']) cache.put(name, state(name, 100_000));
    cache.get('a');
    cache.put('d', state('d', 100_000));
    expect(['a', 'b', 'c', 'd'].map((name) => cache.get(name)?.thread.id ?? null)).toEqual(['a', null, 'c', 'd']);
    expect(cache.bytes).toBeLessThanOrEqual(400_000);
    expect(cache.bytes).toBeGreaterThan(300_000);
  });

  it('counts an entry that is put again once', () => {
    const cache = new StateCache(1_000_000);
    for (let round = 0; round < 50; round++) cache.put('a', state('a', 100_000));
    expect(cache.size).toBe(1);
    expect(cache.bytes).toBeLessThan(110_000);
    cache.drop('a');
    expect(cache.bytes).toBe(0);
  });

  it('does not keep what is larger than the budget, and what was kept before under that name is gone', () => {
    const cache = new StateCache(50_000);
    cache.put('a', state('a', 100));
    cache.put('a', state('a', 100_000));
    expect(cache.get('a')).toBeNull();
    expect(cache.bytes).toBe(0);
  });

  it('weighs what a thread carries: calls, queue, tools and the round that is not over', () => {
    const weigh = (change: Partial<ThreadState['thread']>): number => {
      const cache = new StateCache(10_000_000);
      const plain = state('a', 0);
      cache.put('a', { ...plain, thread: { ...plain.thread, ...change } });
      return cache.bytes;
    };
    const queued = { messageId: 'm', content: [text('x'.repeat(50_000))] };
    expect(weigh({ queue: [queued] }) - weigh({})).toBeGreaterThan(50_000);
  });

  it('weighs a state again once much was committed, and counts what was committed until then', () => {
    const cache = new StateCache(10_000_000);
    const putAfter = (bytesSince: number, queued: number, version = 0): number => {
      const plain = state('a', 0);
      const queue = [{ messageId: 'm', content: [text('x'.repeat(queued))] }];
      cache.put('a', { ...plain, thread: { ...plain.thread, toolsets, queue }, snapshot: { version, bytesSince } });
      return cache.bytes;
    };
    const light = putAfter(100, 0);
    expect(putAfter(1_100, 50_000) - light).toBe(4_000); // not weighed: four times what was committed
    expect(putAfter(4_300, 50_000) - light).toBe(50_000);
    expect(putAfter(4_400, 0) - light).toBe(50_400);
    expect(putAfter(0, 0, 1)).toBe(light); // a snapshot was taken
    expect(putAfter(0, 1_000_000, 2) - light).toBe(1_000_000); // and another, by a large commit
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
