import { describe, expect, it } from 'vitest';
import { CancelTokenSource } from './cancel-token.ts';

describe('a cancellation token', () => {
  it('is cancelled for waits that have begun', () => {
    const cancelToken = new CancelTokenSource();
    const { signal } = cancelToken;
    expect([cancelToken.isCancelled, signal.aborted]).toEqual([false, false]);
    cancelToken.cancel();
    expect([cancelToken.isCancelled, signal.aborted]).toEqual([true, true]);
  });

  it('is cancelled for waits that begin afterwards', () => {
    const cancelToken = new CancelTokenSource();
    cancelToken.cancel();
    expect(cancelToken.signal.aborted).toBe(true);
    expect(cancelToken.signal).toBe(cancelToken.signal);
  });
});
