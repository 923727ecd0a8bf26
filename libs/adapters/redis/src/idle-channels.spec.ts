import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleChannels } from './idle-channels.ts';

describe('idle channels', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  const observed = (): { readonly idle: IdleChannels; readonly left: string[] } => {
    const left: string[] = [];
    return { idle: new IdleChannels((channels) => left.push(...channels)), left };
  };

  it('are left when nobody has wanted them for a while, each in its time', () => {
    const { idle, left } = observed();
    idle.unwanted('a');
    vi.advanceTimersByTime(3_000);
    idle.unwanted('b');
    vi.advanceTimersByTime(2_500);
    expect(left).toEqual(['a']);
    vi.advanceTimersByTime(10_000);
    expect(left).toEqual(['a', 'b']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are kept when somebody wants them again', () => {
    const { idle, left } = observed();
    idle.unwanted('a');
    vi.advanceTimersByTime(3_000);
    idle.wanted('a');
    vi.advanceTimersByTime(20_000);
    expect(left).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are bounded: the oldest is left first', () => {
    const { idle, left } = observed();
    for (let nth = 0; nth <= 10_000; nth += 1) idle.unwanted(`c${nth}`);
    expect(left).toEqual(['c0']);
  });
});
