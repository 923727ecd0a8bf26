import { describe, expect, it } from 'vitest';
import { createWriterSignal, signalBytes } from './writer-signal.ts';

describe('the signal of the writer', () => {
  it('N1: what was posted after `seen` is not slept over, nor waited for awake', () => {
    const signal = createWriterSignal(new SharedArrayBuffer(signalBytes));
    const seen = signal.posts();
    signal.post();
    expect(signal.posts()).toBe(seen + 1);
    expect(signal.sleep(seen, undefined)).toBe('not-equal');
    const began = performance.now();
    expect(signal.watch(seen, 10_000)).toBe(true);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('N2: a wake for nothing ends by itself, and one that comes while nobody sleeps is forgotten', () => {
    const signal = createWriterSignal(new SharedArrayBuffer(signalBytes));
    const seen = signal.posts();
    signal.wake();
    expect(signal.sleep(seen, 5)).toBe('timed-out');
    expect(signal.watch(seen, 1)).toBe(false);
    expect(signal.posts()).toBe(seen);
  });
});
