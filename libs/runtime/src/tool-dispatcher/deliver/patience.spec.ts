import { describe, expect, it } from 'vitest';
import { EndablePatience } from './patience.ts';

describe('patience', () => {
  it('ends for whoever waits already', () => {
    const patience = new EndablePatience();
    const { signal } = patience;
    expect([patience.isOver, signal.aborted]).toEqual([false, false]);
    patience.end();
    expect([patience.isOver, signal.aborted]).toEqual([true, true]);
  });

  it('is over for whoever begins to wait afterwards', () => {
    const patience = new EndablePatience();
    patience.end();
    expect(patience.signal.aborted).toBe(true);
    expect(patience.signal).toBe(patience.signal);
  });
});
