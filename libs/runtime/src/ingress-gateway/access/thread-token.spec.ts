import { createManualClock } from '@dormouse/adapter-memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createThreadTokens } from './thread-token.ts';

const clock = createManualClock();
const tokens = createThreadTokens({ clock, signingKey: new Uint8Array(32).fill(3) });
const token = tokens.issue({ tenant: 'acme', thread: 'thr_1' }, ['read'], 'ann', 60);

describe('thread tokens', () => {
  it('say what was granted', () => {
    expect(tokens.verify(token)).toMatchObject({ tenant: 'acme', thread: 'thr_1', can: ['read'], userId: 'ann' });
  });

  it('are refused when any bit of them is flipped', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.nat(6), (index, bit) => {
        const changed = String.fromCharCode(token.charCodeAt(index) ^ (1 << bit));
        expect(tokens.verify(token.slice(0, index) + changed + token.slice(index + 1))).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it('are refused when cut, longer, or signed by another key', () => {
    const other = createThreadTokens({ clock, signingKey: new Uint8Array(32).fill(4) });
    const forged = other.issue({ tenant: 'acme', thread: 'thr_1' }, ['read'], null, 60);
    for (const wrong of ['', 'dtt_', 'dtt_.', token.slice(0, -1), `${token}A`, `${token}.x`, forged])
      expect(tokens.verify(wrong)).toBeNull();
  });

  it('end', async () => {
    await clock.advance(59_999);
    expect(tokens.verify(token)).not.toBeNull();
    await clock.advance(1);
    expect(tokens.verify(token)).toBeNull();
  });
});
