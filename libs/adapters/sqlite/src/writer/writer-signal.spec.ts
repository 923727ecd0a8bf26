import { describe, expect, it } from 'vitest';
import { createWriterSignal, signalBytes } from './writer-signal.ts';

describe('the signal of the writer', () => {
  it('N1: what was posted after `seen` is not slept over', () => {
    const signal = createWriterSignal(new SharedArrayBuffer(signalBytes));
    const seen = signal.posts();
    signal.post();
    expect(signal.posts()).toBe(seen + 1);
    expect(signal.sleep(seen, undefined)).toBe('not-equal');
  });
});
