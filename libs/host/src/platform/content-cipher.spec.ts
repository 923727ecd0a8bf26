import { describe, expect, it } from 'vitest';
import { contentCipher as cipher } from './content-cipher.ts';

const newKey = () => cipher.withKey(cipher.newKey());
const key = newKey();
const refusal = 'unable to authenticate data';
const flipped = (sealed: Uint8Array, place: number): Uint8Array =>
  Uint8Array.from(sealed, (byte, index) => (index === place ? byte ^ 1 : byte));

describe('the cipher of contents', () => {
  it('opens what it has sealed, whatever characters it has', () => {
    for (const text of ['', 'hello', 'żółw 🐢 \u0000 "', 'x'.repeat(100_000)])
      expect(key.openText('here', key.sealText('here', text))).toBe(text);
    const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256);
    expect([...key.openBytes('here', key.sealBytes('here', bytes))]).toEqual([...bytes]);
  });

  it('C1 seals the same text differently every time', () => {
    const sealed = Array.from({ length: 2_000 }, () => key.sealText('here', 'the same'));
    expect(new Set(sealed.map((each) => each.slice(0, 16))).size).toBe(sealed.length);
  });

  it('C2 opens nothing with another key, for another place, or altered in any byte', () => {
    const sealed = key.sealBytes('here', Buffer.from('secret'));
    expect(() => newKey().openBytes('here', sealed)).toThrow(refusal);
    expect(() => key.openBytes('there', sealed)).toThrow(refusal);
    for (const place of sealed.keys()) expect(() => key.openBytes('here', flipped(sealed, place))).toThrow(refusal);
    expect(() => key.openBytes('here', sealed.subarray(0, 20))).toThrow('Invalid authentication tag');
  });

  it('leaves no part of a text in what it has sealed', () => {
    const sealed = key.sealText('here', 'canary canary canary');
    expect(sealed).not.toContain('canary');
    expect(Buffer.from(sealed, 'base64').includes('canary')).toBe(false);
  });
});
