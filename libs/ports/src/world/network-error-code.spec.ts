import { describe, expect, it } from 'vitest';
import { networkErrorCode } from './network-error-code.ts';

const coded = (code: unknown, cause?: unknown): Error => Object.assign(new Error('x', { cause }), { code });

describe('nobody was reached', () => {
  it('is known by its code, below whatever was made of it', () => {
    expect(networkErrorCode(coded('ECONNREFUSED'))).toBe('ECONNREFUSED');
    expect(networkErrorCode(coded(undefined, coded('E', coded('ENOTFOUND'))))).toBe('ENOTFOUND');
  });

  it.each([null, 'ECONNREFUSED', coded('ECONNRESET'), coded(11_000), {}])('is not seen in %s', (error) => {
    expect(networkErrorCode(error)).toBeNull();
  });

  it('is not looked for without end', () => {
    const ring = coded('E');
    ring.cause = ring;
    expect(networkErrorCode(ring)).toBeNull();
  });
});
