import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { hashKeyOf } from '../../log/keyed-hash.ts';
import { mintId, momentOf } from './minted-ids.ts';
import { idKey, key } from '../spec/processor-rig.ts';

const now = 1_764_000_000_000;

describe('a minted id', () => {
  it('is a prefix and 26 characters of Crockford base32', () => {
    expect(mintId(idKey, key, 'call', 7, now)).toMatch(/^call_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('is the same for the same log, position and time, so that deciding again changes nothing', () => {
    expect(mintId(idKey, key, 'call', 7, now)).toBe(mintId(idKey, key, 'call', 7, now));
  });

  it('differs by tenant, thread, prefix, position, time and key', () => {
    const others = [
      mintId(idKey, { ...key, tenant: tenantId('b') }, 'call', 7, now),
      mintId(idKey, { ...key, thread: 'thr_2' }, 'call', 7, now),
      mintId(idKey, key, 'tmr', 7, now),
      mintId(idKey, key, 'call', 8, now),
      mintId(idKey, key, 'call', 7, now + 1),
      mintId(hashKeyOf(new Uint8Array([1])), key, 'call', 7, now),
    ];
    expect(new Set([...others, mintId(idKey, key, 'call', 7, now)]).size).toBe(7);
  });

  it('sorts by time as text', () => {
    const ids = [0, 1, 31, 32, 1_023, now, now + 1, 2 ** 48 - 1].map((at) => mintId(idKey, key, 'call', 3, at));
    expect(ids.toSorted()).toEqual(ids);
  });

  it('comes with the hash that the heart uses', () => {
    expect(momentOf(idKey, key, now, null).sha256('')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });
});
