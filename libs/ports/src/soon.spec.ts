import { describe, expect, it } from 'vitest';
import { soon, whenHere } from './soon.ts';

const failure = new Error('the disk');
const failing = (): never => {
  throw failure;
};

describe('what is here soon', () => {
  it('is what it is, at once or later', async () => {
    expect(soon(() => 1)).toBe(1);
    const later = soon(() => Promise.resolve(2));
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(2);
  });

  it('does not throw: it rejects', async () => {
    const failed = soon(failing);
    expect(failed).toBeInstanceOf(Promise);
    await expect(failed).rejects.toBe(failure);
  });

  it('is gone on with at once when it is here', async () => {
    expect(whenHere(1, (value) => value + 1)).toBe(2);
    expect(await whenHere(Promise.resolve(1), (value) => value + 1)).toBe(2);
    expect(() => whenHere(1, failing)).toThrow(failure);
    await expect(whenHere(Promise.resolve(1), failing)).rejects.toBe(failure);
  });
});
