import { tenantId, storedTenantId } from '@dormouse/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCallbackTokens, type CallbackKey, type CallbackScope, type CallbackTokens } from './callback-token.ts';

const keyOf = (id: string, since = 0, revoked = false): CallbackKey => ({
  id,
  secret: Buffer.alloc(32, id),
  since,
  revoked,
});
const tokensOf = (...keys: readonly CallbackKey[]): CallbackTokens =>
  createCallbackTokens({ keys, publicBase: 'https://agents.example' });
const tokenOf = (tokens: CallbackTokens, scope: CallbackScope, at = 5): string =>
  tokens.url(scope, at).split('/').at(-1) ?? '';
const scope: CallbackScope = {
  tenant: tenantId('acme'),
  thread: 'thr_1',
  toolCallId: 'call_1',
  toolServer: 'weather',
  expiresAt: null,
};
const tokens = tokensOf(keyOf('k1'));

const field = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
const scopes: fc.Arbitrary<CallbackScope> = fc.record({
  tenant: field.map(storedTenantId),
  thread: field,
  toolCallId: field,
  toolServer: field,
  expiresAt: fc.option(fc.integer({ min: 0, max: 2 ** 47 })),
});

describe('a callback token', () => {
  it('R38 gives back exactly what was signed, and is the same every time', () => {
    fc.assert(
      fc.property(scopes, (any) => {
        const token = tokenOf(tokens, any);
        expect(tokenOf(tokensOf(keyOf('k1')), any)).toBe(token);
        expect(token).toMatch(/^[\w-]+$/);
        const verdict = { ok: true, keyId: 'k1', scope: any };
        expect(tokens.verify(token, -1)).toEqual(verdict);
        expect(tokensOf(keyOf('k1')).verify(token, -1)).toEqual(verdict);
      }),
    );
  });

  it('R38 is refused when any single bit of it is flipped', () => {
    const token = tokenOf(tokens, { ...scope, expiresAt: 1_800_000_000_000 });
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.verify(altered.toString('base64url'), 0)).toMatchObject({ ok: false, status: 401 });
    }
  });

  it('R38 is refused when any character of it is replaced, added or taken away', () => {
    const token = tokenOf(tokens, scope);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. %\u0000é';
    fc.assert(
      fc.property(
        fc.nat(token.length),
        fc.constantFrom(...letters.split('')),
        fc.constantFrom('replace', 'insert', 'remove'),
        (index, letter, how) => {
          const skipped = how === 'insert' ? 0 : 1;
          const altered = token.slice(0, index) + (how === 'remove' ? '' : letter) + token.slice(index + skipped);
          if (altered !== token) expect(tokens.verify(altered, 0).ok).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('R38 of one call is never one of another: two scopes, two tokens', () => {
    fc.assert(
      fc.property(scopes, scopes, (one, other) => {
        if (JSON.stringify(one) !== JSON.stringify(other))
          expect(tokenOf(tokens, one)).not.toBe(tokenOf(tokens, other));
      }),
    );
  });

  it('R38 does not let text move from one field into the next', () => {
    const moved = { ...scope, tenant: tenantId(`${scope.tenant}t`), thread: scope.thread.slice(1) };
    const [one, other] = [tokenOf(tokens, scope), tokenOf(tokens, moved)].map((token) =>
      Buffer.from(token, 'base64url'),
    );
    if (one === undefined || other === undefined) throw new Error('no tokens');
    const spliced = Buffer.concat([other.subarray(0, -32), one.subarray(-32)]).toString('base64url');
    expect(tokens.verify(spliced, 0).ok).toBe(false);
  });

  it('R38 is refused whatever else is sent', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        expect(tokens.verify(text, 0)).toMatchObject({ ok: false, status: 401 });
      }),
    );
    expect(tokens.verify('A'.repeat(1_000_000), 0).ok).toBe(false);
  });

  it('R38 of another installation is refused', () => {
    expect(
      tokens.verify(tokenOf(tokensOf({ ...keyOf('k1'), secret: Buffer.alloc(32, 'other') }), scope), 0),
    ).toMatchObject({ status: 401 });
    expect(tokens.verify(tokenOf(tokensOf(keyOf('k9')), scope), 0)).toMatchObject({ status: 401 });
  });

  it('R39 R40 is gone from the moment it expires', () => {
    const token = tokenOf(tokens, { ...scope, expiresAt: 1_000 });
    expect(tokens.verify(token, 999).ok).toBe(true);
    expect(tokens.verify(token, 1_000)).toMatchObject({ ok: false, status: 410, code: 'CALLBACK_EXPIRED' });
  });
});

describe('the key ring', () => {
  it('signs with the newest key of the time of the commit, and older ones verify', () => {
    const ring = tokensOf(keyOf('old', 0), keyOf('new', 1_000));
    const [before, after] = [tokenOf(ring, scope, 999), tokenOf(ring, scope, 1_000)];
    expect(ring.verify(before, 0)).toMatchObject({ ok: true, keyId: 'old' });
    expect(ring.verify(after, 0)).toMatchObject({ ok: true, keyId: 'new' });
  });

  it('repeats a POST byte by byte after a rotation', () => {
    expect(tokenOf(tokensOf(keyOf('old', 0), keyOf('new', 1_000)), scope, 500)).toBe(
      tokenOf(tokensOf(keyOf('old', 0)), scope, 500),
    );
  });

  it('answers "gone" for a revoked key, and only to its own tokens', () => {
    const ring = tokensOf(keyOf('old', 0, true), keyOf('new', 1_000));
    const token = tokenOf(tokensOf(keyOf('old', 0)), scope);
    expect(ring.verify(token, 0)).toMatchObject({ ok: false, status: 410 });
    expect(ring.verify(`${token.slice(0, -4)}AAAA`, 0)).toMatchObject({ ok: false, status: 401 });
    expect(ring.verify(tokenOf(ring, scope, 5), 0)).toMatchObject({ ok: true, keyId: 'new' });
  });

  it('counts for however many calls are waited for', () => {
    const many = tokensOf(keyOf('k1'));
    const all = Array.from({ length: 3_000 }, (_, index) => ({ ...scope, toolCallId: `call_${index}` }));
    const made = all.map((each) => tokenOf(many, each));
    expect(made.map((token) => many.verify(token, 0))).toEqual(
      all.map((each) => ({ ok: true, keyId: 'k1', scope: each })),
    );
  });

  it('R39 R40 is gone when it has expired before it comes back, however well it is known', () => {
    const fresh = tokensOf(keyOf('k1'));
    const token = tokenOf(fresh, { ...scope, expiresAt: 10 });
    expect(fresh.verify(token, 10)).toMatchObject({ ok: false, status: 410 });
    expect(fresh.verify(token, 10)).toMatchObject({ ok: false, status: 410 });
  });

  it('must be usable', () => {
    expect(() => tokensOf()).toThrow(RangeError);
    expect(() => tokensOf(keyOf('k1', 0, true))).toThrow(RangeError);
    expect(() => tokensOf(keyOf('k1'), keyOf('k1', 9))).toThrow(RangeError);
    expect(() => tokensOf({ ...keyOf('k1'), secret: Buffer.alloc(31) })).toThrow(RangeError);
  });
});

describe('the callback URL', () => {
  it.each(['https://a.example', 'https://a.example/', 'https://a.example/hooks//'])(
    'has the public base %s once',
    (publicBase) => {
      const url = createCallbackTokens({ keys: [keyOf('k1')], publicBase }).url(scope, 0);
      expect(url).toMatch(/^https:\/\/a\.example(\/hooks)?\/callback\/[\w-]+$/);
      expect(url.length).toBeLessThan(300);
    },
  );
});
