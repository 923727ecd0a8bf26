import { tenantId } from '@dormouse/ports';
import { createCallbackTokens } from '@dormouse/runtime';
import { describe, expect, it } from 'vitest';
import { callbackKeysOf } from './callback-keys.ts';
import { type KeyRing, keyRingOf, readMasterKeys } from './key-ring.ts';

const [one, two] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];
const time = '2026-03-01T00:00:00Z';
const scope = { tenant: tenantId('acme'), thread: 'thr_1', toolCallId: 'call_1', toolServer: 'tools', expiresAt: null };
const [before, after] = [Date.parse(time) - 1, Date.parse(time)];

function ringOf(text: string): KeyRing {
  const written = readMasterKeys(text);
  const ring =
    typeof written === 'string'
      ? written
      : keyRingOf(written.map((each) => ({ ...each, key: Buffer.from(each.text, 'hex') })));
  if (typeof ring === 'string') throw new Error(ring);
  return ring;
}

const tokensOf = (keys: string) =>
  createCallbackTokens({ keys: callbackKeysOf(ringOf(keys)), publicBase: 'https://a.example' });
const tokenAt = (keys: string, at: number): string =>
  tokensOf(keys).url(scope, at).slice('https://a.example/callback/'.length);
const isTaken = (keys: string, token: string): boolean => tokensOf(keys).verify(token, after).ok;

describe('callback URLs over a rotation of the master key', () => {
  const both = `${two}@${time},${one}`;

  it('C1 are the same for a call of before, whatever keys there are by now', () => {
    const token = tokenAt(one, before);
    expect(tokenAt(both, before)).toBe(token);
    expect(isTaken(both, token)).toBe(true);
    expect(isTaken(`${two}@${time}`, token)).toBe(false);
  });

  it('C1 are of the new key from its time on, and of no other', () => {
    const token = tokenAt(both, after);
    expect(token).not.toBe(tokenAt(one, after));
    expect(tokenAt(`${two}@${time}`, after)).toBe(token);
    expect([both, `${two}@${time}`, one].map((keys) => isTaken(keys, token))).toEqual([true, true, false]);
  });

  it('C2 stay good when the time of the last key is removed', () => {
    expect(isTaken(two, tokenAt(both, after))).toBe(true);
    expect(isTaken(two, tokenAt(two, after))).toBe(true);
  });
});
