import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificateComplaint } from './verify-certificate.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = { kid: 'k1', x: publicKey.export({ format: 'jwk' }).x ?? '' };

// Members in the order of RFC 8785, by hand.
const text =
  '{"at":"2026-01-01T00:00:00.000Z","families":["thr_1"],"id":"ers_1","kid":"k1","scope":"family","stores":{"backups":"old","sqlite":"done"},"subject":"thr_1"}';
const signature = sign(null, Buffer.from(text), privateKey).toString('base64url');
const { stores, ...rest } = JSON.parse(text);
const certificate = { signature, stores: { sqlite: stores.sqlite, backups: stores.backups }, ...rest };

describe('the certificate of an erasure', () => {
  it('is good in any order of its members', async () => {
    expect(await certificateComplaint(certificate, [{ ...key, kid: 'k0' }, key])).toBeNull();
  });

  it.each([
    ['another subject', { ...certificate, subject: 'thr_2' }, 'was changed'],
    ['another thread', { ...certificate, families: ['thr_1', 'thr_2'] }, 'was changed'],
    ['another store', { ...certificate, stores: { ...certificate.stores, sqlite: 'nothing' } }, 'was changed'],
    ['one member more', { ...certificate, note: 'x' }, 'was changed'],
    ['no base64url', { ...certificate, signature: '%' }, 'was changed'],
    ['a signature that is cut off', { ...certificate, signature: signature.slice(0, 9) }, 'was changed'],
    ['another key', { ...certificate, kid: 'k2' }, 'the key k2, which is not among'],
    ['no signature', rest, 'is no certificate'],
    ['no object', null, 'is no certificate'],
  ])('is refused with %s', async (_, changed, reason) => {
    expect(await certificateComplaint(changed, [key])).toContain(reason);
  });
});
