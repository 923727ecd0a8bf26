import { describe, expect, it } from 'vitest';
import { unreachableCode } from './unreachable.ts';

const coded = (code: unknown, cause?: unknown): Error => Object.assign(new Error('x', { cause }), { code });

describe('nobody was reached', () => {
  it('is known by its code, below whatever was made of it', () => {
    expect(unreachableCode(coded('ECONNREFUSED'))).toBe('ECONNREFUSED');
    expect(unreachableCode(coded(undefined, coded('E', coded('ENOTFOUND'))))).toBe('ENOTFOUND');
  });

  it.each([null, 'ECONNREFUSED', coded('ECONNRESET'), coded(11_000), {}])('is not seen in %s', (error) => {
    expect(unreachableCode(error)).toBeNull();
  });

  it('is not looked for without end', () => {
    const ring = coded('E');
    ring.cause = ring;
    expect(unreachableCode(ring)).toBeNull();
  });
});
